/** A file that is written before what rests on it: the order, a disk that refuses, and work that fails. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@edgecall/node/clock.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { DurableFile } from "./durable-file.ts";

let path: string;
let content: string;
let done: string[];
let logged: string[];
let file: DurableFile;

beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "durable-")), "file.json");
  [content, done, logged] = ["", [], []];
  file = new DurableFile({
    path,
    snapshot: () => ({ text: content, onWritten: () => done.push(`written ${content}`) }),
    clock: systemClock,
    log: (_, event) => logged.push(event),
  });
});
afterEach(() => file.stop());

/** Work that says what the file has when it is done. */
function after(name: string): void {
  file.afterWrite(() => done.push(`${name}: ${readFileSync(path, "utf8")}`));
}

test("work is done when the file has what was there when it was wanted", async () => {
  content = "a";
  after("first");
  await file.write();
  content = "b";
  after("second");
  await file.write();
  expect(done).toEqual(["written a", "first: a", "written b", "second: b"]);
  expect(file.waitingSince).toBeUndefined();
});

test("a disk that refuses holds the work back, and is tried again", async () => {
  mkdirSync(join(path, "full"), { recursive: true });
  content = "a";
  after("first");
  await file.write();
  expect(done).toEqual([]);
  expect(file.failure).toEqual(expect.any(String));
  expect(file.waitingSince).toEqual(expect.any(Number));
  rmSync(path, { recursive: true });
  await file.write();
  expect(done).toEqual(["written a", "first: a"]);
  expect(file.failure).toBeUndefined();
});

test("work that fails ends neither the work behind it nor later writes", async () => {
  content = "a";
  file.afterWrite(() => {
    throw new Error("a fault");
  });
  after("second");
  await file.write();
  expect(logged).toEqual(["bridge.internal_error"]);
  content = "b";
  after("third");
  await file.write();
  expect(done).toEqual(["written a", "second: a", "written b", "third: b"]);
});

test("after its end it is written once more, and nothing is done", async () => {
  content = "a";
  after("first");
  void file.write();
  await file.stop();
  await until(() => readFileSync(path, "utf8") === "a");
  expect(done).toEqual([]);
});
