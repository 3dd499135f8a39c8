import { describe, expect, test } from "vitest";
import type { RuleChange } from "../protocol/rules.ts";
import { DAY_MS, MINUTE_MS } from "../time/zone.ts";
import {
  acknowledge,
  type DeliveryRecord,
  deliveryDue,
  isLast,
  knownState,
  type Notice,
  newRecord,
  onChange,
  onDue,
  snooze,
} from "./delivery.ts";
import { heldUntil } from "./limits.ts";
import { bellOf, NOON, watchOf } from "./testkit/rules.ts";
import type { WatchRule } from "./watch-rule.ts";

const minutes = (n: number) => NOON + n * MINUTE_MS;

/** A rule in Home: what it says, with the minute. */
class Told {
  readonly rule: WatchRule;
  record: DeliveryRecord = newRecord();
  readonly said: Array<[minute: number, ...string[]]> = [];
  readonly notices: Notice[] = [];
  #seq = 0;
  #occurrence = 0;
  /** Nothing may be said before this minute. */
  heldTo: number | undefined;

  constructor(more: Partial<WatchRule> = {}, rule = watchOf(more)) {
    this.rule = rule;
  }

  fires(minute: number, more: Partial<RuleChange> = {}): RuleChange {
    this.#seq += 1;
    this.#occurrence = this.#seq;
    return this.take(minute, { state: "firing", since: minutes(minute), value: -11.4, ...more });
  }

  ends(minute: number, more: Partial<RuleChange> = {}): RuleChange {
    this.#seq += 1;
    return this.take(minute, { state: "idle", until: minutes(minute), value: -16, ...more });
  }

  unknown(minute: number): RuleChange {
    this.#seq += 1;
    return this.take(minute, { state: "unknown", since: minutes(minute) });
  }

  /** Says what comes due until then, each at its time. */
  until(minute: number): this {
    for (let due = this.#due(); due !== undefined && due <= minutes(minute); due = this.#due()) {
      const before = this.said.length;
      this.#said(due, onDue(this.rule, this.record, due, this.#held(due)));
      if (this.said.length === before) throw new Error("it was due, and nothing was said");
    }
    return this;
  }

  take(minute: number, more: Partial<RuleChange> & Pick<RuleChange, "state">): RuleChange {
    this.until(minute);
    const change = {
      rule: this.rule.id,
      version: 1,
      seq: this.#seq,
      occurrence: this.#occurrence,
      at: minutes(minute),
      ...more,
    };
    this.again(minute, change);
    return change;
  }

  again(minute: number, change: RuleChange): void {
    const at = minutes(minute);
    this.#said(at, onChange(this.rule, this.record, change, at, this.#held(at)));
  }

  #due(): number | undefined {
    return deliveryDue(this.rule, this.record, this.heldTo === undefined ? undefined : minutes(this.heldTo));
  }

  #held(at: number): number | undefined {
    return this.heldTo !== undefined && minutes(this.heldTo) > at ? minutes(this.heldTo) : undefined;
  }

  #said(at: number, { record, notices }: { record: DeliveryRecord; notices: Notice[] }): void {
    this.record = record;
    this.notices.push(...notices);
    for (const { kind } of notices) this.said.push([(at - NOON) / MINUTE_MS, kind]);
  }
}

test("a firing and its end: one message each, and nothing is due meanwhile", () => {
  const told = new Told();
  told.fires(0);
  expect(deliveryDue(told.rule, told.record)).toBeUndefined();
  told.ends(49);
  expect(told.said).toEqual([
    [0, "firing"],
    [49, "recovery"],
  ]);
  expect(told.notices).toMatchObject([
    { firing: { occurrence: 1, at: minutes(0), value: -11.4 }, count: 1 },
    { firing: { occurrence: 1, over: { at: minutes(49), until: minutes(49), value: -16 } } },
  ]);
  expect(deliveryDue(told.rule, told.record)).toBeUndefined();
});

