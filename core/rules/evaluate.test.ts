import { describe, expect, test } from "vitest";
import { check } from "../protocol/parse.ts";
import { RuleChange, WatchCondition } from "../protocol/rules.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import {
  initialState,
  nextDue,
  phaseOf,
  type RuleState,
  readState,
  restarted,
  type StepInput,
  step,
} from "./evaluate.ts";
import { bellOf, doorOf, NOON, run, runWithTicks, watchOf } from "./testkit/rules.ts";
import { conditionOf, WatchRule } from "./watch-rule.ts";

/** Minutes after noon, and a value. */
const at = (minutes: number, value: unknown, more: object = {}): StepInput => ({
  at: NOON + minutes * MINUTE_MS,
  value,
  ...more,
});
const tick = (minutes: number): StepInput => ({ at: NOON + minutes * MINUTE_MS, tick: true });
const missing = (minutes: number): StepInput => ({ at: NOON + minutes * MINUTE_MS, missing: true });
const minute = (time: number | undefined) => (time === undefined ? undefined : (time - NOON) / MINUTE_MS);
/** The changes in short: the state, and when. */
const shortOf = (changes: readonly { state: string; at: number }[]) =>
  changes.map(({ state, at }) => `${state} ${minute(at)}`);

describe("a threshold", () => {
  const rule = watchOf({ hold_ms: 10 * MINUTE_MS, clear_hold_ms: 5 * MINUTE_MS });

  test("fires above it after the hold, and is over below the hysteresis after the other hold", () => {
    const { changes, state } = run(rule, [
      at(0, -18.2),
      at(1, -14),
      at(5, -13),
      tick(10.9),
      at(11, -11.4),
      at(20, -15.1),
      at(30, -15.3),
      at(34, -16),
      tick(35),
    ]);
    expect(changes).toEqual([
      {
        rule: "w-7f2c",
        version: 1,
        seq: 1,
        state: "firing",
        occurrence: 1,
        at: NOON + 11 * MINUTE_MS,
        since: NOON + MINUTE_MS,
        value: -11.4,
        unit: "°C",
      },
      {
        rule: "w-7f2c",
        version: 1,
        seq: 2,
        state: "idle",
        occurrence: 1,
        at: NOON + 35 * MINUTE_MS,
        since: NOON + MINUTE_MS,
        until: NOON + 30 * MINUTE_MS,
        value: -16,
        unit: "°C",
      },
    ]);
    expect(phaseOf(state)).toBe("idle");
  });

  test("the phases, and when a tick is due in each", () => {
    let state: RuleState = initialState(NOON);
    const seen = [at(0, -18), at(1, -14), at(11, -14), at(12, -16), missing(13), at(14, -16), tick(17)].map(
      (input) => {
        state = step(rule, state, input).state;
        return [phaseOf(state), minute(nextDue(rule, state))];
      },
    );
    expect(seen).toEqual([
      ["idle", undefined],
      ["pending", 11],
      ["firing", undefined],
      ["clearing", 17],
      ["unknown", 23],
      ["clearing", 17],
      ["idle", undefined],
    ]);
  });

  test("a hold begins anew when the value goes back", () => {
    expect(run(rule, [at(0, -14), at(9, -15), at(10, -14), at(19, -14)]).changes).toEqual([]);
    expect(shortOf(run(rule, [at(0, -14), at(9, -15), at(10, -14), at(20, -14)]).changes)).toEqual([
      "firing 20",
    ]);
  });

  test("between threshold and hysteresis, nothing changes in either direction", () => {
    const jitter = Array.from({ length: 100 }, (_, n) => at(20 + n, n % 2 ? -15.1 : -14.9));
    expect(shortOf(run(rule, [at(0, -14), at(10, -14), ...jitter]).changes)).toEqual(["firing 10"]);
  });

  test("what is true from the beginning fires too", () => {
    expect(shortOf(runWithTicks(rule, [at(0, -11)], NOON + HOUR_MS).changes)).toEqual(["firing 10"]);
  });

  test("below is the mirror of above", () => {
    const low = watchOf({ is: "below", value: 20, hysteresis: 1 });
    const { changes } = run(low, [at(0, 20), at(1, 15), at(2, 20.5), at(3, 21)]);
    expect(shortOf(changes)).toEqual(["firing 1", "idle 3"]);
  });

  test("numbers as text are numbers", () => {
    const now = watchOf();
    expect(shortOf(run(now, [at(0, "-18,2"), at(1, "-11.4 °C"), at(2, "−16")]).changes)).toEqual([
      "firing 1",
      "idle 2",
    ]);
  });
});

