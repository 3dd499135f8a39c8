import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Automation } from "../protocol/automation.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { advance, nextDue } from "./run.ts";
import {
  type AutomationInput,
  type AutomationState,
  type Effect,
  initialAutomation,
  isToBeKept,
  type LedgerSays,
  readAutomationState,
  type StepEnded,
  type Surroundings,
} from "./state.ts";
import { around, conditionOf, NOON, pressed, ruleOf, stepOf } from "./testkit/rules.ts";
import { canUndo } from "./turn.ts";

/** A rule with the effects that came, and a clock that is moved by hand. */
class Bench {
  at = NOON;
  state: AutomationState;
  effects: Effect[] = [];
  around: Partial<Surroundings> = {};
  readonly rule: Automation;

  constructor(more: Partial<Automation> = {}) {
    this.rule = ruleOf(more);
    this.state = initialAutomation(this.rule, this.at);
  }

  give(input: AutomationInput): Effect[] {
    const { state, effects } = advance(this.rule, this.state, input, around(this.at, this.around));
    this.state = state;
    this.effects.push(...effects);
    return effects;
  }

  value(
    value: boolean | string | undefined,
    condition = 0,
    more: { led?: readonly string[]; own?: boolean } = {},
  ): Effect[] {
    const { own, led } = more;
    const given = value === undefined ? { missing: true as const } : { value, own };
    return this.give({ of: "value", condition, value: given, led });
  }

  /** Time passes, with each tick that is due. */
  pass(ms: number): Effect[] {
    const before = this.effects.length;
    const end = this.at + ms;
    for (let turns = 0; turns < 1_000; turns += 1) {
      const due = nextDue(this.rule, this.state, around(this.at, this.around));
      if (due === undefined || due > end) break;
      this.at = Math.max(due, this.at);
      this.give({ of: "tick" });
    }
    this.at = end;
    this.give({ of: "tick" });
    return this.effects.slice(before);
  }

  /** The outcome of what was given out last. */
  ends(outcome: StepEnded["outcome"], more: Partial<StepEnded> = {}): Effect[] {
    const out = this.effects.findLast((one) => one.of === "do" || one.of === "undo");
    if (!out) throw new Error("nothing was given out");
    const { firing, step } = out;
    return this.give({ of: "outcome", firing, step, outcome, text: outcome, ...more });
  }

  canUndo(firing: number): boolean {
    return canUndo(this.rule, this.state, firing, around(this.at, this.around));
  }

  restart(says: LedgerSays, ms = 5_000): Effect[] {
    const stored = readAutomationState(JSON.parse(JSON.stringify(this.state)));
    if (!stored.ok) throw new Error(stored.error);
    this.state = stored.value;
    this.at += ms;
    return this.give({ of: "restarted", ledger: () => says });
  }

  /** It was closed, and opens. */
  fire(): Effect[] {
    this.value(false);
    this.pass(2 * MINUTE_MS);
    return this.value(true);
  }
}

/** What came, in short. */
function brief(effects: readonly Effect[]): string[] {
  return effects.map((effect) => {
    if (effect.of === "do" || effect.of === "undo") return `${effect.of} ${effect.step}`;
    if (effect.of === "look") return `look ${effect.step}`;
    if (effect.of === "pause") return `pause ${effect.why}`;
    if (effect.of === "begun") return "begun";
    const { run, aloud, critical } = effect;
    return `${critical ? "critical " : ""}${aloud ? "says" : "notes"} ${run.state}${run.why ? ` ${run.why}` : ""}`;
  });
}

const heater = { danger: "heat" as const, key: "heater" };
const off = [stepOf({ action: "turn_off" })];

