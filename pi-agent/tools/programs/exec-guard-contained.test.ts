/**
 * Ways round any list of patterns. The guard may let them pass, and the sandbox must make their effect impossible. They
 * run with bash in a real bubblewrap, as this user and, for root, as an ordinary user too.
 */
// @module-tag needs/bubblewrap
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { casesOf } from "../../testing/cases.ts";
import { contained, containedAsNobody } from "../../testing/contained.ts";

const IS_ROOT = process.getuid?.() === 0;
const RUNNERS = IS_ROOT ? { root: contained, nobody: containedAsNobody } : { user: contained };

describe.each(Object.entries(RUNNERS))("as %s", (who, run) => {
  let folder: string;
  let outside: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-contained-")));
    outside = mkdtempSync(join(tmpdir(), "edgecall-outside-"));
    writeFileSync(join(outside, "kept"), "kept");
    if (who === "nobody") {
      chownSync(folder, 65_534, 65_534);
      chownSync(outside, 65_534, 65_534);
    }
  });
  afterEach(() => {
    expect(readFileSync(join(outside, "kept"), "utf8")).toBe("kept");
    rmSync(folder, { recursive: true, force: true });
    rmSync(outside, { recursive: true, force: true });
  });

  const cases = casesOf("exec_guard").filter((one) => one.expect.verdict === "contained");
  test.each(cases.map((one) => [one.id, one] as const))(
    "%s",
    async (id, one) => {
      const given = one.given as { files?: Record<string, string>; thenWrite?: string };
      for (const [path, text] of Object.entries(given.files ?? {}))
        writeFileSync(join(folder, path.replace("/ws/", "")), text);
      const command = String(one.input.command);
      const keys = given.thenWrite?.split("\n").flatMap((line) => (line === "" ? [] : [line, "<enter>"]));
      const shadow = IS_ROOT ? readFileSync("/etc/shadow", "utf8").slice(0, 20) : "root:";
      const ran = await run(folder, { command, timeoutMs: 4_000, ...(keys && { keys }) });
      expect(ran.text).not.toContain(shadow);
      expect(existsSync("/etc/passwd")).toBe(true);
      expect(ran.mostProcesses, id).toBeLessThanOrEqual(300);
      expect(leftOf(folder)).toEqual([]);
    },
    30_000,
  );

  test("an endless process storm meets its limit, and ends with the call", async () => {
    const ran = await run(folder, { command: ":(){ :|:& };: ; sleep 60", timeoutMs: 1_500 });
    expect(ran.code).toBe("timeout");
    expect(ran.mostProcesses).toBeGreaterThan(100);
    expect(ran.mostProcesses).toBeLessThanOrEqual(300);
    expect(leftOf(folder)).toEqual([]);
  }, 30_000);

  test.each([
    ["the environment of this process", "cat /proc/1/environ /proc/*/environ", /EDGECALL_TEST_SECRET|VITEST/],
    [
      "a program that the kernel starts",
      "echo '|/bin/false' > /proc/sys/kernel/core_pattern && echo WROTE",
      /WROTE/,
    ],
    [
      "the host's folders",
      "ls -d /root /home /var /opt /work /etc/passwd /etc/ssh",
      /^\/(root|home|var|opt|work|etc)/m,
    ],
    [
      "a network",
      "(echo > /dev/tcp/127.0.0.1/22) && echo OPEN; cat /proc/net/dev | grep -v lo: | grep : && echo CARD",
      /OPEN|CARD/,
    ],
    [
      "a disk",
      "ls /dev; for d in sda vda mem kmsg mmcblk0; do test -e /dev/$d && echo THERE; done; mknod d b 8 0 && echo MADE",
      /THERE|MADE|sda|vda|mmcblk|kmsg/,
    ],
    ["further namespaces", "unshare -Urm true && echo MADE", /MADE/],
    [
      "the system's programs",
      "echo x > /usr/bin/x && echo WROTE; touch /bin/y && echo WROTE; mkdir /new && echo WROTE",
      /WROTE/,
    ],
    [
      "this machine's processes",
      "kill -0 -1 && ls /proc | grep -c '^[0-9]' | awk '$1 > 8 {print \"MANY\"}'",
      /MANY/,
    ],
    [
      "a large file",
      "head -c 1100M /dev/zero > big; stat -c %s big | awk '$1 > 1073741824 {print \"BIG\"}'; rm -f big",
      /BIG/,
    ],
    [
      "memory by way of /tmp",
      "head -c 100M /dev/zero > /tmp/big; stat -c %s /tmp/big | awk '$1 > 67108864 {print \"BIG\"}'",
      /BIG/,
    ],
  ])(
    "is kept from %s",
    async (_what, command, never) => {
      process.env.EDGECALL_TEST_SECRET = "secret";
      const ran = await run(folder, { command, timeoutMs: 20_000 });
      delete process.env.EDGECALL_TEST_SECRET;
      expect(ran.text.replaceAll(command, "")).not.toMatch(never);
    },
    30_000,
  );
});

/** Returns the calls' processes, by their working folder. */
function leftOf(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
}
