import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.ts";

const never = new AbortController().signal;

test("at most this many at once, the others in order", async () => {
  const semaphore = new Semaphore(1);
  const first = await semaphore.take(never);
  const order: string[] = [];
  const waiting = ["a", "b"].map(async (name) => {
    const release = await semaphore.take(never);
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
  const first = await semaphore.take(never);
  const control = new AbortController();
  const gone = semaphore.take(control.signal);
  const next = semaphore.take(never);
  control.abort(new Error("too late"));
  await expect(gone).rejects.toThrow("too late");
  first();
  first();
  (await next)();
  (await semaphore.take(never))();
});