describe("equal and not equal", () => {
  test.each([
    ["text", { type: "text", is: "equal", value: "open" }, ["closed", "Open", "closed"]],
    ["text, not equal", { type: "text", is: "not_equal", value: "closed" }, ["closed", "jammed", "CLOSED"]],
    ["boolean", { type: "boolean", is: "equal", value: true }, ["OFF", "ON", false]],
    ["number", { type: "number", is: "equal", value: 0 }, [1, 0, 0.1]],
  ] as const)("%s", (_, more, [before, hit, after]) => {
    expect(shortOf(run(doorOf(more), [at(0, before), at(1, hit), at(2, hit), at(3, after)]).changes)).toEqual(
      ["firing 1", "idle 3"],
    );
  });

  test("presence is a boolean", () => {
    const gone = doorOf({ is: "offline", reading: "presence", hold_ms: 5 * MINUTE_MS });
    const inputs = [at(0, true), at(1, false), at(3, true), at(10, false), at(20, true)];
    expect(shortOf(runWithTicks(gone, inputs, NOON + HOUR_MS).changes)).toEqual(["firing 15", "idle 20"]);
    expect(shortOf(run(doorOf({ is: "online" }), [at(0, false), at(1, true)]).changes)).toEqual(["firing 1"]);
  });
});

describe("unknown", () => {
  const rule = watchOf({ hold_ms: 10 * MINUTE_MS, stale_ms: HOUR_MS });

  test("while there is no value, a hold does not end", () => {
    const { changes, state } = run(rule, [at(0, -14), missing(2), tick(10), tick(30)]);
    expect([changes, phaseOf(state)]).toEqual([[], "unknown"]);
  });

  test("a short gap does not begin a hold anew, a long one does", () => {
    expect(shortOf(run(rule, [at(0, -14), missing(2), at(12, -14)]).changes)).toEqual(["firing 12"]);
    expect(shortOf(run(rule, [at(0, -14), missing(2), at(70, -14), at(80, -14)]).changes)).toEqual([
      "firing 80",
    ]);
  });

  test("silence for the time is told once, also by a tick alone", () => {
    const { changes, state } = runWithTicks(rule, [at(0, -18), missing(5), missing(70)], NOON + DAY_MS);
    expect(changes).toEqual([
      expect.objectContaining({ state: "unknown", at: NOON + HOUR_MS, since: NOON, occurrence: 0, seq: 1 }),
    ]);
    expect(phaseOf(state)).toBe("unknown");
    expect(nextDue(rule, state)).toBeUndefined();
  });

  test("a firing goes on through it: it is neither over nor told again", () => {
    const inputs = [at(0, -14), at(10, -14), missing(11), at(100, -14), at(101, -18), at(102, -18)];
    const { changes } = runWithTicks(rule, inputs, NOON + 2 * HOUR_MS);
    expect(changes.map(({ state, occurrence }) => [state, occurrence])).toEqual([
      ["firing", 1],
      ["unknown", 1],
      ["firing", 1],
      ["idle", 1],
    ]);
  });

  test("without a time for silence, a device need not speak, but may say that it has no value", () => {
    const door = doorOf();
    expect(runWithTicks(door, [at(0, false)], NOON + 7 * DAY_MS).changes).toEqual([]);
    const { changes } = runWithTicks(door, [at(0, false), at(60, "unavailable")], NOON + DAY_MS);
    expect(shortOf(changes)).toEqual(["unknown 70"]);
  });

  test("a unit that changed makes it unknown", () => {
    const { changes, state } = run(watchOf(), [at(0, -18), at(1, 12, { unit: "°F" }), at(2, "12 °F")]);
    expect([changes, phaseOf(state)]).toEqual([[], "unknown"]);
  });

  test("a rule that never had a value counts silence from its beginning", () => {
    expect(shortOf(runWithTicks(rule, [tick(0)], NOON + DAY_MS).changes)).toEqual(["unknown 60"]);
  });
});

