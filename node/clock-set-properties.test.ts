/** Properties of a rule with a hold that are true whenever its machine's clock is set, the machine sleeps, and the program starts again. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { WatchCondition } from "@edgecall/core/protocol/rules.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { WatchedRules } from "./watched-rules.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ID = "w-0001";

/** Passes: time goes on. Set: the clock is set, which the program cannot tell from a sleep. */
const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ passes: fc.integer({ min: 0, max: 4 * MINUTE }) }) },
  { weight: 1, arbitrary: fc.record({ set: fc.integer({ min: -DAY, max: 30 * DAY }) }) },
  { weight: 1, arbitrary: fc.record({ set: fc.integer({ min: -MINUTE, max: MINUTE }) }) },
  { weight: 4, arbitrary: fc.constant({ value: -11 }) },
  { weight: 2, arbitrary: fc.constantFrom({ value: -18 }, { value: -18 }, { missing: true }) },
  { weight: 1, arbitrary: fc.constant({ restart: true }) },
);
type Event =
  | { passes: number }
  | { set: number }
  | { value: number }
  | { missing: boolean }
  | { restart: boolean };

const hold = fc.integer({ min: 1, max: 8 * MINUTE });

test("no hold ends early: the value was so for as long by the steady clock", async () => {
  let firings = 0;
  const path = join(mkdtempSync(join(tmpdir(), "clock-set-")), "rules.json");
  await fc.assert(
    fc.asyncProperty(
      hold,
      fc.array(event, { minLength: 40, maxLength: 80 }),
      async (hold_ms, events: Event[]) => {
        let steady = 0;
        let wall = 1_800_000_000_000;
        const open = () =>
          WatchedRules.open({
            path,
            place: z.object({}),
            max: 1,
            log: () => {},
            onChanges: () => {},
            clock: { now: () => steady, wall: () => wall },
          });
        let rules = await open();
        await rules.change({ set: [{ condition: condition(hold_ms), place: {} }], drop: [], all: true });
        /** Since when the value is so, by the steady clock. */
        let since: number | undefined;
        const isFiring = () => [...rules.all()][0]?.state.open !== undefined;
        for (const event of events) {
          const before = isFiring();
          if ("passes" in event) {
            steady += event.passes;
            wall += event.passes;
            rules.step(ID, { tick: true });
          } else if ("set" in event) {
            wall += event.set;
            rules.step(ID, { tick: true });
          } else if ("restart" in event) {
            await rules.stop();
            rules = await open();
            if (!isFiring()) since = undefined;
          } else if ("value" in event) {
            since = event.value === -11 ? (since ?? steady) : undefined;
            rules.step(ID, { value: event.value });
          } else rules.step(ID, { missing: true });
          if (before || !isFiring()) continue;
          firings += 1;
          expect(since).toBeLessThanOrEqual(steady - hold_ms);
        }
        await rules.change({ set: [], drop: [ID] });
        await rules.stop();
      },
    ),
    { numRuns: 80 },
  );
  expect(firings).toBeGreaterThan(30);
});

function condition(hold_ms: number): WatchCondition {
  return {
    id: ID,
    version: 1,
    reading: "temperature",
    type: "number",
    is: "above",
    value: -15,
    hysteresis: 0.3,
    hold_ms,
    clear_hold_ms: 0,
    repeat: "each_time",
    tell_own: false,
  };
}
