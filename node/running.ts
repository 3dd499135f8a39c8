/** Ensures that one gateway runs in a state folder, because two would damage its database. The lock is one file there. */
import { execFileSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";

/** `url` of what listens there, for people and for `--ask`. `started` absent: written by 0.3.0 or before. */
const Lock = z.object({ pid: z.number(), url: z.string(), started: z.optional(z.string()) });
export type Running = z.infer<typeof Lock>;

/** Others may take and leave a lock meanwhile. */
const TRIES = 20;
/** File systems without links, such as FAT, answer this. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

const fileIn = (dir: string) => join(dir, "running.json");

/** Takes the folder for this process, or returns what has it. A lock that a killed program left behind is replaced. */
export function claim(dir: string, url: string): { ok: true; release(): void } | { ok: false; by: Running } {
  const file = fileIn(dir);
  const mine = `${file}.${process.pid}`;
  const text = `${JSON.stringify({ pid: process.pid, url, started: startOf(process.pid) })}\n`;
  writeFileSync(mine, text, { mode: 0o600 });
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      // A link comes whole or not at all, and never in place of another file.
      if (linked(mine, file)) return { ok: true, release: () => release(file, text) };
      const by = runningIn(dir);
      if (by) return { ok: false, by };
      removeStale(dir);
    }
    throw new Error(`${file}: it cannot be replaced`);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** The gateway that runs there; undefined when there is none or it was killed. */
export function runningIn(dir: string): Running | undefined {
  const lock = readLock(fileIn(dir));
  return lock && isAlive(lock) ? lock : undefined;
}

/** Words for people. @param other what to set for a second one */
export function runsAlready(dir: string, { pid, url }: Running, other: string): Error {
  return new Error(
    `a stack runs in ${dir} already (process ${pid}, ${url}); stop it, or set ${other} for another one`,
  );
}

/** Moved away first: of two that find it stale, one alone gets it. */
function removeStale(dir: string): void {
  const file = fileIn(dir);
  const moved = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, moved);
  } catch {
    return;
  }
  const lock = readLock(moved);
  // Another one has replaced the stale lock a moment ago, and this is the new one.
  if (lock && isAlive(lock)) linked(moved, file);
  rmSync(moved, { force: true });
}

function release(file: string, text: string): void {
  try {
    if (readFileSync(file, "utf8") === text) rmSync(file, { force: true });
  } catch {
    // It is gone.
  }
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code === undefined || !NO_LINKS.includes(code)) throw error;
  }
  try {
    writeFileSync(to, readFileSync(from), { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function readLock(file: string): Running | undefined {
  try {
    const read = checkJson(Lock, readFileSync(file, "utf8"));
    return read.ok ? read.value : undefined;
  } catch {
    return undefined;
  }
}

/** Process ids are reused, after a reboot soon: the time of its start names a process. */
function isAlive({ pid, started }: Running): boolean {
  if (started !== undefined) return startOf(pid) === started;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("start.ts");
  } catch {
    return false;
  }
}

/** @returns when a process began, in words that no other process of that id has; undefined: there is no such process */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
      // Behind the name, which may contain anything: the state is the third field, the start the 22nd (proc_pid_stat(5)).
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(")").at(-1)?.trim().split(" ");
      return fields?.[0] === "Z" ? undefined : `${boot} ${fields?.[19]}`;
    }
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined;
  } catch {
    return undefined;
  }
}
