import fc from "fast-check";
import { expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { runBatch } from "./batch.ts";

test("no call, and one call", async () => {
  expect(await runBatch([], { maxParallel: 5 }, () => expect.fail("was run"))).toEqual([]);
  expect(await runBatch(["a"], { maxParallel: 5 }, async (call) => call.toUpperCase())).toEqual(["A"]);
});

test("property: at most the limit at once, all of them, each result in its call's place", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 12 }),
      fc.integer({ min: 0, max: 6 }),
      async (ticks, max) => {
        let running = 0;
        let most = 0;
        const calls = ticks.map((wait, id) => ({ wait, id }));
        const results = await runBatch(calls, { maxParallel: max }, async ({ wait, id }) => {
          running += 1;
          most = Math.max(most, running);
          for (let tick = 0; tick < wait; tick += 1) await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
          return id;
        });
        expect(results).toEqual(calls.map(({ id }) => id));
        expect(most).toBe(Math.min(Math.max(1, max), calls.length));
      },
    ),
    { numRuns: 50 },
  );
});

test("after a cancel no call is started, and running calls are waited for", async () => {
  const stop = new AbortController();
  const open = new Map<number, () => void>();
  const batch = runBatch([0, 1, 2, 3], { maxParallel: 2, signal: stop.signal }, async (id) => {
    await new Promise<void>((resolve) => open.set(id, resolve));
    return id;
  });
  await until(() => open.size === 2);
  stop.abort();
  open.get(1)?.();
  open.get(0)?.();
  expect(await batch).toEqual([0, 1, undefined, undefined]);
  expect(open.size).toBe(2);
});

test("cancelled before the start: nothing is run, single or not", async () => {
  const signal = AbortSignal.abort();
  for (const calls of [[1], [1, 2]]) {
    const results = await runBatch(calls, { maxParallel: 2, signal }, () => expect.fail("was run"));
    expect(results).toEqual(calls.map(() => undefined));
  }
});

test("an exception of a call is thrown after the others have ended, and no more calls are started", async () => {
  const ran: number[] = [];
  const slow = Promise.withResolvers<void>();
  const batch = runBatch([0, 1, 2], { maxParallel: 2 }, async (id) => {
    if (id === 0) throw new Error("no");
    await slow.promise;
    ran.push(id);
  });
  slow.resolve();
  await expect(batch).rejects.toThrow("no");
  expect(ran).toEqual([1]);
});

test("a call waits until it is ready, and others pass it", async () => {
  const began: string[] = [];
  const ended = new Set<string>();
  const after: Record<string, string> = { a: "c", b: "a" };
  const results = await runBatch(
    ["a", "b", "c", "d"],
    { maxParallel: 1, isReady: (call) => after[call] === undefined || ended.has(after[call]) },
    async (call) => {
      began.push(call);
      await Promise.resolve();
      ended.add(call);
      return call;
    },
  );
  expect(began).toEqual(["c", "a", "b", "d"]);
  expect(results).toEqual(["a", "b", "c", "d"]);
});

test("a call that never is ready is not started, and no other call waits for it", async () => {
  const isReady = (call: number) => call !== 1;
  expect(await runBatch([0, 1, 2], { maxParallel: 2, isReady }, async (call) => call)).toEqual([
    0,
    undefined,
    2,
  ]);
  expect(await runBatch([1], { maxParallel: 2, isReady }, async (call) => call)).toEqual([undefined]);
});

test("L14: a call that waits for a person leaves its place, and holds no other up", async () => {
  const approved = Promise.withResolvers<void>();
  const asking: number[] = [];
  const calls = Array.from({ length: 60 }, (_, at) => at);
  const batch = runBatch(calls, { maxParallel: 5 }, async (call, slot) => {
    await Promise.resolve();
    const comeBack = slot.leave();
    asking.push(call);
    await approved.promise;
    comeBack();
    return call;
  });
  await until(() => asking.length === 60);
  approved.resolve();
  expect(await batch).toEqual(calls);
});