describe("moments", () => {
  test("each counts, those of the next minute together", () => {
    const inputs = [at(0, "press"), at(0.1, "press"), at(0.2, "hold"), at(5, "press")];
    const { changes } = runWithTicks(bellOf(), inputs, NOON + HOUR_MS);
    expect(changes.map(({ state, at, count, value }) => [state, minute(at), count, value])).toEqual([
      ["firing", 0, 1, "press"],
      ["firing", 1, 2, "hold"],
      ["firing", 5, 1, "press"],
    ]);
    expect(new Set(changes.map(({ occurrence }) => occurrence)).size).toBe(3);
  });

  test("of one kind alone", () => {
    expect(run(bellOf({ value: "double" }), [at(0, "press"), at(1, "Double")]).changes).toHaveLength(1);
  });

  test("silence says nothing of events", () => {
    const { changes } = runWithTicks(bellOf({ stale_ms: HOUR_MS }), [at(0, "x")], NOON + DAY_MS);
    expect(shortOf(changes)).toEqual(["firing 0"]);
    const after = restarted(initialState(NOON), NOON);
    expect(nextDue(bellOf(), after)).toBeUndefined();
  });

  test("changes: the first value is none, nor is the same after a gap", () => {
    const rule = watchOf({ is: "changes", type: "text" });
    const inputs = [at(0, "a"), at(2, "A "), at(4, "b"), missing(6), at(8, "b"), missing(10), at(12, "c")];
    expect(shortOf(run(rule, inputs).changes)).toEqual(["firing 4", "firing 12"]);
  });

  test("changes of a number: by the hysteresis from the one that counted last", () => {
    const rule = watchOf({ is: "changes", hysteresis: 0.1 });
    const inputs = [at(0, 18.2), at(2, 18.15), at(4, 18.1), at(6, 18.05), at(8, 18)];
    expect(shortOf(run(rule, inputs).changes)).toEqual(["firing 4", "firing 8"]);
  });
});

describe("times of the day", () => {
  // Noon is in it.
  const rule = doorOf({
    only_between: { from: 600, to: 780, zone: "Europe/Berlin" },
    hold_ms: 5 * MINUTE_MS,
  });

  test("outside, nothing fires; what is true when it begins fires after the hold", () => {
    const { changes } = runWithTicks(rule, [at(61, true)], NOON + DAY_MS);
    expect(shortOf(changes)).toEqual([`firing ${22 * 60 + 5}`]);
  });

  test("its end ends a firing, and says that nothing is known of it", () => {
    const { changes } = runWithTicks(rule, [at(0, true)], NOON + 3 * HOUR_MS);
    expect(changes.map(({ state, at, why }) => [state, minute(at), why])).toEqual([
      ["firing", 5, undefined],
      ["idle", 60, "window"],
    ]);
  });

  test("a hold that the end cuts off begins anew", () => {
    const { changes } = runWithTicks(rule, [at(57, true)], NOON + 12 * HOUR_MS);
    expect(changes).toEqual([]);
  });

  test("a firing without a value ends with it too", () => {
    const { changes } = runWithTicks(rule, [at(0, true), at(10, "unavailable")], NOON + 3 * HOUR_MS);
    expect(changes.map(({ state, why }) => [state, why])).toEqual([
      ["firing", undefined],
      ["unknown", undefined],
      ["idle", "window"],
    ]);
  });

  test("moments outside do not count, and changes there do not either afterwards", () => {
    const moves = watchOf({
      is: "changes",
      type: "text",
      only_between: { from: 600, to: 780, zone: "Europe/Berlin" },
    });
    const inputs = [at(0, "a"), at(70, "b"), at(DAY_MS / MINUTE_MS, "b"), at(DAY_MS / MINUTE_MS + 1, "c")];
    expect(shortOf(run(moves, inputs).changes)).toEqual(["firing 1441"]);
  });
});

describe("what we did ourselves", () => {
  test("does not fire, until it was false", () => {
    const inputs = [
      at(0, false),
      at(1, true, { own: true }),
      at(2, true),
      tick(3),
      at(4, false),
      at(5, true),
    ];
    expect(shortOf(run(doorOf(), inputs).changes)).toEqual(["firing 5"]);
  });

  test("fires where the rule says so, or is about how long it lasts", () => {
    const own = [at(0, true, { own: true }), at(10, true)];
    expect(shortOf(run(doorOf({ tell_own: true }), own).changes)).toEqual(["firing 0"]);
    expect(shortOf(run(doorOf({ hold_ms: 10 * MINUTE_MS }), own).changes)).toEqual(["firing 10"]);
    const change = watchOf({ is: "changes" });
    expect(run(change, [at(0, 1), at(1, 2, { own: true }), at(2, 2)]).changes).toEqual([]);
  });
});

describe("once", () => {
  test("it has ended with its firing", () => {
    const { changes, state } = run(doorOf({ repeat: "once" }), [
      at(0, true),
      at(1, false),
      at(2, true),
      tick(9),
    ]);
    expect(shortOf(changes)).toEqual(["firing 0"]);
    expect(nextDue(doorOf({ repeat: "once" }), state)).toBeUndefined();
  });
});

