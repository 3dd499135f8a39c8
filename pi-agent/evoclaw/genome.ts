/** EvoClaw's genome: this agent's identity, behaviour and blocked actions. It is checked as a whole. Pure. */
import { check, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { DEFAULT_STYLE } from "../calls/profile-in-force.ts";

const share = z.number().check(z.minimum(0), z.maximum(1));
const words = (max: number) => z.string().check(z.maxLength(max));

/** Unknown fields are kept, since they come from a newer peer. Texts are limited, because each prompt includes them. */
export const Genome = z.looseObject({
  identity: z.looseObject({
    name: z.string().check(z.minLength(1), z.maxLength(200)),
    persona: words(2_000),
    voice: words(500),
  }),
  skills: z.record(
    z.string().check(z.minLength(1), z.maxLength(64)),
    z.looseObject({
      enabled: z.boolean(),
      weight: z.optional(share),
      strategies: z.optional(z.array(words(64))),
      params: z.optional(z.record(z.string(), z.unknown())),
    }),
  ),
  behavior: z.looseObject({
    risk_tolerance: share,
    verbosity: share,
    autonomy: share,
    prompt_style: z.optional(words(500)),
  }),
  constraints: z.looseObject({
    max_loss_usd: z.optional(z.number().check(z.minimum(0))),
    blocked_actions: z.optional(z.array(z.string().check(z.minLength(1), z.maxLength(128)))),
  }),
});
export type Genome = z.infer<typeof Genome>;

/** The valid values of a field, where the schema's own error does not name them. */
const RIGHT: Record<string, string> = {
  identity: "{name, persona, voice}, all text",
  skills: '{NAME: {enabled: true or false}}, e.g. {"weather": {"enabled": false}}; {} for all as they are',
  behavior: "{risk_tolerance, verbosity, autonomy}, each a number from 0 to 1",
  constraints: '{blocked_actions: [names of tools or permissions]}; {} for none, e.g. ["bash", "device"]',
};

/** @returns the genome, or an error that names each wrong field and its valid values */
export function readGenome(value: unknown): Parsed<Genome> {
  const read = check(Genome, value);
  if (read.ok) return read;
  const parts = Object.keys(RIGHT).filter((part) =>
    read.error.split("; ").some((problem) => problem.startsWith(part)),
  );
  const right = parts.map((part) => `${part}: ${RIGHT[part]}`).join("; ");
  return { ok: false, error: `${read.error}${right ? `. Right would be: ${right}` : ""}` };
}

/** A skill that the genome does not name stays enabled. */
export function leavesEnabled(genome: Genome | undefined, skill: string): boolean {
  if (!genome || !Object.hasOwn(genome.skills, skill)) return true;
  return genome.skills[skill]?.enabled !== false;
}

/** @param called the name in the call, which for an older version differs from the tool's */
export function blocks(
  genome: Genome | undefined,
  tool: Pick<Tool, "name" | "permission" | "permissions">,
  called: string,
): boolean {
  const blocked = genome?.constraints.blocked_actions ?? [];
  return [tool.name, called, tool.permission, ...(tool.permissions ?? [])].some(
    (name) => name !== undefined && blocked.includes(name),
  );
}

/** The end of the lowest third. Values in the middle third have no effect on the prompt. */
const LOW = 1 / 3;
const HIGH = 2 / 3;

const BEHAVIOR = {
  verbosity: {
    low: "Answer in as few words as do the job.",
    middle: DEFAULT_STYLE,
    high: "Answer in full: the figures and their units, what they mean, and how you found out.",
  },
  risk_tolerance: {
    low: "Take no risks: where something cannot be undone, say what would happen and ask first.",
    middle: "Be careful with whatever cannot be undone.",
    high: "You may try what can go wrong, and say so when it did.",
  },
  autonomy: {
    low: "Do only what you were asked; ask back when anything is unclear.",
    middle: "Ask back only when a choice matters.",
    high: "Decide by yourself what a task needs and carry it to its end without asking back.",
  },
} as const;

/** Returns the genome's part of the system prompt. It does not change what the policy allows. */
export function characterText({ identity, behavior }: Genome): string {
  const own = [
    `Your name is ${identity.name}.`,
    identity.persona.trim() && `Your character: ${identity.persona.trim()}.`,
    identity.voice.trim() && `Your voice: ${identity.voice.trim()}.`,
    behavior.prompt_style?.trim() && `Your style: ${behavior.prompt_style.trim()}.`,
  ];
  const figures = (Object.keys(BEHAVIOR) as Array<keyof typeof BEHAVIOR>).map(
    (name) => `${BEHAVIOR[name][levelOf(behavior[name])]} (${name} ${behavior[name]})`,
  );
  return [...own, ...figures]
    .filter(Boolean)
    .join(" ")
    .replaceAll(/\.{2,}/g, ".");
}

function levelOf(figure: number): "low" | "middle" | "high" {
  if (figure < LOW) return "low";
  return figure > HIGH ? "high" : "middle";
}
