/**
 * Drafts a rule that acts: what a model or a person asked for becomes the rule that an owner may allow, with its card, or all that is wrong
 * with it. Nothing is stored and nothing is sent.
 */
import { createHash } from "node:crypto";
import { cardOf } from "@edgecall/core/automations/card.ts";
import { makeAutomation } from "@edgecall/core/automations/make.ts";
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import type { Automation, AutomationDraft, AutomationDrafted } from "@edgecall/core/protocol/automation.ts";
import { AutomationDrafted as Drafted } from "@edgecall/core/protocol/automation.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { phrasesIn } from "../history/phrases.ts";
import { conflictsOf, dryRunOf, type ReadKept } from "./foresight.ts";
import { RuleDevices, type RuleDevicesParts } from "./rule-devices.ts";

/**
 * @property presence names of what knows who is at home @property place of the home in degrees; undefined: it is not known
 * @property isSo whether the rule's condition is so now @property rules those of the home that act
 * @property kept what was kept of a reading; undefined: nothing is kept here
 */
export type DraftParts = RuleDevicesParts & {
  presence: () => readonly string[];
  place: () => { lat: number; lon: number } | undefined;
  isSo: (rule: Automation) => boolean;
  rules: () => readonly Automation[];
  kept: ReadKept | undefined;
};

export async function draftAutomation(
  { rule, input, zone, language }: AutomationDraft,
  parts: DraftParts,
): Promise<AutomationDrafted> {
  const known = new RuleDevices(parts);
  const { devices } = known;
  const made = makeAutomation(input, rule, {
    devices,
    zone,
    presence: parts.presence(),
    place: parts.place(),
  });
  if (!made.ok) return { error: made.error };
  const { automation, when, steps, ends } = made.value;
  await known.nameVersions(automation);
  const others = parts.rules().filter(({ id }) => id !== automation.id);
  const { own, ...conflicts } = conflictsOf(automation, others, devices);
  if (own)
    return {
      error: `do: it makes its own condition true again (${own.reading}), and would run on and on; give the condition for_minutes`,
    };
  const now = parts.clock.wall();
  const dryRun = parts.kept && (await dryRunOf(automation, parts.kept, now));
  const facts = {
    when: when.map(({ device, words }) => ({ device: known.shown(device), words })),
    steps: steps.map(({ device, foreseen }) => ({
      device: known.shown(device),
      foreseen: foreseenOf(device, foreseen),
    })),
    ends: ends.map(({ device, foreseen }) => ({ device: known.shown(device), foreseen })),
    presence: parts.presence(),
    isSo: parts.isSo(automation),
    isOnBroker: when.some(({ device }) => device.isOnBroker),
    ...conflicts,
    ...(dryRun && { dryRun }),
    seal: sealOf(automation),
    now,
  };
  const card = cardOf(automation, facts, await phrasesIn(language));
  const drafted = check(Drafted, { automation, ...card });
  return drafted.ok
    ? drafted.value
    : { error: `do: the rule is too long for a card; make two of it (${drafted.error})` };
}

function foreseenOf<T>({ of }: { of: "hosted" | "agent" }, foreseen: T): T | undefined {
  return of === "hosted" ? foreseen : undefined;
}

/** As many signs of the hash of all that is signed as a person compares. */
function sealOf(automation: Automation): string {
  const hash = createHash("sha256").update(canonicalJson(automation)).digest("hex");
  return `${hash.slice(0, 4)} ${hash.slice(4, 8)} ${hash.slice(8, 12)}`;
}