test("a change that comes again says nothing, in whatever order", () => {
  const told = new Told();
  const first = told.fires(0);
  told.again(1, first);
  const end = told.ends(2);
  for (const change of [first, end, first]) told.again(3, change);
  expect(told.said).toEqual([
    [0, "firing"],
    [2, "recovery"],
  ]);
});

test("a record goes through a row", () => {
  const told = new Told({ repeat: "until_ack" });
  told.fires(0);
  told.until(20);
  told.unknown(21);
  // Home stores it as JSON.
  expect(JSON.parse(JSON.stringify(told.record))).toEqual(told.record);
  expect(told.record.fired.length).toBeLessThanOrEqual(10);
});

describe("each time", () => {
  test("within the cool-down firings are counted, and told together at its end", () => {
    const told = new Told();
    told.fires(0);
    told.ends(2);
    for (const minute of [5, 10, 15]) {
      told.fires(minute);
      told.ends(minute + 2);
    }
    told.fires(20);
    told.until(120);
    expect(told.said).toEqual([
      [0, "firing"],
      [2, "recovery"],
      [30, "firing"],
    ]);
    expect(told.notices[2]).toMatchObject({ count: 4, firstAt: minutes(5), firing: { at: minutes(20) } });
    // It goes on, so its end is told.
    told.ends(121);
    expect(told.said.at(-1)).toEqual([121, "recovery"]);
  });

  test("what was over before it was told has no message of its own for its end", () => {
    const told = new Told();
    told.fires(0);
    told.ends(2);
    told.fires(5);
    told.ends(6);
    told.until(DAY_MS);
    expect(told.said.map(([, kind]) => kind)).toEqual(["firing", "recovery", "firing"]);
    expect(told.notices[2]).toMatchObject({ count: 1, firing: { over: { at: minutes(6) } } });
  });

  test("after the cool-down the next one is told at once", () => {
    const told = new Told();
    told.fires(0);
    told.ends(2);
    told.fires(30);
    expect(told.said.at(-1)).toEqual([30, "firing"]);
  });
});

describe("until somebody answers", () => {
  const hours = Array.from({ length: 24 }, (_, hour) => (hour + 1) * 60);

  test("after 5, 15 and 30 minutes, then hourly for a day", () => {
    const told = new Told({ repeat: "until_ack" });
    told.fires(0);
    told.until(7 * 1_440);
    const repeats = told.said.filter(([, kind]) => kind === "repeat").map(([minute]) => minute);
    expect(repeats).toEqual([5, 15, 30, ...hours]);
    expect(told.said).toHaveLength(1 + 27);
  });

  test("an answer ends the repeats, and its end is still told", () => {
    const told = new Told({ repeat: "until_ack" });
    told.fires(0);
    told.until(20);
    const { record, result } = acknowledge(told.record, "Ann", minutes(21));
    told.record = record;
    expect([result, acknowledge(record, "Bo", minutes(22)).result]).toEqual(["acked", "already"]);
    told.until(1_440);
    told.ends(1_441);
    expect(told.said.map(([minute, kind]) => [minute, kind])).toEqual([
      [0, "firing"],
      [5, "repeat"],
      [15, "repeat"],
      [1_441, "recovery"],
    ]);
  });

  test("its end ends the repeats; an old button is answered, and changes nothing", () => {
    const told = new Told({ repeat: "until_ack" });
    told.fires(0);
    told.ends(7);
    told.until(1_440);
    expect(told.said.map(([, kind]) => kind)).toEqual(["firing", "repeat", "recovery"]);
    expect(acknowledge(told.record, "Ann", minutes(9))).toEqual({
      record: told.record,
      result: "over",
      more: 0,
    });
    expect(acknowledge(newRecord(), "Ann", minutes(9)).result).toBe("over");
  });

  test("an alarm that comes late says one repeat, not all that it missed", () => {
    const told = new Told({ repeat: "until_ack" });
    told.fires(0);
    const late = onDue(told.rule, told.record, minutes(59));
    expect(late.notices.map(({ kind }) => kind)).toEqual(["repeat"]);
    expect(deliveryDue(told.rule, late.record)).toBe(minutes(60));
  });

  test("a bell that rings on is counted in the repeats, and one answer is enough", () => {
    const told = new Told({}, bellOf({ repeat: "until_ack" }));
    for (const minute of [0, 1, 2, 3]) told.fires(minute);
    told.until(6);
    expect(told.said).toEqual([
      [0, "firing"],
      [5, "repeat"],
    ]);
    expect(told.notices[1]).toMatchObject({ more: 3, lastAt: minutes(3) });
    told.fires(7);
    const { record, more } = acknowledge(told.record, "Ann", minutes(8));
    expect(more).toBe(1);
    told.record = record;
    told.until(1_440);
    expect(told.said).toHaveLength(2);
    told.fires(1_441);
    expect(told.said.at(-1)).toEqual([1_441, "firing"]);
  });

  test("nobody answers for a quarter of an hour: the second recipient is told once", () => {
    const told = new Told({ repeat: "until_ack", then_to: { to: "owners", after_ms: 12 * MINUTE_MS } });
    told.fires(0);
    told.until(31);
    expect(told.said).toEqual([
      [0, "firing"],
      [5, "repeat"],
      [12, "escalation"],
      [15, "repeat"],
      [30, "repeat"],
    ]);
    const answered = new Told({ then_to: { to: "owners", after_ms: 12 * MINUTE_MS } });
    answered.fires(0);
    answered.record = acknowledge(answered.record, "Ann", minutes(1)).record;
    answered.until(60);
    expect(answered.said).toEqual([[0, "firing"]]);
  });
});

