import fc from "fast-check";
import { expect, test } from "vitest";
import { type LockNeed, Locks } from "./locks.ts";

/** Lets every promise settle that can. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Work that runs until it is told to end. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let started = 0;
  return {
    work: () => {
      started += 1;
      return promise;
    },
    end: resolve,
    started: () => started > 0,
    times: () => started,
  };
}

function begin(locks: Locks, need: LockNeed, signal?: AbortSignal) {
  const it = held();
  const done = locks.run(need, signal, it.work);
  return { ...it, done };
}

const FREE = { alone: false };
const ALONE = { alone: true };
const KEY = { alone: false, key: "/home/a" };

test("work returns its value, and its exceptions", async () => {
  const locks = new Locks();
  expect(await locks.run(KEY, undefined, async () => 7)).toBe(7);
  const failing = locks.run(KEY, undefined, async () => {
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await locks.run(KEY, undefined, async () => 8)).toBe(8);
});

test("the same key: one after another; other keys, and none: at once", async () => {
  const locks = new Locks();
  const [first, second, other, none] = [KEY, KEY, { alone: false, key: "b" }, FREE].map((need) =>
    begin(locks, need),
  );
  await settle();
  expect([first, second, other, none].map((it) => it?.started())).toEqual([true, false, true, true]);
  first?.end();
  await settle();
  expect(second?.started()).toBe(true);
});

test("exclusive work waits for those before it and blocks those behind it", async () => {
  const locks = new Locks();
  const before = begin(locks, FREE);
  const alone = begin(locks, ALONE);
  const behind = begin(locks, FREE);
  await settle();
  expect([before.started(), alone.started(), behind.started()]).toEqual([true, false, false]);
  before.end();
  await settle();
  expect([alone.started(), behind.started()]).toEqual([true, false]);
  alone.end();
  await settle();
  expect(behind.started()).toBe(true);
});

test("an abort gives up the place, and those behind it continue", async () => {
  const locks = new Locks();
  const before = begin(locks, FREE);
  const stop = new AbortController();
  const alone = begin(locks, ALONE, stop.signal);
  const behind = begin(locks, FREE);
  stop.abort(new Error("not any more"));
  await expect(alone.done).rejects.toThrow("not any more");
  await settle();
  expect([alone.started(), behind.started(), before.started()]).toEqual([false, true, true]);
});

test("aborted before, or between the grant and the start: work is not called and the lock is free", async () => {
  const locks = new Locks();
  await expect(locks.run(KEY, AbortSignal.abort("over"), async () => expect.fail("was run"))).rejects.toBe(
    "over",
  );
  const stop = new AbortController();
  const granted = locks.run(KEY, stop.signal, async () => expect.fail("was run"));
  stop.abort("over");
  await expect(granted).rejects.toBe("over");
  expect(await locks.run(ALONE, undefined, async () => "free")).toBe("free");
});

test("an abort after the start is left to the work", async () => {
  const locks = new Locks();
  const stop = new AbortController();
  const it = begin(locks, KEY, stop.signal);
  const next = begin(locks, KEY);
  await settle();
  stop.abort("over");
  await settle();
  expect(next.started()).toBe(false);
  it.end();
  await it.done;
  await settle();
  expect(next.started()).toBe(true);
});

test("any order of calls, ends and aborts: a key has one holder, exclusive work runs alone, all end, in order", async () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant("call" as const),
      alone: fc.boolean(),
      key: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
    }),
    fc.record({ do: fc.constantFrom("end" as const, "abort" as const), which: fc.nat(20) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const locks = new Locks();
      type It = LockNeed & { id: number; stop: AbortController; end?: () => void; state: string };
      const all: It[] = [];
      const startedOf = new Map<string, number[]>();

      const look = () => {
        const running = all.filter((it) => it.state === "runs");
        if (running.some((it) => it.alone)) expect(running).toHaveLength(1);
        const keys = running.flatMap((it) => it.key ?? []);
        expect(new Set(keys).size).toBe(keys.length);
      };
      const call = (need: LockNeed) => {
        const it: It = { ...need, id: all.length, stop: new AbortController(), state: "waits" };
        all.push(it);
        locks
          .run(need, it.stop.signal, async () => {
            it.state = "runs";
            look();
            if (it.key) startedOf.set(it.key, [...(startedOf.get(it.key) ?? []), it.id]);
            await new Promise<void>((resolve) => {
              it.end = resolve;
            });
          })
          .then(
            () => {
              it.state = "ended";
            },
            () => {
              it.state = "gave up";
            },
          );
      };

      for (const next of steps) {
        const chosen = next.do === "call" ? undefined : all[next.which];
        if (next.do === "call") call({ alone: next.alone, ...(next.key && { key: next.key }) });
        else if (next.do === "end") chosen?.end?.();
        else if (chosen?.state === "waits") chosen.stop.abort("stop");
        if (next.do !== "call") await settle();
      }
      for (let rounds = 0; all.some((it) => it.state === "waits" || it.state === "runs"); rounds += 1) {
        if (rounds > all.length + 1) expect.fail("somebody waits for ever");
        for (const it of all) it.end?.();
        await settle();
      }
      for (const ids of startedOf.values()) expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      const done = all.filter((it) => it.stop.signal.aborted).map((it) => it.state);
      expect(done.every((state) => state === "gave up" || state === "ended")).toBe(true);
    }),
    { numRuns: 150 },
  );
});