describe("a state that moves", () => {
  const rule = watchOf({ hold_ms: 10 * MINUTE_MS, clear_hold_ms: 10 * MINUTE_MS });
  const overFile = (state: RuleState) => {
    const read = readState(JSON.parse(JSON.stringify(state)));
    if (!read.ok) throw new Error(read.error);
    return read.value;
  };

  test("after a restart a firing goes on and is not told again", () => {
    const { state } = run(rule, [at(0, -14), at(10, -14)]);
    const after = restarted(overFile(state), NOON + 12 * MINUTE_MS);
    expect(phaseOf(after)).toBe("unknown");
    expect(run(rule, [at(13, -14), at(60, -14)], after).changes).toEqual([]);
    expect(shortOf(run(rule, [at(13, -16), at(23, -16)], after).changes)).toEqual(["idle 23"]);
  });

  test("after a restart a hold begins anew", () => {
    const { state } = run(rule, [at(0, -14)]);
    const after = restarted(overFile(state), NOON + 5 * MINUTE_MS);
    expect(shortOf(run(rule, [at(6, -14), at(11, -14), at(16, -14)], after).changes)).toEqual(["firing 16"]);
  });

  test("elsewhere, with what Home knows of it, it goes on counting and is not told again", () => {
    const known = { seq: 7, occurrence: 7, open: { at: NOON, since: NOON - HOUR_MS } };
    const there = initialState(NOON + MINUTE_MS, known);
    const { changes } = run(rule, [at(2, -14), at(3, -16), at(13, -16), at(14, -14), at(24, -14)], there);
    expect(changes.map(({ state, seq, occurrence }) => [state, seq, occurrence])).toEqual([
      ["idle", 8, 7],
      ["firing", 9, 9],
    ]);
  });

  test("a clock that is set back begins a hold anew, instead of waiting for hours", () => {
    const { state } = run(rule, [at(600, -14), at(605, -14)]);
    expect(shortOf(run(rule, [at(0, -14), at(9, -14), at(10, -14)], state).changes)).toEqual(["firing 10"]);
  });

  test("a clock that jumps ahead fires nothing by itself where the device speaks regularly", () => {
    const polled = { ...rule, stale_ms: 20 * MINUTE_MS };
    const years = (56 * 365 * DAY_MS) / MINUTE_MS;
    expect(shortOf(run(polled, [at(0, -14), at(years, -14), at(years + 9, -14)]).changes)).toEqual([]);
  });

  test("what is no state is refused in words", () => {
    expect(readState({ at: "now" })).toEqual({ ok: false, error: expect.stringContaining("at: ") });
  });
});

test("a door that flaps 200 times in a minute is one firing and one end", () => {
  const rule = doorOf({ clear_hold_ms: MINUTE_MS });
  const flaps = Array.from({ length: 400 }, (_, n) => at(n / 400, n % 2 === 0));
  const { changes } = runWithTicks(rule, flaps, NOON + HOUR_MS);
  expect(changes.map(({ state }) => state)).toEqual(["firing", "idle"]);
});

test("200 values a second that change nothing are no change", () => {
  const values = Array.from({ length: 12_000 }, (_, n) => ({ at: NOON + n * 5, value: -18 - (n % 7) }));
  expect(run(watchOf(), values).changes).toEqual([]);
});

test("a change that a peer sends is bounded: its times can be shown, whatever it is", () => {
  const { changes } = run(watchOf(), [at(0, -11)]);
  const [change] = changes;
  expect(check(RuleChange, JSON.parse(JSON.stringify(change)))).toEqual({ ok: true, value: change });
  for (const wrong of [
    { at: 1e300 },
    { at: -1 },
    { since: 1.5e17 },
    { count: 1e9 },
    { seq: 0 },
    { state: "on" },
  ])
    expect(check(RuleChange, { ...change, ...wrong })).toMatchObject({
      ok: false,
      error: expect.stringContaining(Object.keys(wrong)[0] ?? ""),
    });
});

test("what was gathered, and silence at the same moment, are two changes", () => {
  const rule = watchOf({ is: "changes", type: "text", stale_ms: MINUTE_MS });
  const { changes } = runWithTicks(rule, [at(0, "a"), at(1, "b"), at(1, "c")], NOON + HOUR_MS);
  expect(shortOf(changes)).toEqual(["firing 1", "firing 2", "unknown 2"]);
});

test("the condition is the rule without what is about people", () => {
  const rule = watchOf({ say: "Call Ann", then_to: { to: "owners", after_ms: 1 } });
  const condition = conditionOf(rule);
  expect(WatchCondition.parse(rule)).toEqual(condition);
  expect(JSON.stringify(condition)).not.toMatch(/Freezer|Ann|owners|key/);
  expect(WatchRule.parse(rule)).toEqual(rule);
});