describe("snooze", () => {
  test("silent for the time, then once more if it goes on", () => {
    const told = new Told();
    told.fires(0);
    told.record = snooze(told.record, minutes(60));
    told.until(200);
    expect(told.said).toEqual([
      [0, "firing"],
      [60, "repeat"],
    ]);
  });

  test("of repeats: none before its end, and then as before", () => {
    const told = new Told({ repeat: "until_ack" });
    told.fires(0);
    told.until(6);
    told.record = snooze(told.record, minutes(70));
    told.until(125);
    expect(told.said.map(([minute]) => minute)).toEqual([0, 5, 70, 120]);
  });

  test("an end is told, and what fires again within the time waits for its end", () => {
    const told = new Told({ cooldown_ms: 0 });
    told.fires(0);
    told.record = snooze(told.record, minutes(60));
    told.ends(10);
    told.fires(20);
    told.until(100);
    expect(told.said).toEqual([
      [0, "firing"],
      [10, "recovery"],
      [60, "firing"],
    ]);
  });
});

describe("quiet hours and caps", () => {
  test("what is held is told once, at the end, with what became of it", () => {
    const told = new Told({ cooldown_ms: 0 });
    told.heldTo = 600;
    for (const minute of [10, 100, 200]) {
      told.fires(minute);
      told.ends(minute + 5);
    }
    expect([told.said, deliveryDue(told.rule, told.record, minutes(600))]).toEqual([[], minutes(600)]);
    told.until(600);
    expect(told.said).toEqual([[600, "firing"]]);
    expect(told.notices[0]).toMatchObject({ count: 3, firing: { over: { at: minutes(205) } } });
  });

  test("an end that is held comes before the next firing", () => {
    const told = new Told({ cooldown_ms: 0 });
    told.fires(0);
    told.heldTo = 600;
    told.ends(10);
    told.fires(20);
    told.until(700);
    expect(told.said).toEqual([
      [0, "firing"],
      [600, "recovery"],
      [600, "firing"],
    ]);
  });

  test("repeats wait too, and begin with the first message that was told", () => {
    const told = new Told({ repeat: "until_ack" });
    told.heldTo = 600;
    told.fires(0);
    told.until(616);
    expect(told.said.map(([minute]) => minute)).toEqual([600, 605, 615]);
  });
});

