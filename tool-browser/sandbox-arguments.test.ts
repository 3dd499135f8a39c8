/** The rights of a program in the browser's sandbox. A shell takes the place of a Chromium that a page took over. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { systemFolders } from "@edgecall/pi-agent/env/sandbox/sandbox.ts";
import { startTrap } from "@edgecall/pi-agent/testing/web-site.ts";
import { describe, expect, test } from "vitest";
import { RELAY_PORT } from "./relay.ts";
import { BROWSER_ENV, CHROMIUM_ARGUMENTS, COVERED_PROC, sandboxArguments } from "./sandbox-arguments.ts";

const run = promisify(execFile);
const AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
const isRoot = process.getuid?.() === 0;

const USERS: Array<[string, readonly string[]]> = isRoot
  ? [
      ["as root", []],
      ["as nobody", AS_NOBODY],
    ]
  : [["as this user", []]];

const place = {
  program: "/usr/lib/chromium/chromium",
  node: process.execPath,
  system: systemFolders(),
  proc: COVERED_PROC.filter((name) => existsSync(`/proc/${name}`)),
};

async function inside(script: string, as: readonly string[] = []): Promise<string> {
  const [program = "", ...args] = [...as, "bwrap", ...sandboxArguments(place), "sh", "-c", script];
  const { stdout } = await run(program, args, { env: BROWSER_ENV });
  return stdout.trim();
}

describe.each(USERS)("%s", { tags: ["needs/bubblewrap", "needs/chromium"] }, (_, as) => {
  test("the only network is its own loopback", async () => {
    const trap = await startTrap();
    const said = await inside(
      `cut -d: -f1 /proc/net/dev | tail -n +3; /run/edgecall/node -e '
          for (const host of ["127.0.0.1", "::1", "169.254.169.254", "1.1.1.1"])
            require("node:net").connect(${trap.port}, host).on("connect", () => console.log("open " + host)).on("error", (e) => console.log(e.code));'`,
      as,
    );
    expect(
      said
        .split("\n")
        .map((line) => line.trim())
        .sort(),
    ).toEqual(["ECONNREFUSED", "ECONNREFUSED", "ENETUNREACH", "ENETUNREACH", "lo"]);
    expect(trap.connections()).toBe(0);
    await trap.close();
  });

  test("the only files are the host's programs, and only memory can be written", async () => {
    expect(
      await inside(
        "ls /; ls /etc /home /root /var /sys 2>/dev/null; cat /etc/passwd /etc/shadow 2>&1 || true",
        as,
      ),
    ).not.toMatch(/root:|home|work|ssh|hostname/);
    expect(
      await inside(
        "for at in / /usr /etc /run /run/edgecall /proc/sys; do touch $at/x 2>/dev/null && echo $at; done; true",
        as,
      ),
    ).toBe("");
    expect(
      await inside(
        "find / -path '/proc/[0-9]*' -prune -o -path /proc/thread-self -prune -o -path /dev -prune -o -type f -writable -print 2>/dev/null | grep -Ev '^/proc/(pressure/|mtrr$)' || true",
        as,
      ),
    ).toBe("");
    expect(await inside("find /proc/sys /proc/irq -type f 2>/dev/null | wc -l", as)).toBe("0");
  });

  test("there is no process, no capability and no variable of the agent", async () => {
    expect(await inside("ls -d /proc/[0-9]* | wc -l", as)).toMatch(/^[1-5]$/);
    expect(await inside("grep CapEff /proc/self/status; id -u", as)).toMatch(/0000000000000000\n1000$/);
    expect(await inside("tr '\\0' '\\n' < /proc/1/environ | cut -d= -f1 | sort | tr '\\n' ' '", as)).toMatch(
      /^HOME LANG PATH (PWD )?TMPDIR$/,
    );
  });

  test("Chromium's own sandbox has the namespaces that it needs", async () => {
    expect(await inside("unshare --user --net --pid --fork true && echo yes", as)).toBe("yes");
  });
});

test("Chromium runs with its own sandbox, and with the guard for all its connections", () => {
  const all = CHROMIUM_ARGUMENTS.join("\n");
  expect(all).not.toMatch(/no-sandbox|disable-setuid|disable-seccomp|single-process|remote-debugging-port/);
  for (const needed of [
    `--proxy-server=http://127.0.0.1:${RELAY_PORT}`,
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  ])
    expect(CHROMIUM_ARGUMENTS).toContain(needed);
});
