import { expect, test } from "vitest";
import { HeldPlace, Semaphore } from "./semaphore.ts";

const never = new AbortController().signal;

test("at most this many at once, the others in order", async () => {
  const semaphore = new Semaphore(1);
  const first = await semaphore.acquire(never);
  const order: string[] = [];
  const waiting = ["a", "b"].map(async (name) => {
    const release = await semaphore.acquire(never);
    order.push(name);
    release();
  });
  expect(order).toEqual([]);
  first();
  await Promise.all(waiting);
  expect(order).toEqual(["a", "b"]);
});

test("a waiter that gives up leaves the queue, and no slot is lost", async () => {
  const semaphore = new Semaphore(1);
  const first = await semaphore.acquire(never);
  const control = new AbortController();
  const gone = semaphore.acquire(control.signal);
  const next = semaphore.acquire(never);
  control.abort(new Error("too late"));
  await expect(gone).rejects.toThrow("too late");
  first();
  first();
  (await next)();
  (await semaphore.acquire(never))();
});

test("a place that is left is another's, and is waited for again", async () => {
  const semaphore = new Semaphore(1);
  const mine = await HeldPlace.acquire(semaphore, never);
  const [back, alsoBack] = [mine.leave(), mine.leave()];
  const other = await semaphore.acquire(never);
  await alsoBack();
  let isBack = false;
  const coming = back().then(() => {
    isBack = true;
  });
  await Promise.resolve();
  expect(isBack).toBe(false);
  other();
  await coming;
  expect(semaphore.waiting).toBe(0);
  const next = semaphore.acquire(never);
  expect(semaphore.waiting).toBe(1);
  mine.end();
  (await next)();
});

test("two that wait for each other do not block each other, and no place is lost when a command ends meanwhile", async () => {
  const semaphore = new Semaphore(1);
  const control = new AbortController();
  const mine = await HeldPlace.acquire(semaphore, control.signal);
  const back = mine.leave();
  const other = await semaphore.acquire(never);
  const coming = back();
  control.abort(new Error("cancelled"));
  await expect(coming).rejects.toThrow("cancelled");
  mine.end();
  other();
  (await semaphore.acquire(never))();
});
