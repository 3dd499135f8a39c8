/** The agent ends leftover processes at its start; a folder takes the place of the kernel's control groups. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { JobFiles } from "../calls/job-files.ts";
import { LeftRunning } from "../env/environment.ts";
import { localExec } from "../env/local-exec.ts";
import { startOf } from "../env/process-tree.ts";
import { endLeftovers } from "./leftovers.ts";

const UNIT = "edgecall-agent.service";
let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgecall-leftovers-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function sleeping(): number {
  const child = spawn("sleep", ["60"], { detached: true, env: {} });
  children.push(child);
  return child.pid ?? expect.fail("not started");
}

/** @param line of /proc/self/cgroup */
async function ends(pids: readonly number[], line = `0::/system.slice/${UNIT}`, unit: string | null = UNIT) {
  const group = join(folder, "cgroups", line.slice(line.indexOf("/")));
  mkdirSync(group, { recursive: true });
  mkdirSync(join(folder, "proc/self"), { recursive: true });
  writeFileSync(join(folder, "proc/self/cgroup"), `${line}\n`);
  writeFileSync(join(group, "cgroup.procs"), [process.pid, ...pids, ""].join("\n"));
  return await endLeftovers({
    stateDir: folder,
    env: unit === null ? {} : { EDGECALL_UNIT: unit },
    log: () => {},
    proc: join(folder, "proc"),
    cgroups: join(folder, "cgroups"),
  });
}

test("a process that the last agent left is ended; a job and what it started go on", async () => {
  const files = new JobFiles(folder);
  const token = crypto.randomUUID();
  const dir = files.dir(token);
  const caller = { principal: "p", role: "owner", channel: "c" };
  await files.begin(token, { of: "call", tool: "bash", caller, maxMs: 60_000 });
  const { detached } = localExec(folder);
  await detached?.start(["sh", "-c", "setsid sleep 60 & echo $!; wait"], { dir, endAfterMs: 60_000 });
  const leaving = new AbortController();
  let printed = "";
  const following = detached?.follow(dir, {
    signal: leaving.signal,
    onOutput: (chunk) => (printed += Buffer.from(chunk).toString()),
  });
  const inner = await until(() => Number(printed));
  leaving.abort(new LeftRunning());
  await expect(following).rejects.toThrow(LeftRunning);
  const left = sleeping();
  expect(await ends([left, inner])).toBe(1);
  await until(() => startOf(left) === undefined);
  expect(startOf(inner)).toBeDefined();
  // A job that the record calls ended protects nothing any more.
  await files.end(token, { status: "error", text: "" });
  expect(await ends([inner])).toBe(1);
  await until(() => startOf(inner) === undefined);
});

test("nothing is ended outside of a service with such a unit", async () => {
  const other = sleeping();
  expect(await ends([other], `0::/system.slice/${UNIT}`, null)).toBe(0);
  expect(await ends([other], "0::/", UNIT)).toBe(0);
  expect(await ends([other], "0::/user.slice/user-1000.slice/session-3.scope", UNIT)).toBe(0);
  expect(await ends([other], `0::/system.slice/other-${UNIT}`, UNIT)).toBe(0);
  expect(startOf(other)).toBeDefined();
});
