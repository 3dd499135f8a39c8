// @module-tag needs/bubblewrap
/** What takes the disk faster than any check can see is not supported in the sandbox; what is written is measured. */
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callTool } from "../../testing/call.ts";
import { bash } from "../../tools/programs/bash.ts";
import { boundedWrites, freeOf } from "../bounded-writes.ts";
import { callFilter } from "./call-filter.ts";
import { sandbox } from "./sandbox.ts";

const MB = 1024 ** 2;
const LIMIT = 40 * MB;
let ws: string;
beforeEach(() => {
  ws = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-blocks-")));
});
afterEach(() => rmSync(ws, { recursive: true, force: true }));

const taken = () => readdirSync(ws).reduce((sum, name) => sum + statSync(join(ws, name)).blocks * 512, 0);
const run = async (command: string) => {
  const env = sandbox({ workspace: ws });
  const bounds = { callBytes: LIMIT, freeBytes: 0 };
  return await callTool(bash({ ...env, exec: boundedWrites(env.exec, ws, bounds) }), { command });
};
const python = (...lines: string[]) => `python3 - <<'END'\n${lines.join("\n")}\nEND\n`;
const syscall = (...lines: string[]) =>
  python("import ctypes, fcntl, os, struct", "libc = ctypes.CDLL(None, use_errno=True)", ...lines);

describe("S25: blocks that nobody wrote", () => {
  test.each([
    ["fallocate -l 20G", "fallocate -l 20G big"],
    ["many files of fallocate", "for n in $(seq 1 40); do fallocate -l 1000M f$n; done"],
    ["fallocate that keeps the size", "touch big; fallocate -n -l 900M big"],
    ["fallocate that writes zeros", "truncate -s 900M big; fallocate -z -l 900M big"],
    ["fallocate of a deleted file", "exec 5>f; rm f; fallocate -l 900M /proc/self/fd/5; sleep 1"],
    [
      "the plain system call",
      syscall(
        "f = os.open('big', os.O_RDWR | os.O_CREAT)",
        "number = {'x86_64': 285, 'aarch64': 47}[os.uname().machine]",
        "r = libc.syscall(number, f, 0, ctypes.c_long(0), ctypes.c_long(900 << 20))",
        "print('result', r, os.strerror(ctypes.get_errno()))",
      ),
    ],
    [
      "the ioctl FS_IOC_RESVSP64",
      syscall(
        "f = os.open('big', os.O_RDWR | os.O_CREAT)",
        "fcntl.ioctl(f, 0x4030582a, struct.pack('hhqqiI4i', 0, 0, 0, 900 << 20, 0, 0, 0, 0, 0, 0))",
      ),
    ],
    [
      "the ioctl FS_IOC_ZERO_RANGE",
      syscall(
        "f = os.open('big', os.O_RDWR | os.O_CREAT)",
        "fcntl.ioctl(f, 0x40305839, struct.pack('hhqqiI4i', 0, 0, 0, 900 << 20, 0, 0, 0, 0, 0, 0))",
      ),
    ],
    [
      "io_uring",
      syscall(
        "params = ctypes.create_string_buffer(120)",
        "r = libc.syscall(425, 4, params)",
        "assert r < 0 and ctypes.get_errno() == 38, (r, ctypes.get_errno())",
        "raise SystemExit('io_uring is not there')",
      ),
    ],
  ])(
    "S25: %s takes no 200 MB",
    async (_, command) => {
      const before = await freeOf(ws);
      const { text } = await run(command);
      expect(text).toMatch(
        /not supported|unsupported|not permitted|Operation not|wrote over 40 MB|too large|io_uring is not there/i,
      );
      expect(taken()).toBeLessThan(200 * MB);
      expect(before - (await freeOf(ws))).toBeLessThan(1_000 * MB);
    },
    60_000,
  );

  // glibc writes a byte into each block when the system call is refused, so what is taken depends on the machine's speed.
  test("S25: the call of Python, which becomes writes, takes no 1,000 MB", async () => {
    const before = await freeOf(ws);
    const { text } = await run(
      python("import os", "f = open('big', 'wb')", "os.posix_fallocate(f.fileno(), 0, 20 << 30)"),
    );
    expect(text).toContain("It wrote over 40 MB into the workspace");
    expect(taken()).toBeLessThan(1_000 * MB);
    expect(before - (await freeOf(ws))).toBeLessThan(1_000 * MB);
  }, 60_000);

  test.each([
    ["a sparse file takes nothing", "truncate -s 900M sparse; echo done", "done"],
    [
      "a hole is punched in a file",
      "head -c 4194304 /dev/zero > f; cp --sparse=always f g; echo done",
      "done",
    ],
    ["a file is copied", "head -c 4194304 /dev/urandom > f; cp f g; cmp f g; echo done", "done"],
    [
      "a database of SQLite works",
      python(
        "import sqlite3",
        "c = sqlite3.connect('a.db')",
        "c.execute('create table t (a)')",
        "c.execute('insert into t values (7)')",
        "c.commit()",
        "print(c.execute('select a from t').fetchall())",
      ),
      "[(7,)]",
    ],
    [
      "ioctl works for others",
      python(
        "import fcntl, termios, os, array",
        "r, w = os.pipe()",
        "os.write(w, b'abc')",
        "n = array.array('i', [0])",
        "fcntl.ioctl(r, termios.FIONREAD, n)",
        "print('has', n[0])",
      ),
      "has 3",
    ],
  ])("S25: %s", async (_, command, expected) => {
    const { text, code } = await run(command);
    expect([text.trim(), code]).toEqual([expected, undefined]);
    expect(taken()).toBeLessThan(16 * MB);
  });

  test.each([
    ["dd", "dd if=/dev/zero of=big bs=4M count=4000"],
    ["many files", "for n in $(seq 1 2000); do head -c 4194304 /dev/zero > f$n; done"],
    [
      "memory of a file",
      python(
        "import mmap, os",
        "f = os.open('big', os.O_RDWR | os.O_CREAT)",
        "os.ftruncate(f, 1000 << 20)",
        "m = mmap.mmap(f, 1000 << 20)",
        "for at in range(0, 1000 << 20, 4096): m[at] = 1",
        "m.flush()",
      ),
    ],
    [
      "a sparse file that is filled",
      "truncate -s 900M f; for n in $(seq 1 900); do dd if=/dev/zero of=f bs=1M seek=$n count=1 conv=notrunc status=none; done",
    ],
  ])(
    "S25: %s is stopped, long before the disk is full",
    async (_, command) => {
      const { text, code } = await run(command);
      expect(text).toContain("It wrote over 40 MB into the workspace");
      expect(["signal", undefined]).toContain(code);
      expect(taken()).toBeLessThan(4_000 * MB);
    },
    60_000,
  );
});

test("S25: the filter is whole: each jump ends within it, and its last step allows", () => {
  const filter = callFilter();
  const steps = Array.from({ length: filter.length / 8 }, (_, at) => ({
    code: filter.readUInt16LE(at * 8),
    jumps: [filter[at * 8 + 2] ?? 0, filter[at * 8 + 3] ?? 0],
    k: filter.readUInt32LE(at * 8 + 4),
  }));
  expect(steps.length).toBeGreaterThan(50);
  for (const [at, { code, jumps }] of steps.entries())
    if (code !== 0x06) for (const jump of jumps) expect(at + 1 + jump).toBeLessThan(steps.length);
  expect(steps.at(-1)).toEqual({ code: 0x06, jumps: [0, 0], k: 0x7fff0000 });
});
