/**
 * The keys of agent.toml that a command may change while the agent runs: prompt, model and limits. The model's address and key
 * cannot be changed, and no limit can be raised above agent.toml's.
 */

import { type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Tunable } from "../calls/profile-in-force.ts";

/** Most characters of the prompt, which is part of every request. */
const PROMPT_CHARS = 8_000;

/** An absent key has agent.toml's value. */
export const Tuning = z.object({
  system_prompt: z.optional(z.string()),
  model: z.optional(z.string()),
  temperature: z.optional(z.number()),
  max_tokens: z.optional(z.int()),
  max_tool_iterations: z.optional(z.int()),
  tool_error_limit: z.optional(z.int()),
  max_parallel_tools: z.optional(z.int()),
});
export type Tuning = z.infer<typeof Tuning>;

type Bounds = Pick<Tunable, "llm" | "limits">;
type Key = keyof Tuning;
type Rule = { fits(value: unknown): boolean; right: string };

/**
 * Checks changes and merges them into the present keys. `null` resets a key to agent.toml's value.
 * @returns the new keys, or an error that names each wrong key and its valid values
 */
export function changeTuning(now: Tuning, changes: unknown, bounds: Bounds): Parsed<Tuning> {
  if (typeof changes !== "object" || changes === null || Array.isArray(changes)) {
    return { ok: false, error: `right would be an object of: ${KEYS.join(", ")}` };
  }
  const rules = rulesOf(bounds);
  const next: Record<string, unknown> = { ...now };
  const problems: string[] = [];
  for (const [name, value] of Object.entries(changes)) {
    const key = KEYS.find((known) => known === name);
    if (!key) problems.push(`${cutText(name, 100)}: unknown; known: ${KEYS.join(", ")}`);
    else if (value === null) delete next[key];
    else if (rules[key].fits(value)) next[key] = value;
    else problems.push(`${key}: wrong; right would be: ${rules[key].right}`);
  }
  // SAFETY: each key was checked now or when it was set.
  return problems.length > 0
    ? { ok: false, error: problems.join("; ") }
    : { ok: true, value: next as Tuning };
}

/** Returns the values in force. It applies agent.toml's limits again, since they may be lower than when a key was set. */
export function tuned({ llm, limits, systemPrompt }: Tunable, tuning: Tuning): Tunable {
  const atMost = (own: number, wanted: number | undefined) => Math.min(own, wanted ?? own);
  const temperature = tuning.temperature ?? llm?.temperature;
  return {
    llm: llm && {
      ...llm,
      model: tuning.model ?? llm.model,
      ...(temperature !== undefined && { temperature }),
      maxTokens: atMost(llm.maxTokens, tuning.max_tokens),
    },
    limits: {
      ...limits,
      maxModelCalls: atMost(limits.maxModelCalls, tuning.max_tool_iterations),
      maxFailedBatches: atMost(limits.maxFailedBatches, tuning.tool_error_limit),
      maxParallel: atMost(limits.maxParallel, tuning.max_parallel_tools),
    },
    systemPrompt: [systemPrompt, tuning.system_prompt ?? ""]
      .filter((part) => part.trim() !== "")
      .join("\n\n"),
  };
}

/** Converts the values in force to the keys of agent.toml, for replies. */
export function tuningInForce({ llm, limits, systemPrompt }: Tunable): Tuning {
  return {
    system_prompt: systemPrompt,
    ...(llm && { model: llm.model, temperature: llm.temperature, max_tokens: llm.maxTokens }),
    max_tool_iterations: limits.maxModelCalls,
    tool_error_limit: limits.maxFailedBatches,
    max_parallel_tools: limits.maxParallel,
  };
}

const KEYS = Object.keys(Tuning.shape) as Key[];

function rulesOf({ llm, limits }: Bounds): Record<Key, Rule> {
  const withModel = (rule: Rule): Rule =>
    llm
      ? rule
      : {
          fits: () => false,
          right: "nothing: this agent has no model; [llm] in its agent.toml gives it one",
        };
  return {
    system_prompt: text(0, PROMPT_CHARS),
    model: withModel(text(1, 200)),
    temperature: withModel({
      fits: (value) => typeof value === "number" && value >= 0 && value <= 2,
      right: "a number from 0 to 2",
    }),
    max_tokens: withModel(whole(llm?.maxTokens ?? 1, "[llm] max_tokens")),
    max_tool_iterations: whole(limits.maxModelCalls, "[agent] max_tool_iterations"),
    tool_error_limit: whole(limits.maxFailedBatches, "[agent] tool_error_limit"),
    max_parallel_tools: whole(limits.maxParallel, "[agent] max_parallel_tools"),
  };
}

function text(min: number, max: number): Rule {
  return {
    fits: (value) => typeof value === "string" && value.trim().length >= min && value.length <= max,
    right: `text of ${min === 0 ? "at most" : `${min} to`} ${max} characters`,
  };
}

function whole(max: number, key: string): Rule {
  return {
    fits: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max,
    right: `a whole number from 1 to ${max}, this agent's own ${key}`,
  };
}
