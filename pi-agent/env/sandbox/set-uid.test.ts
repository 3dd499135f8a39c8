// @module-tag needs/bubblewrap
/** Ways of a program in the sandbox to leave a file that runs with the agent's rights for whoever starts it outside. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callTool } from "../../testing/call.ts";
import { bash } from "../../tools/programs/bash.ts";
import { sandbox } from "./sandbox.ts";

let ws: string;
beforeEach(() => {
  ws = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-set-uid-")));
});
afterEach(() => rmSync(ws, { recursive: true, force: true }));

const run = async (command: string) => await callTool(bash(sandbox({ workspace: ws })), { command });
const special = () => execFileSync("find", [ws, "-perm", "/6000"], { encoding: "utf8" });
const python = (...lines: string[]) =>
  `python3 - <<'END'\n${["import ctypes, os, struct", "libc = ctypes.CDLL(None)", "x86 = os.uname().machine == 'x86_64'", "os.umask(0)", "open('f', 'w').close()", ...lines].join("\n")}\nEND\n`;

describe("S27: a program makes no set-uid file", () => {
  test.each([
    ["chmod u+s", "cp /bin/true f; chmod u+s f"],
    ["chmod 6755", "cp /bin/true f; chmod 6755 f"],
    ["chmod of a folder, for the group", "mkdir d; chmod g+s d"],
    ["install", "install -m 4755 /bin/true f"],
    [
      "an archive",
      `${python("import tarfile", "t = tarfile.open('t', 'w')", "i = tarfile.TarInfo('g')", "i.mode = 0o4755", "t.addfile(i)", "t.close()")}tar -xpf t`,
    ],
    ["fchmod", python("os.fchmod(os.open('f', os.O_RDWR), 0o4755)")],
    ["fchmodat", python("os.chmod('f', 0o2755, dir_fd=os.open('.', os.O_RDONLY))")],
    ["fchmodat2", python("libc.syscall(452, os.open('.', os.O_RDONLY), b'f', 0o4755, 0)")],
    ["open", python("libc.syscall(2, b'g', os.O_CREAT | os.O_WRONLY, 0o4755) if x86 else None")],
    ["openat", python("os.open('g', os.O_CREAT | os.O_WRONLY, 0o4755)")],
    [
      "openat2",
      python("libc.syscall(437, -100, b'g', struct.pack('QQQ', os.O_CREAT | os.O_WRONLY, 0o4755, 0), 24)"),
    ],
    [
      "a file without a name that gets one",
      python("f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755)", "os.link(f'/proc/self/fd/{f}', 'g')"),
    ],
    ["creat", python("libc.syscall(85, b'g', 0o4755) if x86 else None")],
    ["mknod", python("os.mknod('g', 0o104755)")],
    ["mknodat", python("os.mknod('g', 0o102755, dir_fd=os.open('.', os.O_RDONLY))")],
    [
      "upper bits beside the mode",
      python(
        "libc.syscall(90 if x86 else 52, b'f' if x86 else os.open('f', os.O_RDWR), ctypes.c_long(0xffff0000 | 0o4755))",
      ),
    ],
  ])("S27: %s", async (_, command) => {
    await run(command);
    expect(special()).toBe("");
  });

  test("S27: all other modes are made as before", async () => {
    const { text, code } = await run(
      `umask 0; touch a; chmod 1777 a; chmod 751 a; mkdir -m 1777 d; install -m 755 /bin/true t; ./t; stat -c %a a d t\n${python("os.close(os.open('f', os.O_RDONLY, 0o6000))", "print('read')")}`,
    );
    expect([text, code]).toEqual(["751\n1777\n755\nread\n", undefined]);
  });
});
