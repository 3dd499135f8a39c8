/** A rule's runs in the past, had it been there: the same machine over kept values. Nothing is carried out. */

import type { Gap, Sample } from "../history/sample.ts";
import type { Automation } from "../protocol/automation.ts";
import type { WatchCondition } from "../protocol/rules.ts";
import { isTrue } from "../rules/evaluate.ts";
import { readValue } from "../rules/value.ts";
import { isMomentary } from "../rules/watch-rule.ts";
import { advance, nextDue } from "./run.ts";
import {
  type AutomationInput,
  type AutomationState,
  initialAutomation,
  type StepEnded,
  type Surroundings,
} from "./state.ts";

/** More than this is said as "more than". */
const TIMES_MAX = 1_000;
/** Steps of a week; a rule that needs more is not looked at further, since a bridge has other work. */
const STEPS_MAX = 50_000;

/**
 * @property samples of each condition's reading, in the order of `when` and of their times, with the one that held at `from`
 * @property gaps of no reading anything is known
 * @property presence who was at home, at epoch ms; absent: `only_if` counts as met
 */
export type Past = {
  from: number;
  to: number;
  samples: readonly (readonly Sample[])[];
  gaps: readonly Gap[];
  presence?: ((at: number) => Surroundings["presence"]) | undefined;
};

/**
 * @property times at which it would have begun to run, oldest first
 * @property cutAt until when it was looked at, epoch ms: there was too much for more; absent: until the end
 */
export type DryRun = { times: number[]; cutAt?: number };

type Given = { at: number; input: AutomationInput };

/** Runs a rule over what was kept of its conditions. @returns when it would have run */
export function dryRun(rule: Automation, past: Past): DryRun {
  const given = inputsOf(rule, past);
  const times: number[] = [];
  const asked = askable(rule, past);
  let state = initialAutomation(asked, past.from);
  let begun = 0;
  let steps = 0;
  const take = (at: number, input: AutomationInput): void => {
    for (const queue: AutomationInput[] = [input]; queue.length > 0; steps += 1) {
      const next = queue.shift();
      if (!next) return;
      const advanced = advance(asked, state, next, around(past, at, begun));
      state = advanced.state;
      for (const effect of advanced.effects) {
        if (effect.of === "do" || effect.of === "undo") queue.push(confirmed(effect));
        if (effect.of !== "begun") continue;
        begun = at;
        times.push(at);
      }
    }
  };
  for (const { at, input } of [...given, { at: past.to, input: { of: "tick" } as const }]) {
    for (let due = dueBefore(asked, state, at); due !== undefined; due = dueBefore(asked, state, at)) {
      if (steps > STEPS_MAX || times.length >= TIMES_MAX) return { times, cutAt: due };
      take(due, { of: "tick" });
    }
    take(at, input);
  }
  return { times };
}

function dueBefore(rule: Automation, state: AutomationState, before: number): number | undefined {
  const due = nextDue(rule, state, { sure: true, begin_from: 0 });
  return due !== undefined && due < before ? due : undefined;
}

function confirmed({ firing, step }: { firing: number; step: number }): StepEnded {
  return { of: "outcome", firing, step, outcome: "confirmed", text: "" };
}

function around({ presence }: Past, at: number, begun: number): Surroundings {
  return {
    ...{ at, sure: true, presence: presence?.(at) ?? "unknown", begin_from: begun },
    because: () => [],
    before: () => ({}),
    is_so: () => false,
    has_way_back: () => false,
    held_until: () => 0,
  };
}

/** Without what the past cannot say: who was at home, and whether a device spoke. Of equal values only one an hour is kept. */
function askable(rule: Automation, { presence: known }: Past): Automation {
  const { presence, ...rest } = rule.only_if ?? {};
  const when = rule.when.map(({ condition: { stale_ms: _, ...condition }, ...place }) => ({
    ...place,
    condition,
  }));
  return { ...rule, when, only_if: known && presence ? { ...rest, presence } : rest };
}

/** All values in the order of their times. In a gap, and after it until the next one, there is none. */
function inputsOf({ when }: Automation, { from, to, samples, gaps }: Past): Given[] {
  const all = samples.flatMap((own, condition) => {
    const rule = when[condition]?.condition;
    const values = turns(
      rule,
      own.filter(({ at }) => !gaps.some((gap) => at >= gap.from && at < gap.to)),
    );
    const isEvent = rule?.is === "happens";
    const held = isEvent ? undefined : values.findLast(({ at }) => at <= from);
    const later = values.filter(({ at }) => at > from && at < to);
    const missing = gaps
      .filter((gap) => gap.to > from && gap.from < to)
      .map((gap) => ({ at: gap.from, value: null }));
    const first =
      held && !missing.some(({ at }) => at > held.at && at <= from) ? [{ ...held, at: from }] : [];
    return [...first, ...missing.filter(({ at }) => at > from), ...later].map(
      ({ at, value }): Given => ({
        at,
        input: { of: "value", condition, value: value === null ? { missing: true } : { value } },
      }),
    );
  });
  return all.toSorted((a, b) => a.at - b.at);
}

/** The values at which a condition may turn: a power that changes each minute is of no matter while it stays below the limit. */
function turns(condition: WatchCondition | undefined, samples: readonly Sample[]): readonly Sample[] {
  if (!condition || isMomentary(condition)) return samples;
  const { is, value: limit, hysteresis, type, unit } = condition;
  const back = is === "above" ? -hysteresis : hysteresis;
  const shifted = typeof limit === "number" ? { ...condition, value: limit + back } : condition;
  let last: string | undefined;
  return samples.filter(({ value: raw }) => {
    const value = raw === null ? undefined : readValue({ value: raw }, type, unit);
    const zone = value === undefined ? "" : `${isTrue(condition, value)} ${isTrue(shifted, value)}`;
    const isOther = zone !== last;
    last = zone;
    return isOther;
  });
}
