import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COUNTER_BLOCK as BLOCK } from "@edgecall/core/protocol/counter.ts";
import { expect, test } from "vitest";
import { memoryLog } from "../testing/home.ts";
import { Counter } from "./counter.ts";

const file = () => join(mkdtempSync(join(tmpdir(), "edgecall-counter-")), "counter.json");
const { log, lines } = memoryLog();
/** A Pi without a clock: each boot begins in 1970. */
const noClock = () => 0;

test("it rises within a connection, from one connection to the next, and over restarts without a clock", async () => {
  const path = file();
  const said: number[] = [];
  for (let boot = 0; boot < 3; boot += 1) {
    const counter = await Counter.open({ file: path, log, wallClock: noClock });
    for (let connection = 0; connection < 3; connection += 1) {
      counter.connecting();
      const will = counter.will;
      const numbers = [counter.next(), counter.next(), counter.next()];
      expect(Math.max(...numbers)).toBeLessThan(will);
      said.push(...numbers, will);
    }
    await counter.settled();
  }
  expect(said).toEqual([...said].sort((a, b) => a - b));
  expect(new Set(said).size).toBe(said.length);
});

test("after a power cut right after a connection was made, its numbers are not used again", async () => {
  const path = file();
  const counter = await Counter.open({ file: path, log, wallClock: noClock });
  counter.connecting();
  const before = readFileSync(path, "utf8");
  // The second connection, whose own write is lost.
  counter.connecting();
  const last = counter.will;
  await counter.settled();
  writeFileSync(path, before);
  const again = await Counter.open({ file: path, log, wallClock: noClock });
  again.connecting();
  expect(again.next()).toBeGreaterThan(last);
});

test("with a lost or damaged file a set clock is enough", async () => {
  const path = file();
  const now = Date.now();
  const counter = await Counter.open({ file: path, log, wallClock: () => now });
  counter.connecting();
  const last = counter.next();
  truncateSync(path, 5);
  // No device that was connected comes back within two seconds of its clock.
  const again = await Counter.open({ file: path, log, wallClock: () => now + 3_000 });
  again.connecting();
  expect(again.next()).toBeGreaterThan(last);
  expect(lines).toContainEqual(expect.objectContaining({ event: "counter.damaged" }));
});

test("a block that is used up is followed by the next one", async () => {
  const counter = await Counter.open({ file: file(), log, wallClock: noClock });
  counter.connecting();
  let last = -1;
  for (let i = 0; i < BLOCK + 5; i += 1) {
    const n = counter.next();
    if (n <= last) throw new Error(`${n} after ${last}`);
    last = n;
  }
  expect(last).toBeLessThan(counter.will);
});

test("a disk that cannot be written is reported, and the clock is used instead", async () => {
  const notAFolder = file();
  writeFileSync(notAFolder, "");
  const counter = await Counter.open({ file: join(notAFolder, "counter.json"), log });
  counter.connecting();
  expect(counter.next()).toBeGreaterThan(Date.now());
  expect(lines).toContainEqual(expect.objectContaining({ event: "counter.unwritable" }));
});
