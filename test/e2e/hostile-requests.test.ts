/** A few of the many requests that `npm run hostile` sends: those of a fixed seed, and those of a new one each time. */
import { describe, expect, test } from "vitest";
import { judge } from "../hostile/judge.ts";
import { FIXED } from "../hostile/kinds/fixed.ts";
import { runHostile } from "../hostile/run.ts";

const REQUESTS = 3_000;

describe("no 5xx, no turn, no unexpected row, no growing heap", () => {
  // A fault is printed with its seed: `npm run hostile -- --requests 500 --seed SEED` sends the same requests again.
  test.each([1, Math.floor(Math.random() * 1_000_000)])("seed %d", { timeout: 180_000 }, async (seed) => {
    const result = await runHostile({ requests: REQUESTS, seed });
    expect(judge(result, REQUESTS), `seed ${seed}`).toEqual([]);
    const sent = Object.values(result.kinds).reduce((sum, kind) => sum + kind.sent, 0);
    expect(sent).toBe(REQUESTS + FIXED.length);
    // Of one turn, in which a reminder was made.
    expect(result.rows.before["Conversation.entry"]).toBe(4);
  });
});
