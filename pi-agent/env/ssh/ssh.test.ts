// @module-tag needs/openssh-server
// @module-tag needs/openssh-client
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
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
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../../test/wait.ts";
import { casesOf } from "../../testing/cases.ts";
import { type Sshd, startSshd } from "../../testing/sshd.ts";
import { FarEndFilter } from "./far-script.ts";
import { ssh, sshMissing } from "./ssh.ts";
import { type SshOptions, sshArguments } from "./ssh-arguments.ts";

let sshd: Sshd;
let cwd: string;
let options: SshOptions;
beforeAll(async () => {
  sshd = await startSshd();
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-far-")));
  options = { name: "far", host: "127.0.0.1", ...sshd, cwd };
});
afterAll(async () => {
  await sshd.close();
  rmSync(cwd, { recursive: true, force: true });
});

test("an unknown host key, a wrong key and a closed port are distinguished", async () => {
  expect(await sshMissing(options)).toBeUndefined();
  expect(await sshMissing({ ...options, knownHosts: "/dev/null" })).toContain("Host key verification failed");
  expect(await sshMissing({ ...options, key: "/dev/null" })).toContain("Permission denied");
  expect(await sshMissing({ ...options, port: 1 })).toContain("Connection refused");
}, 20_000);

test("an unreachable command fails, and never runs here", async () => {
  const far = ssh({ ...options, port: 1 });
  await expect(
    far.exec.run(["touch", join(cwd, "here")], { signal: new AbortController().signal }),
  ).rejects.toMatchObject({ code: "io" });
  await expect(far.files.writeFile("here", Buffer.from("x"))).rejects.toMatchObject({ code: "io" });
  await far.close();
  expect(readdirSync(cwd)).toEqual([]);
});

test("many calls share a connection, also more at once than a server allows on one; close ends it", async () => {
  const far = ssh(options);
  const runs = Array.from({ length: 14 }, async (_, n) => {
    const ran = await far.exec.run(["sh", "-c", `exit ${n}`], { signal: new AbortController().signal });
    return ran.exitCode;
  });
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 14 }, (_, n) => n));
  await far.close();
  await until(() => mastersOf(sshd.key).length === 0, { what: "the master ends" });
}, 20_000);

test("D12 close resolves even when nothing else keeps the process running", async () => {
  const script = `
    import { ssh } from ${JSON.stringify(import.meta.resolve("./ssh.ts"))};
    const far = ssh(${JSON.stringify(options)});
    await far.exec.run(["true"], { signal: new AbortController().signal });
    await far.close();
    console.log("closed");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
  let said = "";
  child.stdout.on("data", (chunk) => (said += chunk));
  child.stderr.on("data", (chunk) => (said += chunk));
  const [code] = await once(child, "close");
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining("closed") });
}, 30_000);

test("D12 close ends a client that does not end by itself", async () => {
  const program = join(cwd, "stubborn-ssh");
  writeFileSync(program, "#!/bin/sh\ntrap '' TERM\nread -r end\nsleep 600\n", { mode: 0o755 });
  const far = ssh({ ...options, program });
  const stop = new AbortController();
  const running = far.exec.run(["true"], { signal: stop.signal }).catch(() => {});
  await until(() => mastersOf(sshd.key).length > 0, { what: "the client runs" });
  stop.abort();
  await far.close();
  expect(mastersOf(sshd.key)).toEqual([]);
  await running;
}, 30_000);

/** The rest of the group concerns an agent and the gateway: worker/kernel/conversation/remote-cases.test.ts. */
test("remote/cancel-confirmed, remote/transport-shorter-than-command", async () => {
  expect(casesOf("remote").map(({ id }) => id)).toContain("remote/cancel-confirmed");
  const far = ssh(options);
  const stop = new AbortController();
  const pidFile = join(cwd, "pid");
  const running = far.exec.run(["sh", "-c", "echo $$ > pid; exec sleep 60"], { signal: stop.signal });
  const pid = await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").trim());
  stop.abort();
  expect(await running).toMatchObject({ stopped: true });
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  const slow = await far.exec.run(["sleep", "2"], { signal: AbortSignal.timeout(5_000) });
  expect(slow).toMatchObject({ exitCode: 0, stopped: false });
  await far.close();
}, 20_000);

test.each([
  ["host", "-oProxyCommand=x"],
  ["host", "a b"],
  ["user", "-l"],
  ["user", "a@b"],
  ["port", 0],
  ["cwd", "relative"],
  ["cwd", "/a/../b"],
  ["key", "relative"],
  ["knownHosts", '/a"b'],
] as const)("%s %j is refused", (field, value) => {
  expect(() => sshArguments({ ...options, [field]: value })).toThrow(/no |must be/);
});

test("no option asks, forwards or trusts", () => {
  const line = sshArguments(options).join(" ");
  for (const setting of [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "ForwardAgent=no",
    "IdentityAgent=none",
  ])
    expect(line).toContain(setting);
  expect(line).toMatch(/^-F none /);
});

test("the last line of stderr is found however it is split, and nothing else is held back", () => {
  const whole = Buffer.from("words\0 more\n\0mark exit 7\n");
  for (let size = 1; size <= whole.length; size += 1) {
    let passed = "";
    const filter = new FarEndFilter(
      "mark",
      (chunk) => {
        passed += Buffer.from(chunk).toString();
      },
      () => {},
    );
    for (let at = 0; at < whole.length; at += size) filter.add(whole.subarray(at, at + size));
    expect(filter.end).toEqual({ end: "exit", code: 7 });
    expect(passed).toBe("words\0 more\n");
  }
});

/** Returns the connections that are kept for later calls. */
function mastersOf(key: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return words.includes("-M") && words.some((word) => word.includes(key));
    } catch {
      return false;
    }
  });
}
