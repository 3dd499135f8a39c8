/**
 * How many processes a sandbox may have when the agent runs as root, whom the kernel exempts from the limit
 * that prlimit sets: a control group, of version 2 or 1. Without one, root has no limit; the agent should be
 * an ordinary user anyway.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export type ProcessGroupLimit = {
  /** Before a command: it joins the group and then becomes the command. Empty when there is no limit to set. */
  prefix: readonly string[];
  release(): Promise<void>;
};

const NONE: ProcessGroupLimit = { prefix: [], release: async () => {} };
/** The kernel takes a moment to let go of a group whose last process has died. */
const RELEASE_TRIES = 100;
const RELEASE_EVERY_MS = 10;

/** @param root where control groups are mounted */
export async function processGroupLimit(
  processes: number,
  root = "/sys/fs/cgroup",
): Promise<ProcessGroupLimit> {
  if (process.getuid?.() !== 0) return NONE;
  for (const parent of [join(root, "pids"), root]) {
    const group = await made(parent, processes);
    if (group === undefined) continue;
    return {
      prefix: ["/bin/sh", "-c", 'echo 0 > "$0/cgroup.procs" && exec "$@"', group],
      release: async () => await remove(group),
    };
  }
  return NONE;
}

async function made(parent: string, processes: number): Promise<string | undefined> {
  const group = join(parent, `edgecall-${randomUUID()}`);
  try {
    await readFile(join(parent, "cgroup.procs"), "latin1");
    await mkdir(group);
  } catch {
    return undefined;
  }
  try {
    // The file is there when the controller is; writing would otherwise make nothing but an error.
    await writeFile(join(group, "pids.max"), String(processes), { flag: "r+" });
    return group;
  } catch {
    await remove(group);
    return undefined;
  }
}

async function remove(group: string): Promise<void> {
  for (let tries = 0; tries < RELEASE_TRIES; tries += 1) {
    try {
      return await rmdir(group);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY") return;
      await delay(RELEASE_EVERY_MS);
    }
  }
}