describe("a rule that fires ten times in an hour", () => {
  const flapping = () => {
    const told = new Told({ cooldown_ms: 0 });
    for (let n = 0; n < 10; n += 1) {
      told.fires(n * 4);
      told.ends(n * 4 + 2);
    }
    return told;
  };

  test("is muted, and says so once", () => {
    const told = flapping();
    expect(told.said.filter(([, kind]) => kind === "muted")).toEqual([[36, "muted"]]);
    expect(told.notices.at(-1)).toMatchObject({ kind: "muted", until: minutes(96) });
    const before = told.said.length;
    for (let n = 10; n < 20; n += 1) {
      told.fires(n * 4);
      told.ends(n * 4 + 2);
    }
    expect(told.said).toHaveLength(before);
  });

  test("says what it missed when it settles, and counts anew", () => {
    const told = flapping();
    told.fires(40);
    told.fires(44);
    told.until(54);
    // 10 min after the last change. The end of the muted one comes with it.
    expect(told.said.slice(-2)).toEqual([
      [54, "recovery"],
      [54, "firing"],
    ]);
    expect(told.notices.at(-1)).toMatchObject({ count: 2 });
    told.ends(60);
    told.fires(61);
    expect(told.said.slice(-2)).toEqual([
      [60, "recovery"],
      [61, "firing"],
    ]);
  });

  test("is not muted for longer than an hour", () => {
    const told = flapping();
    for (let minute = 40; minute < 96; minute += 4) {
      told.fires(minute);
      told.ends(minute + 2);
    }
    told.until(96);
    expect(told.said.at(-1)).toEqual([96, "firing"]);
  });
});

describe("without a value", () => {
  test("it is told once, and the next value too, where the rule says so", () => {
    const told = new Told({ tell_stale: true });
    told.unknown(0);
    told.take(60, { state: "idle", seq: 2, value: -18, occurrence: 0 });
    expect(told.said).toEqual([
      [0, "unknown"],
      [60, "back"],
    ]);
    const silent = new Told();
    silent.unknown(0);
    expect([silent.said, deliveryDue(silent.rule, silent.record)]).toEqual([[], undefined]);
  });

  test("a firing that comes back is not told again", () => {
    const told = new Told();
    const first = told.fires(0);
    told.unknown(10);
    told.take(20, { ...first, seq: 3, at: minutes(20) });
    told.until(1_440);
    expect(told.said).toEqual([
      [0, "firing"],
      [10, "unknown"],
      [20, "back"],
    ]);
  });

  test("while a told firing goes on it is said once, also where the rule does not say so", () => {
    const told = new Told({ cooldown_ms: 0 });
    const first = told.fires(0);
    told.unknown(10);
    told.take(20, { ...first, seq: 3, at: minutes(20) });
    told.take(30, { state: "unknown", seq: 4 });
    told.take(40, { state: "idle", seq: 5, since: minutes(0), until: minutes(40) });
    // Nothing fires now.
    told.take(50, { state: "unknown", seq: 6 });
    told.until(1_440);
    expect(told.said).toEqual([
      [0, "firing"],
      [10, "unknown"],
      [20, "back"],
      [40, "recovery"],
    ]);
    const next = told.take(1_500, { state: "firing", seq: 7, occurrence: 7 });
    told.take(1_510, { ...next, state: "unknown", seq: 8 });
    expect(told.said.slice(-2)).toEqual([
      [1_500, "firing"],
      [1_510, "unknown"],
    ]);
  });

  test("of a firing that is snoozed, of presence, or of a moment it is not said", () => {
    const told = new Told();
    told.fires(0);
    told.record = snooze(told.record, minutes(60));
    told.unknown(10);
    told.until(59);
    const offline = new Told({ is: "offline", type: "boolean", value: undefined });
    offline.fires(0);
    offline.unknown(10);
    const bell = new Told({}, bellOf());
    bell.fires(0);
    bell.unknown(10);
    for (const { said } of [told, offline, bell]) expect(said).toEqual([[0, "firing"]]);
  });

  test("a gap is told once, and the next one too where no change came between them", () => {
    const told = new Told({ tell_stale: true });
    told.unknown(10);
    told.take(12, { state: "unknown", seq: 2 });
    told.take(1_440, { state: "unknown", seq: 3, since: minutes(1_430) });
    expect(told.said).toEqual([
      [10, "unknown"],
      [1_440, "unknown"],
    ]);
  });

  test("the end of its hours is not a value", () => {
    const told = new Told({ tell_stale: true });
    told.fires(0);
    told.unknown(10);
    told.ends(60, { why: "window" });
    told.take(1_440, { state: "unknown", seq: 4, since: minutes(10) });
    told.until(3_000);
    expect(told.said).toEqual([
      [0, "firing"],
      [10, "unknown"],
    ]);
  });
});

