/**
 * Drafts a rule that acts: what a model or a person asked for becomes the rule that an owner may allow, with its card, or all that is wrong
 * with it. Nothing is stored and nothing is sent.
 */
import { createHash } from "node:crypto";
import { cardOf } from "@edgecall/core/automations/card.ts";
import { type Loops, loopsOf } from "@edgecall/core/automations/loops.ts";
import { makeAutomation } from "@edgecall/core/automations/make.ts";
import { ruleNode } from "@edgecall/core/automations/rule-node.ts";
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import type { Automation, AutomationDraft, AutomationDrafted } from "@edgecall/core/protocol/automation.ts";
import { AutomationDrafted as Drafted } from "@edgecall/core/protocol/automation.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { phrasesIn } from "../history/phrases.ts";
import { type PastOf, pastRuns } from "./past-runs.ts";
import { RuleDevices, type RuleDevicesParts } from "./rule-devices.ts";

/**
 * @property presence names of what knows who is at home @property place of the home in degrees; undefined: it is not known
 * @property isSo whether the rule's condition is so now @property rules that the bridge holds @property pastOf what was kept of a reading
 */
export type DraftParts = RuleDevicesParts & {
  presence: () => readonly string[];
  place: () => { lat: number; lon: number } | undefined;
  isSo: (rule: Automation) => boolean;
  rules: () => readonly Automation[];
  pastOf: PastOf;
};

/** Drafts the rule that an input asks for. @returns it with its card, or all that is wrong with the input */
export async function draftAutomation(
  { rule, input, zone, language, ...asked }: AutomationDraft,
  parts: DraftParts,
): Promise<AutomationDrafted> {
  const known = new RuleDevices(parts, asked);
  const { devices } = known;
  const made = makeAutomation(input, rule, {
    ...{ devices, zone, language },
    presence: parts.presence(),
    place: parts.place(),
  });
  if (!made.ok) return { error: made.error };
  const { automation, when, steps, ends } = made.value;
  await known.nameVersions(automation);
  // The version before it ends when it comes.
  const others = parts.rules().filter(({ id }) => id !== automation.id);
  const loops = loopsAmong(automation, others, (step) => known.changesOf(step));
  if (loops.own) {
    const at = automation.when.findIndex(
      ({ key, condition }) => condition.reading === loops.own?.reading && key === loops.own.key,
    );
    return {
      error: `when.${at}.for_minutes: what the rule does makes this so at once, and it would run again and again; give minutes`,
    };
  }
  const nameOf = (id: string) =>
    id === automation.id ? "" : (others.find((one) => one.id === id)?.name ?? id);
  const now = parts.clock.wall();
  const card = cardOf(
    automation,
    {
      when: when.map(({ device, words }) => ({ device: known.shown(device), words })),
      steps: steps.map((one) => known.shownStep(one)),
      ends: ends.map((one) => known.shownStep(one)),
      presence: parts.presence(),
      isSo: parts.isSo(automation),
      isOnBroker: when.some(({ device }) => device.isOnBroker),
      dryRun: await pastRuns(automation, parts.pastOf, now),
      circles: loops.circles.map(([, ...path]) => path.map(nameOf).join(" → ")),
      against: [...new Set(loops.against.map(({ id }) => nameOf(id)))],
      seal: sealOf(automation),
      now,
    },
    await phrasesIn(language),
  );
  const drafted = check(Drafted, { automation, ...card });
  if (drafted.ok) return drafted.value;
  return { error: `do: a card has no room for so much; make two rules of it (${drafted.error})` };
}

type ChangesOf = Parameters<typeof ruleNode>[1];

function loopsAmong(rule: Automation, others: readonly Automation[], changesOf: ChangesOf): Loops {
  const node = (whole: boolean) => (one: Automation) => ruleNode(one, changesOf, whole);
  const { own, circles } = loopsOf(node(true)(rule), others.map(node(true)));
  const { against } = loopsOf(node(false)(rule), others.map(node(false)));
  return { ...(own && { own }), circles, against };
}

/** As many signs of the hash of all that is signed as a person compares. */
function sealOf(automation: Automation): string {
  const hash = createHash("sha256").update(canonicalJson(automation)).digest("hex");
  return `${hash.slice(0, 4)} ${hash.slice(4, 8)} ${hash.slice(8, 12)}`;
}
