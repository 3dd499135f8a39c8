/** What holds for every rule and every series of values. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { initialState, isTrue, nextDue, readState, restarted, step } from "./evaluate.ts";
import { anyRule, LATER, run, runWithTicks, series } from "./testkit/rules.ts";
import { readValue } from "./value.ts";
import { isMomentary } from "./watch-rule.ts";
import { isInside } from "./window.ts";

const RUNS = { numRuns: 300 };
const level = anyRule.filter((rule) => !isMomentary(rule));

describe("over random series and rules", () => {
  test("it fires only on a value that says so, known for the whole hold; without a value it neither fires nor is over", () => {
    fc.assert(
      fc.property(level, series, (rule, inputs) => {
        let state = initialState(inputs[0]?.at ?? 0);
        /** Since when every value has been true, and when the last one came; undefined: the last one was not, or there is none. */
        let trueSince: number | undefined;
        let lastAt = 0;
        let isMissing = false;
        for (const input of inputs) {
          const value = "value" in input ? readValue(input, rule.type, rule.unit) : undefined;
          const isOpen = !rule.only_between || isInside(rule.only_between, input.at);
          if (value !== undefined) {
            trueSince = isTrue(rule, value) ? (trueSince ?? input.at) : undefined;
            lastAt = input.at;
          }
          if (!("tick" in input)) isMissing = value === undefined;
          const before = state.occurrence;
          const next = step(rule, state, input);
          state = next.state;
          if (next.change?.until !== undefined) expect(isMissing).toBe(false);
          if (next.change?.state !== "firing" || next.change.occurrence === before) continue;
          expect(isMissing).toBe(false);
          expect(isOpen).toBe(true);
          expect(trueSince).toBeLessThanOrEqual(input.at - rule.hold_ms);
          if (rule.stale_ms !== undefined) expect(input.at - lastAt).toBeLessThan(rule.stale_ms);
        }
      }),
      RUNS,
    );
  });

  test("firings and ends take turns, and each has a number of its own", () => {
    fc.assert(
      fc.property(level, series, (rule, inputs) => {
        const { changes } = runWithTicks(rule, inputs, LATER);
        let open: number | undefined;
        let seq = 0;
        let told = new Set<number>();
        for (const change of changes) {
          expect(change.seq).toBe(seq + 1);
          seq = change.seq;
          if (change.state === "firing" && change.occurrence !== open) {
            expect(open).toBeUndefined();
            expect(told.has(change.occurrence)).toBe(false);
            told = told.add(change.occurrence);
            open = change.occurrence;
          }
          if (change.state === "idle" && change.since !== undefined) {
            expect(change.occurrence).toBe(open);
            open = undefined;
          }
        }
      }),
      RUNS,
    );
  });

  test("moments are counted, each in one change", () => {
    fc.assert(
      fc.property(
        anyRule.filter(({ is, repeat }) => is === "happens" && repeat !== "once"),
        series,
        (rule, inputs) => {
          const { changes } = runWithTicks(rule, inputs, LATER);
          const happened = inputs.filter((input) => {
            if (!("value" in input) || (rule.only_between && !isInside(rule.only_between, input.at)))
              return false;
            const value = readValue(input, rule.type, rule.unit);
            return value !== undefined && isTrue(rule, value) && !input.own;
          });
          const counted = changes.reduce((sum, { count = 0 }) => sum + count, 0);
          expect(counted).toBe(happened.length);
        },
      ),
      RUNS,
    );
  });

  test("nothing changes before the time that it names, and it comes to rest", () => {
    fc.assert(
      fc.property(anyRule, series, fc.double({ min: 0, max: 1, noNaN: true }), (rule, inputs, part) => {
        let { state } = run(rule, inputs);
        for (let ticks = 0; ; ticks += 1) {
          const due = nextDue(rule, state);
          if (due === undefined || ticks > 200) break;
          const early = Math.floor(state.at + (due - state.at) * part);
          if (early < due) expect(step(rule, state, { at: early, tick: true }).change).toBeUndefined();
          state = step(rule, state, { at: due, tick: true }).state;
          // A rule of some hours of the day has two times a day for as long as something waits.
          if (!rule.only_between) expect(ticks).toBeLessThan(5);
        }
      }),
      RUNS,
    );
  });

  test("a state goes through a file, and after a restart the same values tell nothing again", () => {
    fc.assert(
      fc.property(level, series, (rule, inputs) => {
        const { state } = runWithTicks(rule, inputs, LATER);
        const stored = readState(JSON.parse(JSON.stringify(state)));
        expect(stored).toEqual({ ok: true, value: state });
        if (state.last === undefined || state.missing !== undefined || state.unknown) return;
        const again = { at: LATER + 1, value: state.last.value };
        const { changes } = runWithTicks(rule, [again], LATER + 1);
        if (!state.open || changes.length === 0) return;
        // A state that is thrown away would fire; the stored one does not.
        expect(run(rule, [again], restarted(state, LATER)).changes).toEqual([]);
      }),
      RUNS,
    );
  });
});
