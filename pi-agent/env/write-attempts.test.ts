// @module-tag needs/bubblewrap
/** Fifty ways to take more of the disk than a call may, or more memory than a program may. Judged by what was taken. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callTool } from "../testing/call.ts";
import { bash } from "../tools/programs/bash.ts";
import { boundedWrites } from "./bounded-writes.ts";
import { sandbox } from "./sandbox/sandbox.ts";

const LIMIT = 1024 ** 2;

async function inWorkspace(
  work: (ws: string, run: (command: string) => ReturnType<typeof callTool>) => Promise<void>,
) {
  const ws = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-taken-")));
  const limits = { dataBytes: 96 * LIMIT, temporaryBytes: 4 * LIMIT, fileBytes: 64 * LIMIT };
  const env = sandbox({ workspace: ws, limits });
  const tool = bash({ ...env, exec: boundedWrites(env.exec, ws, { callBytes: LIMIT, freeBytes: 0 }) });
  try {
    await work(ws, (command) => callTool(tool, { command }));
  } finally {
    // Node removes no path that is too long to name.
    execFileSync("rm", ["-rf", ws]);
  }
}
/** Time for the agent to look, and a word that only a program prints that was not stopped. */
const ends = (command: string) => `${command}\nsync .; sleep 3; echo through`;

/** Python, with `big(path)` for a file of three limits. A piece is 64 KiB, which no compression shrinks. */
const python = (body: string) => `python3 - <<'END' || exit 1
import ctypes, fcntl, mmap, os, resource, socket, sqlite3, struct, sys, tarfile, threading, time
piece = os.urandom(65536)
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == 'x86_64'
def new(path): return os.open(path, os.O_CREAT | os.O_RDWR)
def big(path, pieces=48):
  f = new(path)
  for _ in range(pieces): os.write(f, piece)
  return f
def wait(*_):
  os.sync()
  time.sleep(3)
${body}
END`;

