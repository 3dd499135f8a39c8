import { expect, test } from "vitest";
import { Gate } from "./gate.ts";

/** Checks if a promise has settled after all pending work. */
async function isIn(entered: Promise<unknown>): Promise<boolean> {
  const waiting = Symbol("waiting");
  const settled = new Promise((resolve) => setImmediate(() => resolve(waiting)));
  return (await Promise.race([entered, settled])) !== waiting;
}

test("faults at different targets run at once, faults at one target run in turn", async () => {
  const gate = new Gate();
  const leave = await gate.enter("worker", false);
  expect(await isIn(gate.enter("bridge", false))).toBe(true);
  const second = gate.enter("worker", false);
  expect(await isIn(second)).toBe(false);
  leave();
  expect(await isIn(second)).toBe(true);
});

test("a fault that runs alone waits for all others, and all others wait for it", async () => {
  const gate = new Gate();
  const leaveFirst = await gate.enter("worker", false);
  const alone = gate.enter("broker", true);
  const after = gate.enter("bridge", false);
  expect(await isIn(alone)).toBe(false);
  leaveFirst();
  const leaveAlone = await alone;
  expect(await isIn(after)).toBe(false);
  leaveAlone();
  expect(await isIn(after)).toBe(true);
});
