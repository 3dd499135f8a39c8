// @module-tag needs/git
/**
 * Attempts to get out of the sandbox, past the path guard, or into what git runs. The check is outside: a secret that
 * must not leak, a folder that must not change, a program that must not run, and no process that keeps running.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { callTool } from "../../testing/call.ts";
import { kinds, ofKind, REMOVED, SECRET } from "../../testing/sandbox-kinds.ts";
import { append } from "../../tools/files/append.ts";
import { applyPatch } from "../../tools/files/apply-patch.ts";
import { edit } from "../../tools/files/edit.ts";
import { find } from "../../tools/files/find.ts";
import { grep } from "../../tools/files/grep.ts";
import { ls } from "../../tools/files/ls.ts";
import { read } from "../../tools/files/read.ts";
import { write } from "../../tools/files/write.ts";
import { bash } from "../../tools/programs/bash.ts";
import { gitDiff } from "../../tools/programs/git-diff.ts";
import { gitStatus } from "../../tools/programs/git-status.ts";
import { canvas } from "../../tools/web/canvas.ts";
import { boundedWrites } from "../bounded-writes.ts";
import { local } from "../local.ts";
import { sandbox } from "./sandbox.ts";
import type { SandboxKind } from "./sandbox-kinds.ts";

let folder: string;
let ws: string;
let outside: string;
/** In another top-level folder than the workspace. */
let far: string;
let server: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-sandbox-walk-")));
  far = realpathSync(mkdtempSync("/var/tmp/edgecall-sandbox-walk-"));
  chmodSync(far, 0o777);
  writeFileSync(join(far, "secret.txt"), SECRET, { mode: 0o666 });
  process.env.EDGECALL_WALK_SECRET = SECRET;
  server = createServer(() => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(async () => {
  delete process.env.EDGECALL_WALK_SECRET;
  await new Promise((resolve) => server.close(resolve));
  for (const path of [folder, far]) rmSync(path, REMOVED);
});
beforeEach(() => {
  connections = 0;
  rmSync(join(folder, "ws"), { recursive: true, force: true });
  rmSync(join(folder, "outside"), { recursive: true, force: true });
  ws = join(folder, "ws");
  outside = join(folder, "outside");
  mkdirSync(join(ws, ".git/hooks"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.txt"), SECRET);
  writeFileSync(join(ws, ".git/config"), "[core]\n");
  writeFileSync(join(ws, "a.txt"), "a\n");
  chmodSync(outside, 0o777);
  chmodSync(join(outside, "secret.txt"), 0o666);
});

function tools(kind: SandboxKind): Record<string, Tool> {
  const here = local({ cwd: ws });
  const there = sandbox(ofKind(kind, { folder, workspace: ws }));
  const bounds = { callBytes: 64 * 1024 ** 2, freeBytes: 0 };
  const env = { ...there, files: here.files, exec: boundedWrites(there.exec, ws, bounds) };
  const all = [bash, read, write, append, edit, applyPatch, grep, find, ls, gitStatus, gitDiff, canvas];
  return Object.fromEntries(all.map((make) => make(env)).map((tool) => [tool.name, tool]));
}

/** The files outside, by name and content. */
const around = () =>
  [outside, far].flatMap((place) =>
    readdirSync(place).map((name) => [name, readFileSync(join(place, name), "utf8")]),
  );

/**
 * In each command, `OUT` is the folder outside, `FAR` one that is elsewhere, `WS` the workspace, `PORT` a server of
 * this machine.
 */
const COMMANDS: Array<[string, string]> = [
  ["reads a file outside", "cat OUT/secret.txt"],
  ["reads it through ..", "cat ../outside/secret.txt"],
  ["reads it through a link", "ln -s OUT/secret.txt l; cat l"],
  ["links it hard", "ln OUT/secret.txt l; cat l"],
  ["reads a folder that lies elsewhere", "cat FAR/secret.txt; ls -la FAR"],
  ["goes above the root", "cat /../..OUT/secret.txt /..FAR/secret.txt /proc/self/root/..FAR/secret.txt"],
  ["writes into folders that lie elsewhere", "echo x > FAR/new; echo x > /var/tmp/new; echo x > /new"],
  ["makes hidden folders readable", "chmod 777 /var /root /home; cat FAR/secret.txt"],
  ["takes hidden folders away", "umount -l /var /root; mount --bind OUT WS; rmdir /var; mv /var /tmp"],
  [
    "starts a sandbox of its own",
    "firejail --noprofile cat FAR/secret.txt; bwrap --bind / / cat OUT/secret.txt",
  ],
  ["joins another sandbox", "firejail --join=1 cat FAR/secret.txt; firejail --list; podman ps"],
  ["writes outside", "echo x > OUT/new"],
  ["writes outside through a link", "ln -s OUT l; echo x > l/new"],
  ["lists the folder", "ls -la OUT; ls -la ..; find / -name secret.txt 2>/dev/null | xargs cat"],
  ["takes the root of process 1", "cat /proc/1/root/OUT/secret.txt; ls /proc/1/root/"],
  ["takes the working folder of others", "for p in /proc/[0-9]*; do cat $p/cwd/../outside/secret.txt; done"],
  ["takes files that others have open", "for f in /proc/*/fd/*; do head -c 200 $f; done < /dev/null"],
  ["reads the environment of all", "cat /proc/*/environ | tr '\\0' '\\n'; env; set"],
  ["reads the memory of process 1", "dd if=/proc/1/mem bs=1 count=1; cat /proc/1/maps"],
  ["changes what the kernel starts", "echo '|/bin/sh -c touch OUT/new' > /proc/sys/kernel/core_pattern"],
  ["changes the kernel's settings", "echo 1 > /proc/sys/kernel/panic; echo b > /proc/sysrq-trigger"],
  ["makes /proc writable", "mount -o remount,rw /proc && echo x > /proc/sys/kernel/core_pattern"],
  ["mounts the root", "mkdir m; mount --bind / m; cat m/OUT/secret.txt"],
  ["mounts in a namespace of its own", "unshare -Urm sh -c 'mount --bind / /tmp; cat /tmp/OUT/secret.txt'"],
  ["enters other namespaces", "nsenter -t 1 -m cat OUT/secret.txt; nsenter -t $PPID -a true"],
  ["changes its root", "chroot / cat OUT/secret.txt; pivot_root . ."],
  ["makes a device", "mknod d b 8 0; mknod k c 1 1; cat k | head -c 10"],
  ["opens the disks", "head -c 100 /dev/sda /dev/vda /dev/mmcblk0 /dev/mem /dev/kmsg"],
  ["opens other devices", "ls /dev; cat /dev/i2c-1 /dev/gpiochip0 /dev/video0"],
  ["uses the desktop's devices", "ls -lR /dev; cat /dev/[vhlisd]* /dev/[vhlisd]*/*"],
  ["writes into the journal", "cat /dev/log; echo x >> /dev/log; cat /dev/log"],
  ["takes the login session", "ls -la /run/user; cat /run/user/*/* /run/user/*/*/*"],
  ["writes the system's programs", "echo x > /usr/bin/walk; echo x > /bin/walk; touch /etc/walk"],
  ["reads the passwords", "cat /etc/shadow /etc/passwd"],
  ["reads the home of root", "cat ~root/.ssh/* /root/.bashrc; ls /root /home /var /srv /opt /run"],
  ["runs a setuid program", "su -c 'cat OUT/secret.txt'; sudo -n true; pkexec true; mount"],
  ["makes a setuid program", "cp /bin/cat c; chmod 6755 c; ./c OUT/secret.txt"],
  ["gets back a capability", "capsh --print; setpriv --reuid 0 --regid 0 cat OUT/secret.txt"],
  ["connects to this machine", "exec 3<>/dev/tcp/127.0.0.1/PORT; echo x >&3"],
  ["connects to another", "exec 3<>/dev/tcp/1.1.1.1/53; curl -m 2 http://127.0.0.1:PORT/"],
  ["asks for a name", "getent hosts example.org; ping -c1 -W1 127.0.0.1"],
  [
    "connects to a socket of the system",
    "ls /run/dbus /run/systemd /var/run/docker.sock; echo x | nc -U /run/dbus/system_bus_socket",
  ],
  [
    "makes a network of its own",
    "ip link add d type dummy; ip link set lo up; exec 3<>/dev/tcp/127.0.0.1/PORT",
  ],
  ["traces others", "strace -p 1; gdb -p 1 -batch"],
  ["ends others", "kill -9 1; kill -9 -1; killall node"],
  ["goes on alone", "setsid sh -c 'sleep 3; touch OUT/late; touch WS/late' & disown; nohup sleep 30 &"],
  ["goes on as a daemon", "(setsid sleep 30 &) ; (trap '' HUP TERM; exec sleep 30) & exit 0"],
  ["is a fork bomb", ":(){ :|:& };:; sleep 1"],
  ["makes many processes", "for n in $(seq 1 400); do sleep 5 & done; jobs | wc -l"],
  ["takes much memory", "head -c 4G /dev/zero | tail -c 4G | wc -c"],
  ["writes one large file", "head -c 1200M /dev/zero > big; ls -s big"],
  ["writes many files", "for n in $(seq 1 100); do head -c 4M /dev/urandom > f$n; done; echo all"],
  ["makes a large hole", "truncate -s 500G hole; ls -ls hole"],
  ["reserves the disk", "fallocate -l 800M r; fallocate -l 800M s; fallocate -l 800M t; ls -s"],
  ["fills /tmp", "head -c 300M /dev/zero > /tmp/x; ls -s /tmp/x"],
  ["fills the shared memory", "head -c 300M /dev/zero > /dev/shm/x; ls -s /dev/shm/x"],
  ["leaves something in /tmp for the next", "echo WALKED > /tmp/left; cat /tmp/left-of-before"],
  ["leaves its memory to nobody", "ipcmk -M 1000; ipcs"],
  ["writes to the terminal", "echo x > /dev/tty; echo x > /dev/console; echo x > /dev/pts/0"],
  ["types into the terminal", "python3 -c \"import fcntl; fcntl.ioctl(0, 0x5412, b'x')\""],
  ["changes the clock or the name", "date -s 2020-01-01; hostname walked"],
  ["takes the status descriptor", "echo ready >&3; echo outside >&3; ls -l /proc/self/fd"],
  ["leads the next call elsewhere", "mv WS WS.old; ln -s OUT WS; cd /; rmdir WS"],
  [
    "swaps the workspace's folders for links",
    "rm -rf sub; ln -s OUT sub; ln -s / root; cat root/OUT/secret.txt",
  ],
  ["changes its own sandbox's programs", "mount -o remount,rw /; touch /usr/x; touch /x"],
  ["uses a loader's setting", "LD_PRELOAD=OUT/x.so LD_LIBRARY_PATH=OUT cat OUT/secret.txt"],
  ["looks into the kernel", "dmesg; cat /proc/kallsyms | head -1; cat /proc/kcore | head -c 1; ls /sys"],
  ["uses io_uring or bpf", "bpftool prog; cat /sys/kernel/debug/tracing/trace"],
];

const P = ".git/hooks/pre-commit";
const add = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`;
const FILES: Array<[string, string, Record<string, unknown>]> = [
  ["read through ..", "read", { path: "../outside/secret.txt" }],
  ["read absolutely", "read", { path: "OUT/secret.txt" }],
  ["read through a link", "read", { path: "link/secret.txt" }],
  ["read through a link to a link", "read", { path: "chain/secret.txt" }],
  ["read through /proc", "read", { path: "/proc/self/root/OUT/secret.txt" }],
  ["read through a descriptor", "read", { path: "/proc/self/cwd/../outside/secret.txt" }],
  ["read with a NUL", "read", { path: "a.txt\0/../../outside/secret.txt" }],
  ["read the environment", "read", { path: "/proc/self/environ" }],
  ["list outside", "ls", { path: "link" }],
  ["list the root", "ls", { path: "/" }],
  ["find outside", "find", { pattern: "*", path: "link" }],
  ["find with an option", "find", { pattern: "--follow", path: "." }],
  ["grep outside", "grep", { pattern: "walk", path: "link" }],
  ["grep through a link below", "grep", { pattern: "walk-secret" }],
  ["grep with a program", "grep", { pattern: "--pre=./evil.sh" }],
  ["grep's include as an option", "grep", { pattern: "walk", include: "--follow" }],
  ["show a file outside", "canvas", { path: "link/secret.txt", title: "x" }],
  ["write outside", "write", { path: "OUT/new", content: "x" }],
  ["write through a link", "write", { path: "link/new", content: "x" }],
  ["write through a dangling link", "write", { path: "dangling", content: "x" }],
  ["write over a link to outside", "write", { path: "tosecret", content: "x" }],
  ["append through a link", "append", { path: "tosecret", content: "x" }],
  ["edit through a link", "edit", { path: "tosecret", old_string: "walk", new_string: "x" }],
  ["patch outside", "apply_patch", { patch: add("../outside/new") }],
  ["patch through a link", "apply_patch", { patch: add("link/new") }],
  ["write into a FIFO", "write", { path: "fifo", content: "x" }],
  ["read a FIFO", "read", { path: "fifo" }],
  ["write a hook", "write", { path: P, content: "x" }],
  ["append to the settings of git", "append", { path: ".git/config", content: "[core]\nfsmonitor = x" }],
  ["edit the settings of git", "edit", { path: ".git/config", old_string: "core", new_string: "x" }],
  ["patch a hook", "apply_patch", { patch: add(P) }],
  ["write a hook in capitals", "write", { path: ".GIT/hooks/pre-commit", content: "x" }],
  ["write a hook through a link", "write", { path: "gitlink/hooks/pre-commit", content: "x" }],
  ["write a hook through ..", "write", { path: "x/../.git/hooks/pre-commit", content: "x" }],
  ["write the .git file of a worktree", "write", { path: "tree/.git", content: "gitdir: ../x" }],
  ["write into a bare repository", "write", { path: "bare/config", content: "x" }],
];

const filled = (text: string) =>
  text
    .replaceAll("OUT", outside)
    .replaceAll("FAR", far)
    .replaceAll("WS", ws)
    .replaceAll("PORT", String(port));

describe.each(kinds)("S15 D13 sandbox walk: nothing escapes from $kind", ({ kind, tags }) => {
  test.each(COMMANDS)("a command %s", { tags, timeout: 60_000 }, async (_, command) => {
    const before = around();
    const { text } = await callTool(tools(kind).bash as Tool, {
      command: `echo walks; ${filled(command)}`,
      timeout_ms: 8_000,
    });
    expect(text).toContain("walks");
    expect(text).not.toContain(SECRET);
    expect(around()).toEqual(before);
    expect(connections).toBe(0);
    expect(existsSync(join(ws, "late"))).toBe(false);
    expect(text).not.toContain("WALKED\nWALKED");
    for (const path of ["/tmp/left", "/new", "/var/tmp/new"]) expect(existsSync(path)).toBe(false);
    expect(leftovers()).toEqual([]);
  });
});

describe("S4 sandbox walk: nothing gets past the file tools", { tags: ["needs/bubblewrap"] }, () => {
  test("has at least fifty attempts", () => {
    expect(COMMANDS.length + FILES.length).toBeGreaterThanOrEqual(50);
  });

  test.each(FILES)(
    "S4 a file tool cannot %s",
    async (_, tool, args) => {
      for (const [name, target] of [
        ["link", outside],
        ["chain", "link"],
        ["dangling", join(outside, "new")],
        ["tosecret", join(outside, "secret.txt")],
        ["gitlink", ".git"],
      ])
        symlinkSync(String(target), join(ws, String(name)));
      for (const part of ["bare/objects", "bare/refs", "tree"])
        mkdirSync(join(ws, part), { recursive: true });
      writeFileSync(join(ws, "bare/HEAD"), "");
      writeFileSync(join(ws, "evil.sh"), `#!/bin/sh\ntouch ${ws}/evil-ran\n`, { mode: 0o755 });
      await callTool(tools("bubblewrap").bash as Tool, { command: "mkfifo fifo" });
      const before = around();
      const given = Object.fromEntries(
        Object.entries(args).map(([key, value]) => [key, typeof value === "string" ? filled(value) : value]),
      );
      const { text } = await callTool(tools("bubblewrap")[tool] as Tool, given);
      expect(text).not.toContain(SECRET);
      expect(around()).toEqual(before);
      expect(existsSync(join(ws, "evil-ran"))).toBe(false);
      expect(readFileSync(join(ws, ".git/config"), "utf8")).toBe("[core]\n");
      expect(readdirSync(join(ws, ".git/hooks"))).toEqual([]);
      expect(existsSync(join(ws, ".GIT"))).toBe(false);
      expect(existsSync(join(ws, "tree/.git"))).toBe(false);
      expect(existsSync(join(ws, "bare/config"))).toBe(false);
    },
    30_000,
  );
});

/** A flag in /proc/PID/stat: the process has ended, and the kernel frees its memory. */
const PF_EXITING = 0x4;

/** Returns the running processes of this machine whose working folder is the workspace. */
function leftovers(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const flags = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[6]);
      return (flags & PF_EXITING) === 0 && realpathSync(`/proc/${pid}/cwd`).startsWith(ws);
    } catch {
      return false;
    }
  });
}
