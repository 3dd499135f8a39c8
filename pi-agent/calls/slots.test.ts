import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

const never = new AbortController().signal;

test("so many at once, the others in order", async () => {
  const slots = new Slots(1);
  const first = await slots.take(never);
  const order: string[] = [];
  const waiting = ["a", "b"].map(async (name) => {
    const release = await slots.take(never);
    order.push(name);
    release();
  });
  expect(order).toEqual([]);
  first();
  await Promise.all(waiting);
  expect(order).toEqual(["a", "b"]);
});

test("one that gives up leaves the line, and loses nobody a slot", async () => {
  const slots = new Slots(1);
  const first = await slots.take(never);
  const control = new AbortController();
  const gone = slots.take(control.signal);
  const next = slots.take(never);
  control.abort(new Error("too late"));
  await expect(gone).rejects.toThrow("too late");
  first();
  first();
  (await next)();
  (await slots.take(never))();
});
