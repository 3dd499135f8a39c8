/** A watch with what a test needs of it, and series of values for it. */
import fc from "fast-check";
import type { RuleChange } from "../../protocol/rules.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../time/zone.ts";
import { initialState, nextDue, type RuleState, type StepInput, step } from "../evaluate.ts";
import type { WatchRule } from "../watch-rule.ts";

/** A Sunday at 12:00 in Berlin. */
export const NOON = Date.parse("2026-11-22T11:00Z");

export function watchOf(more: Partial<WatchRule> = {}): WatchRule {
  return {
    id: "w-7f2c",
    version: 1,
    name: "Freezer too warm",
    source: { of: "agent", key: "k" },
    reading: "temperature",
    type: "number",
    is: "above",
    value: -15,
    unit: "°C",
    hysteresis: 0.3,
    hold_ms: 0,
    clear_hold_ms: 0,
    repeat: "each_time",
    tell_own: false,
    severity: "info",
    cooldown_ms: 30 * MINUTE_MS,
    tell_stale: false,
    ...more,
  };
}

export const doorOf = (more: Partial<WatchRule> = {}): WatchRule => {
  const { unit: _, ...rule } = watchOf({
    name: "Gate open",
    reading: "contact",
    type: "boolean",
    is: "equal",
    value: true,
    hysteresis: 0,
    words: { yes: "open", no: "closed" },
    ...more,
  });
  return rule;
};

/** Any event of a button. */
export const bellOf = (more: Partial<WatchRule> = {}): WatchRule => {
  const {
    value: _,
    words: __,
    ...rule
  } = doorOf({ name: "Bell", reading: "button", type: "text", is: "happens" });
  return { ...rule, ...more };
};

/** Takes the steps. @returns the last state, and all changes */
export function run(
  rule: WatchRule,
  inputs: readonly StepInput[],
  from: RuleState = initialState(inputs[0]?.at ?? NOON),
): { state: RuleState; changes: RuleChange[] } {
  let state = from;
  const changes: RuleChange[] = [];
  for (const input of inputs) {
    const next = step(rule, state, input);
    state = next.state;
    if (next.change) changes.push(next.change);
  }
  return { state, changes };
}

/** Far more than a rule of some hours of the day has in a month. */
const TICKS_MAX = 1_000;

/** Takes the steps, and a tick whenever one is due, as each place of evaluation does. */
export function runWithTicks(
  rule: WatchRule,
  inputs: readonly StepInput[],
  until: number,
): { state: RuleState; changes: RuleChange[] } {
  let state = initialState(inputs[0]?.at ?? NOON);
  const changes: RuleChange[] = [];
  const take = (input: StepInput) => {
    const next = step(rule, state, input);
    state = next.state;
    if (next.change) changes.push(next.change);
  };
  let ticks = 0;
  for (const input of [...inputs, { at: until, tick: true as const }]) {
    for (let due = nextDue(rule, state); due !== undefined && due < input.at; due = nextDue(rule, state)) {
      ticks += 1;
      if (ticks > TICKS_MAX) throw new Error(`it does not come to rest: ${JSON.stringify(state)}`);
      take({ at: due, tick: true });
    }
    take(input);
  }
  return { state, changes };
}

/** Values around a limit, and what devices send in place of a value. */
const anyValue = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(-18.2, -15.2, -15, -14.9, -11.4, 0) },
  { weight: 2, arbitrary: fc.constantFrom("-11.4", "-18,2", "−11,4 °C", "-20 °C") },
  { weight: 2, arbitrary: fc.constantFrom("unavailable", "", "NaN", "warm", null, {}, Number.NaN, "1 of 2") },
);

const pause = fc.oneof(
  fc.integer({ min: 0, max: 2_000 }),
  fc.integer({ min: 0, max: 5 * MINUTE_MS }),
  fc.integer({ min: 0, max: 3 * HOUR_MS }),
);

/** Inputs in the order of time, from noon on. */
export const series = fc
  .array(
    fc.tuple(
      pause,
      fc.oneof(
        { weight: 8, arbitrary: anyValue.map((value) => ({ value })) },
        { weight: 1, arbitrary: fc.constant({ value: -11.4, unit: "°F" }) },
        { weight: 1, arbitrary: fc.constant({ value: -11.4, own: true }) },
        { weight: 1, arbitrary: fc.constant({ missing: true as const }) },
        { weight: 2, arbitrary: fc.constant({ tick: true as const }) },
      ),
    ),
    { minLength: 1, maxLength: 60 },
  )
  .map((steps) => {
    let at = NOON;
    return steps.map(([wait, input]): StepInput => {
      at += wait;
      return { at, ...input };
    });
  });

export const anyRule = fc
  .record({
    is: fc.constantFrom("above", "below", "equal", "not_equal", "changes", "happens") as fc.Arbitrary<
      WatchRule["is"]
    >,
    hold_ms: fc.constantFrom(0, MINUTE_MS, 10 * MINUTE_MS),
    clear_hold_ms: fc.constantFrom(0, MINUTE_MS),
    hysteresis: fc.constantFrom(0, 0.3),
    repeat: fc.constantFrom("once", "each_time", "until_ack") as fc.Arbitrary<WatchRule["repeat"]>,
    tell_stale: fc.boolean(),
    stale_ms: fc.option(fc.constantFrom(10 * MINUTE_MS, HOUR_MS), { nil: undefined }),
    only_between: fc.option(fc.constant({ from: 720, to: 900, zone: "Europe/Berlin" }), { nil: undefined }),
    cooldown_ms: fc.constantFrom(0, 30 * MINUTE_MS),
    then_to: fc.option(fc.constant({ to: "owners", after_ms: 15 * MINUTE_MS }), { nil: undefined }),
  })
  .map(({ stale_ms, only_between, then_to, ...more }) =>
    watchOf({
      ...more,
      ...(more.is === "happens" && { type: "text" }),
      ...(stale_ms !== undefined && { stale_ms }),
      ...(only_between && { only_between }),
      ...(then_to && { then_to }),
    }),
  )
  .map((rule) => {
    const { value: _, ...event } = rule;
    return rule.is === "happens" ? bellOf(event) : rule;
  });

/** Long after a series: whatever waits has come. */
export const LATER = NOON + 30 * DAY_MS;