/** Each keeps three times the limit, and ends with "through" if it lives on. */
const DISK: Array<[how: string, command: string]> = [
  ["names that are no text", python("for n in range(48): os.write(new(b'f\\xff%d' % n), piece)")],
  [
    "a folder whose name is no text",
    python("os.mkdir(b'\\xc3\\x28')\nfor n in range(48): os.write(new(b'\\xc3\\x28/f%d' % n), piece)"),
  ],
  ["a link to a name that is no text", python("os.mkdir(b'\\xff')\nos.symlink(b'\\xff', 'l')\nbig('l/f')")],
  ["names of line breaks and quotes", python("for n in range(48): os.write(new(f'a\\n\\\"b {n}'), piece)")],
  [
    "below a path too long to name",
    python("for n in range(20):\n  os.mkdir('d' * 250)\n  os.chdir('d' * 250)\nbig('f')"),
  ],
  ["a folder that nobody may read", python("os.mkdir('d')\nbig('d/f')\nos.chmod('d', 0)")],
  ["a file that nobody may read", python("big('f')\nos.chmod('f', 0)")],
  [
    "files dated into the past",
    python("for n in range(48):\n  os.write(new(f'f{n}'), piece)\n  os.utime(f'f{n}', (1, 1))"),
  ],
  [
    "files dated into the future",
    python("for n in range(48):\n  os.write(new(f'f{n}'), piece)\n  os.utime(f'f{n}', (9e9, 9e9))"),
  ],
  ["what was there, grown", python("with open('old', 'ab') as f:\n  for n in range(48): f.write(piece)")],
  [
    "a file appended to, a little at a time",
    python("for n in range(800):\n  with open('f', 'ab') as f: f.write(piece[:4096])"),
  ],
  [
    "a hole that is filled from behind",
    python("f = new('f')\nfor n in range(48, 0, -1): os.pwrite(f, piece, n << 16)"),
  ],
  [
    "one byte in each block of a hole",
    python("f = new('f')\nfor n in range(800): os.pwrite(f, b'x', n << 12)"),
  ],
  [
    "a mapped hole, cut and grown again",
    python(
      "f = new('f')\nfor cut in (True, False):\n  os.ftruncate(f, 3 << 20)\n  m = mmap.mmap(f, 3 << 20)\n  for at in range(0, 3 << 20, 4096): m[at] = 1\n  m.flush()\n  if cut: os.ftruncate(f, 0)",
    ),
  ],
  [
    "a mapped hole, written by a child",
    python(
      "f = new('f')\nos.ftruncate(f, 3 << 20)\nm = mmap.mmap(f, 3 << 20)\nif os.fork() == 0:\n  for at in range(0, 3 << 20, 4096): m[at] = 1\n  os._exit(0)\nos.wait()",
    ),
  ],
  [
    "past the cache of the kernel",
    "dd if=/dev/urandom of=f bs=64K count=48 oflag=direct status=none || exit 1",
  ],
  [
    "each write at once on the disk",
    "dd if=/dev/urandom of=f bs=1M count=3 oflag=dsync status=none || exit 1",
  ],
  ["sendfile", python("a = big('a', 8)\nfor n in range(6): os.sendfile(new(f'f{n}'), a, 0, 8 << 16)")],
  [
    "copy_file_range",
    python("a = big('a', 8)\nfor n in range(6): os.copy_file_range(a, new(f'f{n}'), 8 << 16, 0, 0)"),
  ],
  [
    "splice through a pipe",
    python(
      "r, w = os.pipe()\nf = new('f')\nfor n in range(48):\n  os.write(w, piece)\n  os.splice(r, f, 65536)",
    ),
  ],
  ["vectored writes", python("f = new('f')\nfor n in range(6): os.writev(f, [piece] * 8)")],
  [
    "shared blocks, written anew",
    python(
      "a = big('a', 8)\nfor n in range(6):\n  f = new(f'f{n}')\n  try: fcntl.ioctl(f, 0x40049409, a)\n  except OSError: pass\n  os.pwrite(f, piece * 8, 0)",
    ),
  ],
  ["an archive of zeros", "head -c 3145728 /dev/zero | gzip > z; gzip -dc z > f || exit 1"],
  [
    "an archive of many files",
    "mkdir s; for n in $(seq 1 48); do head -c 65536 /dev/zero > s/$n; tar -rf t s/$n; rm s/$n; done; tar -xf t || exit 1",
  ],
  [
    "a database that grows",
    python(
      "c = sqlite3.connect('a.db')\nc.execute('create table t (a)')\nfor n in range(48): c.execute('insert into t values (?)', (piece,))\nc.commit()",
    ),
  ],
  [
    "objects of git",
    "git init -q r && cd r && for n in 1 2 3; do head -c 1048576 /dev/urandom | git hash-object -w --stdin > /dev/null; done || exit 1",
  ],
  ["many small files", python("for n in range(900): os.write(new(f'f{n}'), b'x' * 300)")],
  ["a program for each piece", "for n in $(seq 1 48); do (head -c 65536 /dev/urandom > f$n); done"],
  [
    "programs that start programs",
    python(
      "def go(n):\n  if n < 48 and os.fork() == 0:\n    os.write(new(f'f{n}'), piece)\n    go(n + 1)\n    os._exit(0)\n  elif n < 48: os.wait()\ngo(0)",
    ),
  ],
  [
    "programs of another session, without an environment",
    "for n in 1 2 3; do env -i setsid -w /usr/bin/head -c 1048576 /dev/urandom > f$n; done",
  ],
  [
    "an orphan that writes when its parent is gone",
    "(setsid sh -c 'sleep 0.1; head -c 3145728 /dev/urandom > f' &) ; sleep 0.5",
  ],
  [
    "threads",
    python(
      "t = [threading.Thread(target=big, args=(f'f{n}', 12)) for n in range(4)]\n[x.start() for x in t]\n[x.join() for x in t]",
    ),
  ],
  ["a program that ignores signals", "trap '' TERM HUP INT XCPU XFSZ; head -c 3145728 /dev/urandom > f"],
  [
    "a folder that is moved while it is written to",
    python(
      "os.mkdir('a')\nfor n in range(24):\n  for here, there in ('ab', 'ba'):\n    os.write(new(f'{here}/f{n}{here}'), piece)\n    os.rename(here, there)",
    ),
  ],
  ["a limit of its own for the size of a file", "ulimit -f unlimited; head -c 68157440 /dev/zero > f"],
];

/** The same, by what the kernel does not count as written, or in files without a name: six times the limit. */
const HIDDEN: Array<[how: string, command: string]> = [
  ["folders alone", python("for n in range(900): os.mkdir(f'd{n}')")],
  ["folders within folders", python("for n in range(90): os.makedirs(f'd{n}/a/b/c/d/e/f/g/h/i/j')")],
  ["long symbolic links", python("for n in range(900): os.symlink('x' * 4000, f'l{n}')")],
  [
    "attributes of empty files",
    python(
      "for n in range(900):\n  os.close(new(f'f{n}'))\n  os.setxattr(f'f{n}', 'user.a', os.urandom(3800))",
    ),
  ],
  [
    "attributes of folders",
    python("for n in range(500):\n  os.mkdir(f'd{n}')\n  os.setxattr(f'd{n}', 'user.a', os.urandom(3800))"),
  ],
  ["long names of one file", python("new('f')\nfor n in range(12000): os.link('f', f'{n:06}' + 'x' * 249)")],
  [
    "folders below a path too long to name",
    python(
      "for n in range(20):\n  os.mkdir('d' * 250)\n  os.chdir('d' * 250)\nfor n in range(900): os.mkdir(f'd{n}')",
    ),
  ],
  [
    "what was there, deleted and written again",
    python("os.unlink('old')\nos.sync()\ntime.sleep(0.4)\nbig('old')"),
  ],
  [
    "files renamed over each other, still open",
    python(
      "held = []\nfor n in range(96):\n  held.append(new('new'))\n  os.write(held[-1], piece)\n  os.rename('new', 'f')\nwait()",
    ),
  ],
  [
    "files without a name",
    python(
      "held = []\nfor n in range(96):\n  held.append(os.open('.', os.O_TMPFILE | os.O_RDWR))\n  os.write(held[-1], piece)\nwait()",
    ),
  ],
  [
    "deleted files that are only mapped",
    python(
      "held = []\nfor n in range(96):\n  f = big('f', 1)\n  held.append(mmap.mmap(f, 65536))\n  os.close(f)\n  os.unlink('f')\nwait()",
    ),
  ],
  [
    "deleted files within a socket",
    python(
      "a, b = socket.socketpair()\nfor n in range(96):\n  f = big('f', 1)\n  socket.send_fds(a, [b'x'], [f])\n  os.close(f)\n  os.unlink('f')\nwait()",
    ),
  ],
  [
    "deleted files of a program that hides itself",
    python("libc.prctl(4, 0, 0, 0, 0)\nf = big('f', 96)\nos.unlink('f')\nwait()"),
  ],
];

