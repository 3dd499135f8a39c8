/** The conditions of a rule that acts: each is stepped as a watch is, and then they are combined. */
import type { Automation, AutomationCondition } from "../protocol/automation.ts";
import type { WatchCondition } from "../protocol/rules.ts";
import { phaseOf, type RuleState, type StepInput, step } from "../rules/evaluate.ts";
import { isMomentary } from "../rules/watch-rule.ts";
import type { AutomationInput, AutomationState } from "./state.ts";
import { combined, heldTruth, presentTruth, type Truth } from "./truth.ts";

/** @property pulses the conditions whose moment this is @property led the rules that led to these, of the one with most */
export type Stepped = { state: AutomationState; pulses: ReadonlySet<number>; led: readonly string[] };

/** As it is stepped here: an agent steps its own, and says whether it is so. */
export function steppedHere({ of, condition }: AutomationCondition): WatchCondition {
  if (of === "hosted") return condition;
  const { id, version, reading, repeat, tell_own } = condition;
  const said = { type: "boolean", is: "equal", value: true, hysteresis: 0 } as const;
  return { ...{ id, version, reading, repeat, tell_own }, ...said, hold_ms: 0, clear_hold_ms: 0 };
}

/** Takes the value where there is one, and lets time pass in all others. */
export function stepConditions(
  rule: Automation,
  state: AutomationState,
  input: AutomationInput,
  at: number,
): Stepped {
  const pulses = new Set<number>();
  let led: readonly string[] = [];
  const conditions = rule.when.map((one, index) => {
    const condition = steppedHere(one);
    const before = state.conditions[index];
    if (!before) throw new RangeError(`${rule.id} has no state of condition ${index}`);
    const isGiven = input.of === "value" && input.condition === index;
    const given: StepInput = isGiven ? { ...input.value, at } : { tick: true, at };
    const { state: after, change } = step(condition, before.rule, given);
    const own = isGiven ? [...(input.led ?? [])] : before.led;
    if (isMomentary(condition)) {
      if (change?.state === "firing") {
        pulses.add(index);
        led = longest([led, own]);
      }
      return { rule: after, led: own };
    }
    const isNew = presentTruth(after) === true && presentTruth(before.rule) !== true;
    return { rule: after, led: isNew ? own : before.led };
  });
  return { state: { ...state, at, conditions }, pulses, led };
}

/** The truth of all conditions together. A moment is false but in its moment. */
export function combinedOf(
  rule: Automation,
  state: AutomationState,
  truthOf: (state: RuleState) => Truth,
  pulses: ReadonlySet<number> = new Set(),
): Truth {
  const truths = rule.when.map(({ condition }, index): Truth => {
    const one = state.conditions[index];
    if (isMomentary(condition)) return pulses.has(index);
    return one && truthOf(one.rule);
  });
  return combined(rule.match, truths);
}

/**
 * The time at which a rule that waits is armed, if its values stay false.
 * @returns epoch ms; undefined: a value is so still, or is not known
 */
export function overAt(rule: Automation, { conditions }: AutomationState): number | undefined {
  const times = rule.when.flatMap(({ condition }, index): number[] => {
    const one = conditions[index]?.rule;
    if (!one || isMomentary(condition) || presentTruth(one) === false) return [];
    const { turning } = one;
    return [
      phaseOf(one) === "clearing" && turning !== undefined ? turning + condition.clear_hold_ms : Infinity,
    ];
  });
  const at = rule.match === "any" ? Math.max(...times) : Math.min(...times);
  return Number.isFinite(at) ? at : undefined;
}

/** @returns the rules whose runs led to this truth */
export function ledTo(rule: Automation, state: AutomationState): readonly string[] {
  const all = state.conditions.map((one, index) => {
    const condition = rule.when[index]?.condition;
    return condition && !isMomentary(condition) && heldTruth(one.rule) === true ? one.led : [];
  });
  return longest(all);
}

function longest(all: ReadonlyArray<readonly string[]>): readonly string[] {
  return all.reduce((most, one) => (one.length > most.length ? one : most), []);
}

/**
 * Keeps what tells a step to true that counts: `armed` since it was false, and whether it came about while nothing was known. While the rule
 * runs nothing counts, so a sensor that flaps costs no writes.
 */
export function withTruth(rule: Automation, state: AutomationState): AutomationState {
  const { at, armed, level, gap, missed } = state;
  const present = combinedOf(rule, state, presentTruth);
  if (present === undefined) return { ...state, gap: gap ?? at };
  if (!present)
    return { ...state, armed: armed || !state.run, level: false, gap: undefined, missed: undefined };
  const isAnew =
    gap !== undefined &&
    state.conditions.some((one) => (one.rule.turning ?? Number.NEGATIVE_INFINITY) >= gap);
  const isMissed = armed && gap !== undefined && (level === false || isAnew);
  return { ...state, level: true, gap: undefined, missed: isMissed ? at : missed };
}