test("another place of evaluation learns what was counted, and what goes on", () => {
  const told = new Told();
  expect(knownState(told.rule, told.record)).toEqual({ seq: 0, occurrence: 0 });
  told.fires(0);
  const open = { at: minutes(0), since: minutes(0) };
  expect(knownState(told.rule, told.record)).toEqual({ seq: 1, occurrence: 1, open });
  told.ends(5);
  expect(knownState(told.rule, told.record)).toEqual({ seq: 2, occurrence: 1 });
  // Within the cool-down.
  told.fires(6);
  expect(knownState(told.rule, told.record)).toMatchObject({
    seq: 3,
    occurrence: 3,
    open: { at: minutes(6) },
  });
  const bell = new Told({}, bellOf());
  bell.fires(0);
  expect(knownState(bell.rule, bell.record)).toEqual({ seq: 1, occurrence: 1 });
});

test("once: its end is not told, and the rule ends with its firing alone", () => {
  const told = new Told({ repeat: "once", tell_stale: true });
  told.heldTo = 30;
  told.unknown(0);
  told.fires(31);
  told.ends(61);
  expect(told.notices.map((notice) => [notice.kind, isLast(told.rule, notice)])).toEqual([
    ["unknown", false],
    ["firing", true],
  ]);
  expect(isLast({ repeat: "each_time" }, { kind: "firing" })).toBe(false);
});

describe.each([
  ["3 h", 180],
  ["1 year", 365 * 24 * 60],
])("O11: Home's clock is set back by %s", (_, by) => {
  test("a cool-down is over after its own time", () => {
    const rule = watchOf({ cooldown_ms: 30 * MINUTE_MS });
    const told = new Told({ cooldown_ms: 30 * MINUTE_MS });
    told.fires(0);
    told.ends(1);
    const change = { rule: rule.id, version: 1, seq: 9, occurrence: 9, state: "firing", value: -11 } as const;
    const at = minutes(5 - by);
    const { record, notices } = onChange(rule, told.record, { ...change, at, since: at }, at);
    expect(notices).toEqual([]);
    expect(deliveryDue(rule, record)).toBe(at + 30 * MINUTE_MS);
    expect(onDue(rule, record, at + 30 * MINUTE_MS).notices).toMatchObject([{ kind: "firing" }]);
  });

  test("what nobody has answered is repeated after its own time", () => {
    const rule = watchOf({ repeat: "until_ack" });
    const told = new Told({ repeat: "until_ack" });
    told.fires(0);
    const at = minutes(1 - by);
    const { record } = onDue(rule, told.record, at);
    const due = deliveryDue(rule, record) ?? 0;
    expect(due - at).toBeGreaterThan(0);
    expect(due - at).toBeLessThanOrEqual(15 * MINUTE_MS);
  });

  test("messages of the time to come count against no limit", () => {
    const sent = Array.from({ length: 60 }, (_, n) => ({ at: NOON + n, critical: false }));
    expect(heldUntil({ sent }, "info", minutes(-by))).toBeUndefined();
  });
});
