// @module-tag needs/bubblewrap
/** The most that one call may write, and the space that stays free, on the disk that the tests run on. */
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { callTool } from "../testing/call.ts";
import { write } from "../tools/files/write.ts";
import { bash } from "../tools/programs/bash.ts";
import { boundedWrites, freeOf, type WriteBounds } from "./bounded-writes.ts";
import { local } from "./local.ts";
import { sandbox } from "./sandbox/sandbox.ts";

const MB = 1024 ** 2;
let ws: string;
beforeEach(() => {
  ws = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-bounds-")));
});
afterEach(() => rmSync(ws, { recursive: true, force: true }));

const shell = (bounds: Partial<WriteBounds>) => {
  const env = sandbox({ workspace: ws });
  const all = { callBytes: 1024 * MB, freeBytes: 0, ...bounds };
  return bash({ ...env, exec: boundedWrites(env.exec, ws, all) });
};
const written = () => readdirSync(ws).reduce((sum, name) => sum + statSync(join(ws, name)).size, 0);
/** Real bytes, in pieces: slow enough to be noticed, and far more than allowed. */
const MANY = "for n in $(seq 1 400); do head -c 4194304 /dev/urandom > f$n; done; echo done";

describe("S15 what one call may write", () => {
  test("S15 many files, none of them large: the program is stopped, and the result says why", async () => {
    const { text, code } = await callTool(shell({ callBytes: 40 * MB }), { command: MANY });
    expect(code).toBe("signal");
    expect(text).toContain("It wrote over 40 MB into the workspace");
    expect(text).toContain("max_write_mb");
    expect(text).not.toContain("done");
    expect(written()).toBeLessThan(800 * MB);
  }, 60_000);

  test("S15 files that are deleted while they are open", async () => {
    const command =
      'for n in $(seq 1 20); do eval "exec $((n + 10))>f; rm f; head -c 16777216 /dev/urandom >&$((n + 10))"; done; echo done; sleep 5';
    const { text } = await callTool(shell({ callBytes: 30 * MB }), { command });
    expect(text).toContain("It wrote over 30 MB into the workspace");
  }, 60_000);

  test("S15 writes before the first check are reported at the end", async () => {
    const { text } = await callTool(shell({ callBytes: 8 * MB }), {
      command: "head -c 12582912 /dev/zero > a; sync a; echo done",
    });
    expect(text).toContain("It wrote over 8 MB into the workspace");
    expect(text).toContain("What it wrote is still there.");
  }, 30_000);

  test("S15 two runs side by side that each write less both continue", async () => {
    const tool = shell({ callBytes: 60 * MB });
    const half = (name: string) =>
      callTool(tool, {
        command: `for n in 1 2 3 4 5; do head -c 8388608 /dev/urandom > ${name}$n; done; sync .; while [ ! -e ${name}.go ]; do sleep 0.05; done; echo done`,
      });
    const both = Promise.all([half("a"), half("b")]);
    await until(() => written() === 80 * MB, { what: "both have written", within: 30_000 });
    // The run is checked several times while the disk has lost more than one run may write.
    await delay(500);
    for (const name of ["a.go", "b.go"]) writeFileSync(join(ws, name), "");
    for (const { text, code } of await both) expect([text, code]).toEqual(["done\n", undefined]);
  }, 60_000);

  test("S15 of two runs side by side the one that writes too much is stopped", async () => {
    const tool = shell({ callBytes: 40 * MB });
    const little = callTool(tool, {
      command: "head -c 8388608 /dev/urandom > little; while [ ! -e go ]; do sleep 0.05; done; echo done",
    });
    const much = await callTool(tool, { command: MANY });
    writeFileSync(join(ws, "go"), "");
    expect(much.code).toBe("signal");
    expect(much.text).toContain("It wrote over 40 MB into the workspace");
    expect((await little).text).toBe("done\n");
  }, 60_000);

  test("S15 a run is not responsible for other programs' writes to the same disk", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "edgecall-elsewhere-"));
    const running = callTool(shell({ callBytes: 8 * MB }), {
      command: "while [ ! -e go ]; do sleep 0.05; done; echo done",
    });
    const before = await freeOf(ws);
    // Other tests may delete as much meanwhile, so it writes until the disk has lost it.
    const writesMore = async () => {
      appendFileSync(join(elsewhere, "big"), randomBytes(80 * MB), { flush: true });
      return before - (await freeOf(ws)) > 40 * MB;
    };
    await until(writesMore, { every: 500, what: "the disk has lost it" });
    // The run must not be stopped, although it is checked several times meanwhile.
    await delay(500);
    writeFileSync(join(ws, "go"), "");
    const { text, code } = await running;
    rmSync(elsewhere, { recursive: true });
    expect([text, code]).toEqual(["done\n", undefined]);
  }, 60_000);

  test("S15 less than the limit is allowed, whatever was there before", async () => {
    writeFileSync(join(ws, "old"), Buffer.alloc(60 * MB));
    const { text, code } = await callTool(shell({ callBytes: 40 * MB }), {
      command: "head -c 8388608 /dev/urandom > new; touch old; mv old older; echo done",
    });
    expect([text, code]).toEqual(["done\n", undefined]);
  });
});

describe("S15 what stays free", () => {
  test("S15 below the reserve no file is written, with a text, and files can be deleted", async () => {
    const floor = (await freeOf(ws)) + 500 * MB;
    const { files, ...rest } = local({ cwd: ws, minFreeBytes: floor });
    const { text, code } = await callTool(write({ ...rest, files }), { path: "a.txt", content: "x" });
    expect(code).toBe("io");
    expect(text).toMatch(
      /'a.txt' was not written: \d+ MB are free on its disk, and \d+ MB are kept free \(min_free_mb/,
    );
    expect(existsSync(join(ws, "a.txt"))).toBe(false);
    mkdirSync(join(ws, "empty"));
    await files.remove("empty");
    expect(readdirSync(ws)).toEqual([]);
  });

  test("S15 a program that keeps writing there is stopped; one that deletes is not", async () => {
    const floor = (await freeOf(ws)) + 500 * MB;
    writeFileSync(join(ws, "old"), "x");
    const deleting = await callTool(shell({ freeBytes: floor }), { command: "rm old; echo deleted" });
    expect(deleting.text).toBe("deleted\n");
    const { text, code } = await callTool(shell({ freeBytes: floor }), { command: MANY });
    expect(code).toBe("signal");
    expect(text).toMatch(/Only \d+ MB are free on the disk of the workspace/);
  }, 60_000);
});