/** Each must be refused. It prints "through" if it had what it wanted. */
const MEMORY: Array<[how: string, command: string]> = [
  ["private memory", python("mmap.mmap(-1, 128 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)")],
  ["the heap", python("bytearray(128 << 20)")],
  [
    "a writable private view of a hole",
    python(
      "f = new('f')\nos.ftruncate(f, 60 << 20)\nheld = [mmap.mmap(f, 60 << 20, mmap.MAP_PRIVATE) for _ in range(3)]",
    ),
  ],
  [
    "memory that a thread's stack has",
    python("threading.stack_size(128 << 20)\nthreading.Thread(target=print).start()"),
  ],
  ["a higher limit for itself", python("resource.setrlimit(resource.RLIMIT_DATA, (1 << 31, 1 << 31))")],
  [
    "a higher limit for its first process",
    python(
      "resource.prlimit(1, resource.RLIMIT_DATA, (1 << 31, 1 << 31))\nresource.prlimit(os.getpid(), resource.RLIMIT_FSIZE, (1 << 31, 1 << 31))",
    ),
  ],
  ["a higher limit by a command", "prlimit --pid $$ --data=unlimited || exit 1"],
  ["a large file in memory", python("f = libc.memfd_create(b'x', 0)\nos.ftruncate(f, 65 << 20)")],
  [
    "a large shared memory",
    python("f = os.open('/dev/shm/x', os.O_CREAT | os.O_RDWR)\nos.posix_fallocate(f, 0, 5 << 20)"),
  ],
  ["/tmp in many files", python("for n in range(80): os.write(new(f'/tmp/f{n}'), piece)")],
  [
    "/tmp by a hole that is mapped",
    python(
      "f = new('/tmp/f')\nos.ftruncate(f, 5 << 20)\nm = mmap.mmap(f, 5 << 20)\nfor at in range(0, 5 << 20, 4096): m[at] = 1",
    ),
  ],
  ["/tmp made larger", "mount -o remount,size=1G /tmp || exit 1"],
  ["a file system in memory of its own", "mkdir -p m; mount -t tmpfs x m || exit 1"],
  ["one in namespaces of its own", "mkdir -p m; unshare -Urm mount -t tmpfs x m || exit 1"],
];

async function isStopped(command: string): Promise<void> {
  await inWorkspace(async (ws, run) => {
    if (command.includes("'old'")) writeFileSync(join(ws, "old"), randomBytes(3 * LIMIT), { flush: true });
    const { text } = await run(ends(command));
    expect(text).toContain("It wrote over 1 MB into the workspace");
    expect(text).not.toContain("through");
  });
}

describe.concurrent("S25: more of the disk than a call may take", () => {
  test.each(DISK)("S25: %s", async (_, command) => await isStopped(command));
});

// Only what the disk lost tells of these. Another test may free as much at that moment, so nothing runs beside this file.
describe("S25: more of the disk than a call may take, unseen", () => {
  test.each(HIDDEN)("S25: %s", async (_, command) => await isStopped(command));

  test.each([...DISK, ...HIDDEN].filter(([how]) => /no text$|without a name/.test(how)))(
    "S25: %s, while another call runs",
    async (_, command) => {
      await inWorkspace(async (ws, run) => {
        const idle = run("while [ ! -e go ]; do sleep 0.05; done; echo done");
        const { text } = await run(ends(command));
        writeFileSync(join(ws, "go"), "");
        expect(text).toContain("It wrote over 1 MB into the workspace");
        expect((await idle).text).toBe("done\n");
      });
    },
  );
});

describe.concurrent("S25: more memory than a program may have", () => {
  test.each(MEMORY)("S25: %s", async (_, command) => {
    await inWorkspace(async (_ws, run) => {
      const { text, code } = await run(`${command}\necho through`);
      expect(text).not.toContain("through");
      expect(code).toBeDefined();
    });
  });
});
