/** What a rule that acts would have done in the last week, and which rules it would act on: for its card, before it is allowed. */
import type { CardDryRun, CardFacts } from "@edgecall/core/automations/card.ts";
import type { RuleDevice } from "@edgecall/core/automations/device.ts";
import { dryRun } from "@edgecall/core/automations/dry-run.ts";
import { type ChangedReading, loopsOf, type RuleNode } from "@edgecall/core/automations/loops.ts";
import type { Gap, Sample } from "@edgecall/core/history/sample.ts";
import type { Automation, AutomationStep } from "@edgecall/core/protocol/automation.ts";
import { DAY_MS } from "@edgecall/core/time/zone.ts";

/** What was kept of a reading. `since`: when anything was kept first, epoch ms. */
type KeptReading = { samples: readonly Sample[]; gaps: readonly Gap[]; since: number };

/** @param key the device's @returns undefined: nothing is kept of it */
export type ReadKept = (key: string, reading: string, from: number) => Promise<KeptReading | undefined>;

const DAYS = 7;
const TIMES_SHOWN = 5;
/** Less than this of a history says nothing. */
const KNOWN_MIN_MS = DAY_MS;

/** @returns undefined: too little is kept of what the rule looks at */
export async function dryRunOf(
  rule: Automation,
  read: ReadKept,
  now: number,
): Promise<CardDryRun | undefined> {
  const week = now - DAYS * DAY_MS;
  const kept: KeptReading[] = [];
  for (const { key, condition } of rule.when) {
    const one = await read(key, condition.reading, week);
    if (!one) return undefined;
    kept.push(one);
  }
  const since = Math.max(week, ...kept.map((one) => one.since));
  if (now - since < KNOWN_MIN_MS) return undefined;
  const gaps = kept[0]?.gaps ?? [];
  const { times } = dryRun(rule, { from: since, to: now, samples: kept.map(({ samples }) => samples), gaps });
  return {
    count: times.length,
    times: times.slice(-TIMES_SHOWN),
    days: (now - since) / DAY_MS,
    ...(since > week && { since }),
    ...(rule.only_if?.presence !== undefined && { leftOut: "presence" }),
  };
}

export type Conflicts = Pick<CardFacts, "circles" | "against"> & { own?: { key: string; reading: string } };

/** @param others rules of the home that act, without this one */
export function conflictsOf(
  rule: Automation,
  others: readonly Automation[],
  devices: readonly RuleDevice[],
): Conflicts {
  const byKey = new Map(devices.map((device) => [device.key, device]));
  const { own, circles, against } = loopsOf(
    nodeOf(rule, byKey),
    others.map((other) => nodeOf(other, byKey)),
  );
  const nameOf = (id: string | undefined) => others.find((other) => other.id === id)?.name ?? "";
  return {
    ...(own && { own }),
    circles: circles.map(([, next]) => nameOf(next)),
    against: against.map(({ id }) => nameOf(id)),
  };
}

function nodeOf(
  { id, when, do: steps, end }: Automation,
  devices: ReadonlyMap<string, RuleDevice>,
): RuleNode {
  return {
    id,
    reads: when.map(({ key, condition }) => ({ key, condition })),
    changes: [...steps, ...end].flatMap((step) => changedBy(step, devices.get(step.key))),
  };
}

/** The value that a reading gets is known where a parameter has its name, or where what it is about is on or off. */
function changedBy(
  { key, action, parameters }: AutomationStep,
  device: RuleDevice | undefined,
): ChangedReading[] {
  const foreseen = device?.foresee(action, parameters);
  if (!device || !foreseen || "error" in foreseen) return [];
  return foreseen.readings.map((reading): ChangedReading => {
    const given = parameters[reading];
    const isValue = ["string", "number", "boolean"].includes(typeof given);
    if (isValue) return { key, reading, to: given as string | number | boolean };
    const isBoolean = device.readings.find(({ name }) => name === reading)?.type === "boolean";
    const to = !isBoolean ? undefined : foreseen.isEnd ? false : foreseen.end ? true : undefined;
    return { key, reading, to };
  });
}