describe("when it runs", () => {
  test("the first value never fires; the step from false to true does, once", () => {
    const bench = new Bench();
    expect(bench.value(true)).toEqual([]);
    expect(bench.pass(HOUR_MS)).toEqual([]);
    expect(brief(bench.fire())).toEqual(["begun", "do 0"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes done"]);
    expect(bench.value(true)).toEqual([]);
  });

  test("any order of gaps and restarts with the same values before and after makes no run", () => {
    const blip = fc.constantFrom("missing", "restart", "connected", "same", "pass");
    fc.assert(
      fc.property(fc.boolean(), fc.constantFrom(0, MINUTE_MS), fc.array(blip), (value, hold_ms, blips) => {
        const bench = new Bench({ when: [conditionOf({ hold_ms }), conditionOf({ hold_ms })] });
        const report = (own: boolean | undefined) => [0, 1].map((condition) => bench.value(own, condition));
        report(false);
        if (value) report(true);
        bench.pass(5 * MINUTE_MS);
        if (value) bench.ends("confirmed");
        bench.effects = [];
        for (const one of blips) {
          if (one === "missing") report(undefined);
          else if (one === "restart") bench.restart("none", 20 * MINUTE_MS);
          else if (one === "connected") bench.give({ of: "connected" });
          else if (one === "same") report(value);
          else bench.pass(15 * MINUTE_MS);
        }
        report(value);
        bench.pass(HOUR_MS);
        expect(brief(bench.effects)).toEqual([]);
      }),
    );
  });

  test("all waits for the last one's hold; unknown is not so", () => {
    const bench = new Bench({ when: [conditionOf({ hold_ms: 5 * MINUTE_MS }), conditionOf()] });
    bench.value(false);
    bench.value(true, 1);
    bench.value(true);
    expect(brief(bench.pass(5 * MINUTE_MS - 1))).toEqual([]);
    bench.value(undefined, 1);
    expect(brief(bench.pass(MINUTE_MS))).toEqual([]);
    expect(brief(bench.value(true, 1))).toEqual(["begun", "do 0"]);
  });

  test("a step that was missed runs when it has lasted for a minute; what does harm is told and not done", () => {
    const bench = new Bench();
    bench.value(false);
    bench.restart("none");
    bench.value(true);
    expect(brief(bench.pass(MINUTE_MS - 1))).toEqual([]);
    expect(brief(bench.pass(1))).toEqual(["begun", "do 0"]);
    const hot = new Bench({
      do: [stepOf(heater)],
      over: "off",
      end: [stepOf({ ...heater, action: "turn_off" })],
    });
    hot.value(false);
    hot.value(undefined);
    hot.value(true);
    expect(brief(hot.pass(2 * MINUTE_MS))).toEqual(["says not_run missed_danger"]);
  });

  test("a short gap within a hold is no missed step", () => {
    const hold = conditionOf({ hold_ms: 5 * MINUTE_MS });
    const bench = new Bench({ when: [hold], do: [stepOf(heater)], at_most_minutes: 60, over: "off" });
    bench.value(false);
    bench.pass(2 * MINUTE_MS);
    bench.value(true);
    bench.pass(MINUTE_MS);
    bench.value(undefined);
    bench.pass(1_000);
    bench.value(true);
    expect(brief(bench.pass(4 * MINUTE_MS - 1_001))).toEqual([]);
    expect(brief(bench.pass(1))).toEqual(["begun", "do 0"]);
  });

  test("after a start and a new connection it waits for a minute; a moment of that time is left out", () => {
    const bench = new Bench();
    bench.value(false);
    bench.give({ of: "connected" });
    bench.value(true);
    expect(brief(bench.pass(MINUTE_MS))).toEqual(["begun", "do 0"]);
    const bell = new Bench({ when: [pressed()] });
    bell.give({ of: "connected" });
    expect(brief(bell.value("single"))).toEqual([]);
    expect(brief(bell.pass(HOUR_MS))).toEqual([]);
    expect(brief(bell.value("single"))).toEqual(["begun", "do 0"]);
  });

  test("a moment counts while the other conditions are so", () => {
    const bench = new Bench({ when: [pressed(), conditionOf()] });
    expect(bench.value("single")).toEqual([]);
    bench.pass(2 * MINUTE_MS);
    bench.value(true, 1);
    expect(brief(bench.value("single"))).toEqual(["begun", "do 0"]);
  });

  test("it waits for its turn among the home's rules", () => {
    const bench = new Bench();
    bench.value(false);
    bench.around = { begin_from: bench.at + 1_000 };
    expect(bench.value(true)).toEqual([]);
    expect(brief(bench.pass(1_000))).toEqual(["begun", "do 0"]);
    const bell = new Bench({ when: [pressed()] });
    bell.around = { begin_from: bell.at + 1_000 };
    expect(bell.value("single")).toEqual([]);
    expect(brief(bell.pass(1_000))).toEqual(["begun", "do 0"]);
  });

  test("who is at home decides when it would run; unknown is a no", () => {
    const bench = new Bench({ only_if: { presence: "nobody_home" } });
    expect(brief(bench.fire())).toEqual(["notes not_run only_if"]);
    bench.around = { presence: "nobody" };
    expect(brief(bench.pass(HOUR_MS))).toEqual([]);
    expect(brief(bench.fire())).toEqual(["begun", "do 0"]);
  });

  test("a sensor that flaps runs it once a minute at most, and 12 times an hour; then it rests", () => {
    const bench = new Bench();
    for (let at = 0; at < 3 * 3_600; at += 1) {
      bench.value(at % 2 === 1);
      if (bench.state.run) bench.ends("confirmed");
      bench.at += 1_000;
    }
    const begun = bench.effects.flatMap((effect) => (effect.of === "tell" ? [effect.run.at] : []));
    expect(begun.every((at, index) => at - (begun[index - 1] ?? 0) >= MINUTE_MS)).toBe(true);
    expect(begun.every((at, index) => at - (begun[index - 12] ?? 0) >= HOUR_MS)).toBe(true);
    expect(begun).toHaveLength(36);
    expect(brief(bench.effects).filter((one) => one === "pause too_often")).toHaveLength(3);
  });
});

describe("writes", () => {
  test.each([
    ["that runs and rests", {}, 6],
    ["that only_if refuses", { only_if: { presence: "nobody_home" as const } }, 130],
    ["that waits within its run", { do: [stepOf(), stepOf({ wait_minutes: 600 })] }, 6],
  ])("a sensor that flaps each second for an hour costs few of a rule %s", (_, more, max) => {
    const bench = new Bench({ an_hour: 1, ...more });
    let writes = 0;
    for (let at = 0; at < 3_600; at += 1) {
      const before = bench.state;
      const effects = bench.value(at % 2 === 1);
      if (effects.some(({ of }) => of === "do")) bench.ends("confirmed");
      if (effects.length > 0 || isToBeKept(before, bench.state)) writes += 1;
      bench.at += 1_000;
    }
    expect(writes).toBeLessThanOrEqual(max);
  });
});

describe("its steps", () => {
  const two = { do: [stepOf(), stepOf({ key: "fan" })] };

  test("one after another; its words come at the end", () => {
    const bench = new Bench({ ...two, say: "It is open." });
    bench.fire();
    expect(brief(bench.ends("confirmed"))).toEqual(["do 1"]);
    expect(brief(bench.ends("sent"))).toEqual(["says done"]);
    expect(bench.effects.at(-1)).toMatchObject({
      run: { steps: [{ outcome: "confirmed" }, { outcome: "sent" }] },
    });
  });

  test("what was sent and not confirmed is never sent again: it stops, says so, and looks on", () => {
    const bench = new Bench(two);
    bench.fire();
    expect(brief(bench.ends("unconfirmed"))).toEqual(["look 0", "says stopped unconfirmed"]);
    expect(brief(bench.pass(9 * MINUTE_MS))).toEqual([]);
    expect(brief(bench.give({ of: "late", firing: 1, step: 0, text: "on" }))).toEqual([
      "says stopped unconfirmed",
    ]);
    expect(bench.effects.at(-1)).toMatchObject({ run: { steps: [{ outcome: "late" }] } });
    expect(brief(bench.give({ of: "late", firing: 1, step: 0, text: "on" }))).toEqual([]);
  });

  test("after 10 minutes a confirmation is no news", () => {
    const bench = new Bench();
    bench.fire();
    bench.ends("unknown");
    bench.pass(11 * MINUTE_MS);
    expect(bench.give({ of: "late", firing: 1, step: 0, text: "on" })).toEqual([]);
  });

  test("where nothing left it is tried after 10, 30 and 90 s, for as long as it is so", () => {
    const bench = new Bench(two);
    bench.fire();
    const times = [10_000, 30_000, 90_000].map((ms) => {
      expect(brief(bench.ends("not_sent", { again: true }))).toEqual([]);
      expect(brief(bench.pass(ms - 1))).toEqual([]);
      return brief(bench.pass(1));
    });
    expect(times).toEqual([["do 0"], ["do 0"], ["do 0"]]);
    expect(brief(bench.ends("not_sent", { again: true }))).toEqual(["says stopped not_sent"]);
    const closed = new Bench(two);
    closed.fire();
    closed.ends("not_sent", { again: true });
    closed.value(false);
    expect(brief(closed.pass(10_000))).toEqual(["says stopped not_sent"]);
  });

  test("steps that stand by themselves go on", () => {
    const bench = new Bench({ ...two, go_on: true });
    bench.fire();
    expect(brief(bench.ends("unknown"))).toEqual(["look 0", "do 1"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["says stopped"]);
  });

  test("an outcome that comes again, or of another firing, changes nothing", () => {
    const bench = new Bench(two);
    bench.fire();
    bench.ends("confirmed");
    const { state } = bench;
    for (const [firing, step] of [
      [1, 0],
      [2, 1],
      [0, 1],
    ] as const)
      expect(bench.give({ of: "outcome", firing, step, outcome: "confirmed", text: "" })).toEqual([]);
    expect(bench.state).toEqual(state);
  });

  test("after a wait only_if is looked at again, and what is unknown is waited for", () => {
    const waiting = {
      do: [stepOf(), stepOf({ wait_minutes: 20 })],
      only_if: { presence: "nobody_home" as const },
    };
    for (const [presence, then] of [
      ["nobody", ["do 1"]],
      ["somebody", ["notes stopped only_if"]],
      ["unknown", []],
    ] as const) {
      const bench = new Bench(waiting);
      bench.around = { presence: "nobody" };
      bench.fire();
      bench.ends("confirmed");
      bench.around = { presence };
      expect(brief(bench.pass(20 * MINUTE_MS))).toEqual(then);
      if (presence === "unknown")
        expect(brief(bench.pass(10 * MINUTE_MS))).toEqual(["notes stopped only_if"]);
    }
  });

  test("limits of the home hold a step back, and stop it where that is for long", () => {
    const bench = new Bench();
    const until = NOON + 2 * MINUTE_MS + 5_000;
    bench.around = { held_until: () => until };
    expect(brief(bench.fire())).toEqual(["begun"]);
    expect(brief(bench.pass(5_000))).toEqual(["do 0"]);
    const long = new Bench();
    long.around = { held_until: () => NOON + HOUR_MS };
    expect(brief(long.fire())).toEqual(["begun", "says not_run limits"]);
  });

  test("a device that is another one by now pauses the rule", () => {
    const bench = new Bench({ over: "off", end: off });
    bench.fire();
    const refused = { pause: "device_changed" as const };
    expect(brief(bench.ends("not_sent", refused))).toEqual(["pause device_changed", "says stopped not_sent"]);
    expect(brief(bench.fire())).toEqual([]);
  });

  test("a firing while it runs is counted", () => {
    const bench = new Bench({ do: [stepOf(), stepOf({ wait_minutes: 30 })] });
    bench.fire();
    bench.ends("confirmed");
    expect(brief(bench.fire())).toEqual([]);
    expect(bench.state.counted).toBe(1);
  });
});

describe("its end", () => {
  const lasting = { over: "off" as const, end: off };

  test("off: when it is no longer so, and only what it switched on", () => {
    const bench = new Bench({ over: "off", do: [stepOf(), stepOf({ key: "fan" })], go_on: true });
    bench.rule.end.push(stepOf({ action: "turn_off" }), stepOf({ key: "fan", action: "turn_off" }));
    bench.fire();
    bench.ends("confirmed");
    expect(brief(bench.ends("not_sent"))).toEqual(["says stopped"]);
    expect(brief(bench.value(false))).toEqual(["do 2"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes stopped over"]);
    expect(bench.state.run).toBeUndefined();
  });

  test("unknown is no end; at most is one", () => {
    const bench = new Bench({ ...lasting, at_most_minutes: 30 });
    bench.fire();
    bench.ends("confirmed");
    bench.value(undefined);
    expect(brief(bench.pass(30 * MINUTE_MS - 1))).toEqual([]);
    expect(brief(bench.pass(1))).toEqual(["do 1"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes done at_most"]);
  });

  test("undo: the values before, the last step first; what somebody changed since stays", () => {
    const bench = new Bench({ over: "undo", do: [stepOf(), stepOf({ key: "fan" })] });
    bench.around = { before: ({ key }) => ({ state: key }) };
    bench.fire();
    bench.ends("confirmed");
    bench.ends("confirmed");
    const [undo] = bench.value(false);
    expect(undo).toMatchObject({ of: "undo", step: 3, before: { state: "fan" } });
    expect(brief(bench.ends("not_sent", { kept: true }))).toEqual(["undo 2"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes undone over"]);
  });

  test("it comes also while a step is out, and after a step that failed", () => {
    const bench = new Bench({ ...lasting, do: [stepOf(), stepOf({ key: "fan", wait_minutes: 5 })] });
    bench.fire();
    expect(brief(bench.value(false))).toEqual([]);
    bench.value(true);
    expect(brief(bench.ends("confirmed"))).toEqual(["do 2"]);
    const failed = new Bench({ ...lasting, do: [stepOf(), stepOf({ key: "fan" })] });
    failed.fire();
    failed.ends("confirmed");
    expect(brief(failed.ends("unconfirmed"))).toEqual(["look 1", "says stopped unconfirmed"]);
    expect(brief(failed.value(false))).toEqual(["do 2"]);
  });

  test("no limit and no pause holds it back, and a rule that is stopped begins nothing", () => {
    const bench = new Bench(lasting);
    bench.fire();
    bench.ends("confirmed");
    bench.around = { held_until: (step) => (step.action === "turn_off" ? NOON + HOUR_MS : 0), sure: false };
    expect(brief(bench.give({ of: "stop", why: "paused" }))).toEqual(["do 1"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes done paused"]);
    expect(brief(bench.pass(HOUR_MS))).toEqual([]);
    expect(brief(bench.fire())).toEqual([]);
  });

  test("at_most comes at once where the rule is stopped before it", () => {
    const leaving = { do: [stepOf(heater)], end: [stepOf({ ...heater, action: "turn_off" })] };
    const bench = new Bench({ ...leaving, over: "leave", at_most_minutes: 60 });
    bench.fire();
    bench.ends("confirmed");
    expect(brief(bench.give({ of: "stop", why: "dropped" }))).toEqual(["do 1"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes done dropped"]);
  });

  test("a device that is another one by now is told once, whatever steps find it so", () => {
    const changed = { pause: "device_changed" as const };
    const bench = new Bench({ ...lasting, do: [stepOf(), stepOf({ key: "fan" })] });
    bench.rule.end = [stepOf({ action: "turn_off" }), stepOf({ key: "fan", action: "turn_off" })];
    bench.fire();
    bench.ends("confirmed");
    bench.ends("confirmed");
    bench.value(false);
    expect(brief(bench.ends("not_sent", changed))).toEqual(["pause device_changed", "do 3"]);
    expect(brief(bench.ends("not_sent", changed))).not.toContain("pause device_changed");
  });

  test("of a heater it is tried on, and told as critical", () => {
    const bench = new Bench({
      ...lasting,
      do: [stepOf(heater)],
      end: [stepOf({ ...heater, action: "turn_off" })],
    });
    bench.fire();
    bench.ends("confirmed");
    bench.value(false);
    for (const ms of [10_000, 30_000, 90_000]) {
      expect(brief(bench.ends("not_sent", { again: true }))).toEqual([]);
      expect(brief(bench.pass(ms))).toEqual(["do 1"]);
    }
    expect(brief(bench.ends("not_sent", { again: true }))).toEqual(["critical says stopped over"]);
    expect(brief(bench.pass(5 * MINUTE_MS))).toEqual(["do 1"]);
    expect(brief(bench.ends("not_sent", { again: true }))).toEqual([]);
    expect(brief(bench.pass(5 * MINUTE_MS))).toEqual(["do 1"]);
    expect(brief(bench.ends("unconfirmed"))).toEqual(["look 1", "critical says stopped over"]);
  });

  test("a moment ends by at most alone", () => {
    const bench = new Bench({ ...lasting, when: [pressed()], at_most_minutes: 10 });
    bench.value("single");
    bench.ends("confirmed");
    expect(brief(bench.pass(10 * MINUTE_MS))).toEqual(["do 1"]);
  });

  test("a person's undo comes also after a step that fails meanwhile", () => {
    const bench = new Bench({ do: [stepOf(), stepOf({ key: "fan" })] });
    bench.fire();
    bench.ends("confirmed");
    expect(bench.give({ of: "undo", firing: 1 })).toEqual([]);
    const effects = bench.ends("unconfirmed");
    expect(brief(effects)).toEqual(["look 1", "says stopped unconfirmed", "undo 3"]);
    expect(effects[1]).not.toHaveProperty("run.ended");
    expect(brief(bench.ends("confirmed"))).toEqual(["undo 2"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes stopped unconfirmed"]);
    expect(bench.effects.at(-1)).toMatchObject({ run: { ended: expect.any(Number) } });
  });

  test("a person undoes the last run, once", () => {
    const bench = new Bench();
    bench.fire();
    bench.ends("confirmed");
    expect(bench.effects.at(-1)).toMatchObject({ run: { undo: true } });
    expect(bench.canUndo(1)).toBe(true);
    expect(brief(bench.give({ of: "undo", firing: 1 }))).toEqual(["undo 1"]);
    expect(bench.canUndo(1)).toBe(false);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes undone undo"]);
    expect(bench.canUndo(1)).toBe(false);
    expect(bench.give({ of: "undo", firing: 1 })).toEqual([]);
  });
});

describe("a person's undo", () => {
  const two = { do: [stepOf(), stepOf({ key: "valve", danger: "way_closes" as const })] };
  /** Two actions were done, the first one without a way back. */
  function done(more: Partial<Surroundings> = {}): Bench {
    const bench = new Bench({ do: [stepOf({ key: "valve" }), stepOf()] });
    bench.around = more;
    bench.fire();
    bench.ends("confirmed");
    bench.ends("confirmed");
    return bench;
  }

  test("is offered only where something can be brought back at that moment", () => {
    const bench = done({ has_way_back: () => false });
    expect(bench.effects.at(-1)).not.toHaveProperty("run.undo");
    expect(bench.canUndo(1)).toBe(false);
    expect(bench.give({ of: "undo", firing: 1 })).toEqual([]);
    expect(bench.state.last?.ending).toBeUndefined();
    // Nothing of what it did can be brought back without a person but the lamp.
    bench.around = { has_way_back: ({ key }) => key === "lamp" };
    expect(bench.canUndo(1)).toBe(true);
    expect(done({ has_way_back: ({ key }) => key === "lamp" }).effects.at(-1)).toMatchObject({
      run: { undo: true },
    });
  });

  test("is not offered where no value before is known, or nothing was changed", () => {
    expect(done({ before: () => undefined }).canUndo(1)).toBe(false);
    expect(done({ is_so: () => true }).canUndo(1)).toBe(false);
    expect(done({ is_so: ({ key }) => key === "valve" }).canUndo(1)).toBe(true);
  });

  test("that fails leaves the run done", () => {
    for (const outcome of ["not_sent", "unconfirmed", "unknown"] as const) {
      const bench = done();
      expect(brief(bench.give({ of: "undo", firing: 1 }))).toEqual(["undo 3"]);
      bench.ends(outcome);
      expect(brief(bench.ends(outcome)).at(-1)).toBe("says done undo");
      expect(bench.canUndo(1)).toBe(false);
    }
  });

  test("that brings back a part, or leaves all that was changed since, leaves it done too", () => {
    const part = done();
    part.give({ of: "undo", firing: 1 });
    part.ends("confirmed");
    expect(brief(part.ends("not_sent"))).toEqual(["says done undo"]);
    const kept = done();
    kept.give({ of: "undo", firing: 1 });
    kept.ends("not_sent", { kept: true });
    expect(brief(kept.ends("not_sent", { kept: true }))).toEqual(["notes done undo"]);
  });

  test("that fails leaves a run that had stopped as it was", () => {
    const bench = new Bench(two);
    bench.fire();
    bench.ends("confirmed");
    bench.ends("unconfirmed");
    bench.give({ of: "undo", firing: 1 });
    bench.ends("not_sent");
    expect(brief(bench.ends("not_sent"))).toEqual(["says stopped unconfirmed"]);
  });

  test("brings back nothing that was so before", () => {
    const bench = done({ is_so: ({ key }) => key === "lamp" });
    expect(brief(bench.give({ of: "undo", firing: 1 }))).toEqual(["undo 2"]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes undone undo"]);
  });

  test("of a run stays while those after it change nothing", () => {
    const bench = new Bench();
    bench.fire();
    bench.ends("confirmed");
    bench.around = { is_so: () => true };
    for (const firing of [2, 3]) {
      bench.fire();
      expect(bench.canUndo(1)).toBe(false);
      expect(bench.ends("confirmed").at(-1)).not.toHaveProperty("run.undo");
      expect([1, firing].map((one) => bench.canUndo(one))).toEqual([true, false]);
    }
    bench.fire();
    bench.ends("not_sent");
    bench.restart("none");
    expect(bench.canUndo(1)).toBe(true);
    expect(bench.give({ of: "undo", firing: 1 })).toMatchObject([
      { of: "undo", firing: 1, step: 1, before: { state: false } },
    ]);
    expect(brief(bench.ends("confirmed"))).toEqual(["notes undone undo"]);
    expect([1, 2, 3, 4].some((one) => bench.canUndo(one))).toBe(false);
  });

  test.each([
    ["changed something", false, "confirmed"],
    ["may have changed something", true, "unconfirmed"],
    ["was not confirmed by anything", true, "sent"],
  ] as const)("of a run is over where one after it %s", (_, isSo, outcome) => {
    const bench = new Bench();
    bench.fire();
    bench.ends("confirmed");
    bench.around = { is_so: () => isSo };
    bench.fire();
    bench.ends(outcome);
    expect(bench.canUndo(1)).toBe(false);
    expect(bench.give({ of: "undo", firing: 1 })).toEqual([]);
  });

  test("holds for a day after the run's end, also while those after it change nothing", () => {
    const bench = new Bench();
    bench.fire();
    bench.ends("confirmed");
    const ended = bench.at;
    bench.around = { is_so: () => true };
    bench.fire();
    bench.ends("confirmed");
    bench.pass(DAY_MS - (bench.at - ended));
    bench.restart("none", 0);
    expect(bench.canUndo(1)).toBe(true);
    bench.pass(1);
    expect(bench.canUndo(1)).toBe(false);
    expect(bench.give({ of: "undo", firing: 1 })).toEqual([]);
    expect(bench.state.run).toBeUndefined();
  });

  test("counts the day from the end, however long the run took", () => {
    const later = stepOf({ key: "fan", wait_minutes: 12 * 60 });
    const bench = new Bench({ do: [stepOf(), later], only_if: { presence: "nobody_home" } });
    bench.around = { presence: "nobody" };
    bench.fire();
    bench.ends("confirmed");
    bench.around = { presence: "somebody" };
    bench.pass(12 * HOUR_MS);
    expect(bench.state.run).toBeUndefined();
    bench.pass(DAY_MS);
    expect(bench.canUndo(1)).toBe(true);
    bench.pass(1);
    expect(bench.canUndo(1)).toBe(false);
  });

  test("is of no run that was undone, also while those after it change nothing", () => {
    const bench = new Bench();
    bench.fire();
    bench.ends("confirmed");
    bench.give({ of: "undo", firing: 1 });
    bench.ends("confirmed");
    bench.around = { is_so: () => true };
    bench.fire();
    bench.ends("confirmed");
    expect([1, 2].some((one) => bench.canUndo(one))).toBe(false);
  });
});

test("an end that brings back leaves what was so before, and the run is done", () => {
  const bench = new Bench({ over: "undo", do: [stepOf(), stepOf({ key: "fan" })] });
  bench.around = { is_so: ({ key }) => key === "fan" };
  bench.fire();
  bench.ends("confirmed");
  bench.ends("confirmed");
  expect(brief(bench.value(false))).toEqual(["undo 2"]);
  expect(brief(bench.ends("confirmed"))).toEqual(["notes undone over"]);
  const none = new Bench({ over: "undo" });
  none.around = { is_so: () => true };
  none.fire();
  none.ends("confirmed");
  expect(brief(none.value(false))).toEqual(["notes done over"]);
});

test("a state of the version before has no word on what was so before", () => {
  const bench = new Bench();
  bench.fire();
  bench.ends("confirmed");
  const { unchanged: _, ...last } = bench.state.last ?? expect.unreachable();
  const read = readAutomationState(JSON.parse(JSON.stringify({ ...bench.state, last })));
  expect(read).toMatchObject({ ok: true });
  if (read.ok) bench.state = read.value;
  expect(bench.canUndo(1)).toBe(true);
});

test("what comes true while a person's undo is carried out is counted, and costs no time", () => {
  const bench = new Bench();
  bench.fire();
  bench.ends("confirmed");
  bench.value(false);
  bench.give({ of: "undo", firing: 1 });
  bench.pass(2 * MINUTE_MS);
  bench.value(true);
  expect(nextDue(bench.rule, bench.state, around(bench.at))).toBeUndefined();
  expect(brief(bench.ends("confirmed"))).toEqual(["notes undone undo"]);
  expect(bench.state.counted).toBe(1);
  expect(brief(bench.pass(HOUR_MS))).toEqual([]);
});

test("a hold that ends while a person's undo is carried out waits for its end", () => {
  const bench = new Bench({ when: [conditionOf({ hold_ms: 5 * MINUTE_MS })] });
  bench.fire();
  bench.pass(5 * MINUTE_MS);
  bench.ends("confirmed");
  bench.value(false);
  bench.pass(MINUTE_MS);
  bench.value(true);
  bench.give({ of: "undo", firing: 1 });
  expect(brief(bench.pass(10 * MINUTE_MS))).toEqual([]);
  expect(nextDue(bench.rule, bench.state, around(bench.at))).toBeUndefined();
  expect(brief(bench.ends("confirmed"))).toEqual(["notes undone undo", "begun", "do 0"]);
});

describe("a start in the middle", () => {
  const steps = { do: [stepOf(), stepOf({ key: "fan" })] };
  const confirmed = { outcome: "confirmed" as const, text: "on" };

  test.each([
    ["before it began", "none", 5_000, ["do 0"]],
    ["before it began, long ago", "none", 10 * MINUTE_MS, ["says not_run late"]],
    ["after it began", "begun", 5_000, ["look 0", "says stopped unknown"]],
    ["after it was sent", "sent", 5_000, ["look 0"]],
    ["after its outcome", confirmed, 5_000, ["do 1"]],
    ["after its outcome, long ago", confirmed, HOUR_MS, ["says stopped late"]],
  ] as const)("%s", (_, says, ms, expected) => {
    const bench = new Bench(steps);
    bench.fire();
    expect(brief(bench.restart(says, ms))).toEqual(expected);
  });

  test("only_if is looked at again, and a clock that may be wrong is waited for", () => {
    const bench = new Bench({ ...steps, only_if: { presence: "nobody_home" } });
    bench.around = { presence: "nobody" };
    bench.fire();
    bench.around = { presence: "unknown", sure: false };
    expect(brief(bench.restart("none"))).toEqual([]);
    bench.around = { presence: "nobody", sure: false };
    expect(brief(bench.pass(MINUTE_MS))).toEqual([]);
    bench.around = { presence: "nobody" };
    expect(brief(bench.pass(1_000))).toEqual(["do 0"]);
  });

  test("a time that passed while it was off counts: a wait is late, and an end is carried out", () => {
    const bench = new Bench({ ...steps, over: "off", end: off, at_most_minutes: 30 });
    bench.fire();
    bench.ends("confirmed");
    bench.ends("confirmed");
    expect(brief(bench.restart("none", 3 * HOUR_MS))).toEqual(["do 2"]);
    const waiting = new Bench({ do: [stepOf(), stepOf({ wait_minutes: 20 })] });
    waiting.fire();
    waiting.ends("confirmed");
    expect(brief(waiting.restart("none", 25 * MINUTE_MS))).toEqual(["do 1"]);
    expect(brief(waiting.restart("none", 25 * MINUTE_MS))).toEqual(["says stopped late"]);
  });

  test("an end that came before its first action is told: nothing was done", () => {
    const ends = { ...steps, over: "off", end: off } as const;
    const off5 = new Bench({ ...ends, at_most_minutes: 5 });
    off5.fire();
    expect(brief(off5.restart("none", 6 * MINUTE_MS))).toEqual(["says not_run not_sent"]);
    const over = new Bench(ends);
    over.fire();
    over.around = { sure: false };
    over.restart("none");
    expect(brief([...over.value(false), ...over.pass(MINUTE_MS)])).toEqual(["says not_run not_sent"]);
    const waiting = new Bench({ ...ends, do: [stepOf({ wait_minutes: 20 })] });
    waiting.fire();
    waiting.restart("none");
    expect(brief([...waiting.value(false), ...waiting.pass(MINUTE_MS)])).toEqual(["notes not_run over"]);
  });

  test("a step that goes on before its end is carried out, however late", () => {
    const bench = new Bench({ over: "off", end: off });
    bench.fire();
    bench.ends("confirmed");
    bench.value(false);
    expect(brief(bench.restart("none", 5 * HOUR_MS))).toEqual(["do 1"]);
    expect(brief(bench.restart("sent", 5 * HOUR_MS))).toEqual(["look 1"]);
  });

  test("a state goes through a file at each of its steps", () => {
    const bench = new Bench({ ...steps, over: "undo", at_most_minutes: 30 });
    const check = () =>
      expect(readAutomationState(JSON.parse(JSON.stringify(bench.state)))).toMatchObject({ ok: true });
    bench.fire();
    check();
    bench.ends("confirmed");
    check();
    bench.ends("unconfirmed");
    check();
    bench.value(false);
    check();
  });
});

describe("a clock that is set", () => {
  test.each([-24 * HOUR_MS, -MINUTE_MS, 3 * HOUR_MS, 30 * 24 * HOUR_MS])(
    "by %i ms makes no hold, wait or end shorter",
    (by) => {
      const hold = conditionOf({ hold_ms: 5 * MINUTE_MS });
      const bench = new Bench({
        when: [hold],
        do: [stepOf({ wait_minutes: 5 })],
        over: "off",
        end: off,
        at_most_minutes: 9,
      });
      const set = () => {
        bench.at += by;
        return bench.give({ of: "clock_set", by });
      };
      bench.value(false);
      bench.pass(MINUTE_MS);
      bench.value(true);
      bench.pass(MINUTE_MS);
      expect(brief(set())).toEqual([]);
      expect(brief(bench.pass(4 * MINUTE_MS))).toEqual([]);
      expect(brief(bench.pass(MINUTE_MS))).toEqual(["begun"]);
      bench.pass(MINUTE_MS);
      expect(brief(set())).toEqual([]);
      expect(brief(bench.pass(4 * MINUTE_MS - 1))).toEqual([]);
      expect(brief(bench.pass(1))).toEqual(["do 0"]);
      bench.ends("confirmed");
      expect(brief(set())).toEqual([]);
      expect(brief(bench.pass(9 * MINUTE_MS - 1))).toEqual([]);
      expect(brief(bench.pass(1))).toEqual(["do 1"]);
    },
  );

  describe.each<[string, Partial<Automation>, number]>([
    ["an end by time", { over: "off", end: off, at_most_minutes: 30 }, 30 * MINUTE_MS],
    [
      "a heater's end",
      { do: [stepOf(heater)], over: "off", end: [stepOf(heater)], at_most_minutes: 30 },
      30 * MINUTE_MS,
    ],
    ["a wait", { do: [stepOf(), stepOf({ wait_minutes: 20 })] }, 20 * MINUTE_MS],
  ])("%s is when it was to be, once the clock is right", (_, rule, ms) => {
    test.each([
      ["a start with a clock that is behind", [-3 * HOUR_MS], [3 * HOUR_MS]],
      ["a start with a clock that is ahead", [10 * MINUTE_MS], [-10 * MINUTE_MS]],
      ["two starts", [-3 * HOUR_MS, 3 * HOUR_MS], []],
      ["a clock that is set in two steps", [-3 * HOUR_MS], [MINUTE_MS, 3 * HOUR_MS - MINUTE_MS]],
    ])("after %s", (_, starts, sets) => {
      const bench = new Bench(rule);
      bench.fire();
      bench.ends("confirmed");
      bench.around = { sure: false };
      for (const off of starts) expect(brief(bench.restart("none", MINUTE_MS + off))).toEqual([]);
      for (const by of sets) {
        bench.at += by;
        expect(brief(bench.give({ of: "clock_set", by }))).toEqual([]);
      }
      bench.around = { sure: true };
      const spent = starts.length * MINUTE_MS;
      expect(brief(bench.pass(ms - spent - MINUTE_MS))).toEqual([]);
      expect(brief(bench.pass(MINUTE_MS))).toEqual(["do 1"]);
    });
  });

  test("an end of a heater comes too early rather than too late", () => {
    const bench = new Bench({
      do: [stepOf(heater)],
      over: "off",
      end: [stepOf(heater)],
      at_most_minutes: 60,
    });
    bench.fire();
    bench.ends("confirmed");
    bench.at += 3 * HOUR_MS;
    expect(brief(bench.give({ of: "clock_set", by: 3 * HOUR_MS }))).toEqual(["do 1"]);
  });
});

describe("loops", () => {
  test("two rules that make each other run end after 3 runs", () => {
    const hold = conditionOf({ hold_ms: MINUTE_MS });
    const benches = [new Bench({ when: [hold], id: "a-0001" }), new Bench({ when: [hold], id: "a-0002" })];
    const [first, second] = benches;
    if (!first || !second) throw new Error("two");
    for (const bench of benches) bench.value(false);
    first.value(true);
    for (let minutes = 0; minutes < 600; minutes += 1)
      for (const [bench, other] of [
        [first, second],
        [second, first],
      ] as const) {
        for (const effect of bench.pass(MINUTE_MS)) {
          if (effect.of !== "do") continue;
          bench.ends("confirmed");
          // Its own condition ends, and the other one's begins.
          bench.value(false);
          other.value(true, 0, { own: true, led: [...effect.led, bench.rule.id] });
        }
      }
    const all = [...first.effects, ...second.effects];
    expect(all.filter(({ of }) => of === "begun")).toHaveLength(3);
    expect(brief(second.effects)).toContain("pause loop");
    expect(second.effects).toContainEqual({
      ...{ of: "pause", why: "loop" },
      led: ["a-0001", "a-0002", "a-0001", "a-0002"],
    });
  });

  test("any rules come to rest after what people did, and each has its end", () => {
    const state = fc.record({ device: fc.nat({ max: 2 }), value: fc.boolean() });
    const anyRule = fc.record({
      when: state,
      to: state,
      minutes: fc.constantFrom(0, 1, 3),
      over: fc.constantFrom("leave" as const, "off" as const),
    });
    const touched = fc.array(state, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(anyRule, { minLength: 1, maxLength: 4 }), touched, (rules, people) => {
        const benches = rules.map(({ when, to, minutes, over }, index) => ({
          reads: when.device,
          bench: new Bench({
            id: `a-000${index}`,
            when: [conditionOf({ value: when.value, hold_ms: minutes * MINUTE_MS })],
            do: [stepOf({ key: `${to.device}`, action: `${to.value}` })],
            end: [stepOf({ key: `${to.device}`, action: `${!to.value}` })],
            over,
          }),
        }));
        const values = [false, false, false];
        const set = (device: number, value: boolean, cause: { own?: boolean; led?: readonly string[] }) => {
          if (values[device] === value) return;
          values[device] = value;
          for (const { reads, bench } of benches) if (reads === device) bench.value(value, 0, cause);
        };
        /** Does what was given out. @returns how many runs began */
        const doAll = (bench: Bench): number => {
          const given = bench.effects.splice(0);
          for (const effect of given) {
            if (effect.of !== "do") continue;
            const { firing, step, action, led } = effect;
            set(Number(action.key), action.action === "true", { own: true, led: [...led, bench.rule.id] });
            bench.give({ of: "outcome", firing, step, outcome: "confirmed", text: "" });
          }
          const begun = given.filter(({ of }) => of === "begun").length;
          return bench.effects.length > 0 ? begun + doAll(bench) : begun;
        };
        const anHour = () => {
          let begun = 0;
          for (let minute = 0; minute < 60; minute += 1)
            for (const { bench } of benches) {
              bench.pass(MINUTE_MS);
              begun += doAll(bench);
            }
          return begun;
        };
        for (const { reads, bench } of benches) bench.value(values[reads]);
        anHour();
        for (const { device, value } of people) set(device, value, {});
        anHour();
        anHour();
        expect(anHour() + anHour()).toBe(0);
        for (const { bench } of benches) if (bench.state.run) expect(bench.state.run.phase).toBe("held");
      }),
      { numRuns: 200 },
    );
  });

  test("without a hold what rules did makes none run", () => {
    const bench = new Bench();
    bench.value(false);
    expect(bench.value(true, 0, { own: true, led: ["a-0009"] })).toEqual([]);
    expect(brief(bench.pass(HOUR_MS))).toEqual([]);
    expect(brief(bench.fire())).toEqual(["begun", "do 0"]);
  });
});
