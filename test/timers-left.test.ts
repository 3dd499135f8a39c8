import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { timersLeftBy } from "./timers-left.ts";

test("timers that work leaves count, also those that it sets later; cleared ones and those of others do not", async () => {
  const others: NodeJS.Timeout[] = [];
  const set = () => others.push(setTimeout(() => {}, 60_000));
  set();
  const elsewhere = setInterval(set, 1);
  try {
    const left = await timersLeftBy(async () => {
      clearTimeout(setTimeout(() => {}, 60_000));
      while (others.length < 3) await setImmediate();
      set();
      others.push(setInterval(() => {}, 60_000));
    });
    expect(left).toBe(2);
  } finally {
    clearInterval(elsewhere);
    for (const one of others) clearTimeout(one);
  }
});
