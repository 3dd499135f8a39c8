/** From values to messages: what holds for every rule, every series, and whatever is sent twice, held back or answered. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RuleChange } from "../protocol/rules.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { acknowledge, deliveryDue, type Notice, newRecord, onChange, onDue } from "./delivery.ts";
import { anyRule, LATER, NOON, runWithTicks, series } from "./testkit/rules.ts";
import type { WatchRule } from "./watch-rule.ts";

/** Of one day, in minutes from noon: nothing may be said. */
const quiet = fc.option(
  fc.tuple(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 1, max: 600 })).map(([from, length]) => ({
    from: NOON + from * MINUTE_MS,
    to: NOON + (from + length) * MINUTE_MS,
  })),
  { nil: undefined },
);

/**
 * How the changes reach Home.
 * @property delay how late each is, in ms
 * @property again how often each is sent
 * @property answered after which change somebody answers
 */
const ways = fc.record({
  delay: fc.constantFrom(0, MINUTE_MS, 2 * HOUR_MS),
  again: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 10 }),
  answered: fc.option(fc.nat({ max: 20 }), { nil: undefined }),
  quiet,
});
type Way = typeof ways extends fc.Arbitrary<infer Of> ? Of : never;

/** Far more than repeats and pauses of one change. */
const LOOKS_MAX = 500;

type Said = { at: number; notice: Notice };

/** Home, which is woken at each due time. @returns what it said, and the firings that an answer covered unsaid */
function home(rule: WatchRule, changes: readonly RuleChange[], way: Way): { said: Said[]; answered: number } {
  let record = newRecord();
  // A change may be due before the one that came late, and Home's clock goes on.
  let now = NOON;
  const said: Said[] = [];
  let answered = 0;
  const held = (at: number) =>
    way.quiet && way.quiet.from <= at && at < way.quiet.to ? way.quiet.to : undefined;
  const take = (at: number, decision: ReturnType<typeof onDue>) => {
    record = decision.record;
    for (const notice of decision.notices) said.push({ at, notice });
  };
  const wake = (until: number) => {
    for (let looks = 0; ; looks += 1) {
      if (looks > LOOKS_MAX) throw new Error(`it does not come to rest: ${JSON.stringify(record)}`);
      const due = deliveryDue(rule, record, held(now));
      if (due === undefined || due > until) return;
      now = Math.max(now, due);
      const before = said.length;
      take(now, onDue(rule, record, now, held(now)));
      // Else it is held: the next look is at the end of that.
      if (said.length === before) expect(held(now)).toBeGreaterThan(now);
    }
  };
  changes.forEach((change, n) => {
    const at = change.at + way.delay;
    wake(at - 1);
    now = at;
    const times = way.again[n % way.again.length] ?? 1;
    // A repeat of this one and of the one before, as after a lost acknowledgement.
    for (const one of [...Array<RuleChange>(times).fill(change), changes[n - 1] ?? change])
      take(at, onChange(rule, record, one, at, held(at)));
    if (way.answered === n) {
      const answer = acknowledge(record, "Ann", at);
      record = answer.record;
      answered += answer.more;
    }
  });
  wake(LATER);
  return { said, answered };
}

const firings = (changes: readonly RuleChange[]) => {
  const seen = new Set<number>();
  return changes.filter(({ state, occurrence }) => {
    if (state !== "firing" || seen.has(occurrence)) return false;
    seen.add(occurrence);
    return true;
  });
};
const isFirst = ({ notice }: Said) => notice.kind === "firing" || notice.kind === "muted";
const REPEATS = 27;

test("messages are never more than changes and repeats; no firing is told twice, and each one is told", () => {
  fc.assert(
    fc.property(anyRule, series, ways, (rule, inputs, way) => {
      const { changes } = runWithTicks(rule, inputs, LATER - 7 * DAY_MS);
      const { said, answered } = home(rule, changes, way);
      const repeats = said.filter(({ notice }) => notice.kind === "repeat");
      const escalations = said.filter(({ notice }) => notice.kind === "escalation");
      expect(said.length - repeats.length - escalations.length).toBeLessThanOrEqual(changes.length);

      // Each first message names another firing, and no end is told twice, or without its beginning.
      const first = said
        .filter(isFirst)
        .map(({ notice }) => ("firing" in notice ? notice.firing.occurrence : 0));
      expect(new Set(first).size).toBe(first.length);
      const ends = said.flatMap(({ notice }) =>
        notice.kind === "recovery" ? [notice.firing.occurrence] : [],
      );
      expect(new Set(ends).size).toBe(ends.length);
      // An answer takes along what was not told yet.
      if (answered === 0) for (const end of ends) expect(first).toContain(end);
      for (const occurrence of first)
        expect(firings(changes).map((change) => change.occurrence)).toContain(occurrence);

      // Nothing is lost: all that fired is counted in some message, or in an answer.
      const counted = said.reduce(
        (sum, { notice }) =>
          sum + ("count" in notice ? notice.count : notice.kind === "repeat" ? notice.more : 0),
        0,
      );
      const happened = firings(changes).reduce((sum, { count = 1 }) => sum + count, 0);
      expect(counted + answered).toBe(happened);

      // Repeats are only those that the rule asks for.
      if (rule.repeat !== "until_ack") expect(repeats).toEqual([]);
      for (const occurrence of first) {
        const own = repeats.filter(
          ({ notice }) => "firing" in notice && notice.firing.occurrence === occurrence,
        );
        expect(own.length).toBeLessThanOrEqual(REPEATS);
      }
      if (!rule.then_to) expect(escalations).toEqual([]);
      expect(escalations.length).toBeLessThanOrEqual(first.length + (answered > 0 ? 1 : 0));

      // Nothing is said in the quiet time.
      for (const { at } of said)
        expect(way.quiet && way.quiet.from <= at && at < way.quiet.to).not.toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("between two messages about firings of `each_time` is the cool-down", () => {
  fc.assert(
    fc.property(anyRule, series, ways, (rule, inputs, way) => {
      const each: WatchRule = { ...rule, repeat: "each_time", cooldown_ms: 30 * MINUTE_MS };
      const { changes } = runWithTicks(each, inputs, LATER - 7 * DAY_MS);
      const { said } = home(each, changes, { ...way, answered: undefined });
      const times = said.filter(({ notice }) => notice.kind === "firing").map(({ at }) => at);
      for (const [n, at] of times.entries())
        expect(at - (times[n - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(30 * MINUTE_MS);
    }),
    { numRuns: 200 },
  );
});

test("what is sent twice, or later, tells the same", () => {
  fc.assert(
    fc.property(anyRule, series, ways, (rule, inputs, way) => {
      const { changes } = runWithTicks(rule, inputs, LATER - 7 * DAY_MS);
      const once = home(rule, changes, { ...way, again: [1] });
      expect(home(rule, changes, way)).toEqual(once);
    }),
    { numRuns: 200 },
  );
});
