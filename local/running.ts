/** Ensures that one stack runs in a state folder, because two Workers would damage its database. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";

const RunningFile = z.object({ pid: z.number(), url: z.string() });
export type Running = z.infer<typeof RunningFile>;

const fileIn = (dir: string) => join(dir, "running.json");

/** Claims the folder for this process, or returns the stack that has it. */
export function claim(dir: string, url: string): { ok: true; release(): void } | { ok: false; by: Running } {
  const by = runningIn(dir);
  if (by) return { ok: false, by };
  const file = fileIn(dir);
  writeFileSync(file, `${JSON.stringify({ pid: process.pid, url })}\n`, { mode: 0o600 });
  return { ok: true, release: () => rmSync(file, { force: true }) };
}

/** The stack that runs there; undefined when there is none or it was killed. */
export function runningIn(dir: string): Running | undefined {
  try {
    const read = checkJson(RunningFile, readFileSync(fileIn(dir), "utf8"));
    return read.ok && isStack(read.value.pid) ? read.value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process lives and, if /proc tells, is the one that wrote the file, since process ids are reused. */
function isStack(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("start.ts");
  } catch {
    return process.platform !== "linux";
  }
}
