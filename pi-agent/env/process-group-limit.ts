/**
 * Limits the processes of a sandbox when the agent runs as root, which the kernel exempts from prlimit's limit. It uses a
 * control group of version 2 or 1. Without one, root has no limit; the agent should run as an ordinary user anyway.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export type ProcessGroupLimit = {
  /** Prefix of a command, which joins the group and then runs the command. Empty when there is no limit to set. */
  prefix: readonly string[];
  /** The group's folder; absent when there is none. */
  group?: string;
  release(): Promise<void>;
};

const NONE: ProcessGroupLimit = { prefix: [], release: async () => {} };
/** The kernel needs a moment to release a group after its last process died. */
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
      group,
      release: async () => await removeGroup(group),
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
    // The file exists only when the controller is active.
    await writeFile(join(group, "pids.max"), String(processes), { flag: "r+" });
    return group;
  } catch {
    await removeGroup(group);
    return undefined;
  }
}

/** Removes a control group once its last process has ended. Never rejects. */
export async function removeGroup(group: string): Promise<void> {
  for (let tries = 0; tries < RELEASE_TRIES; tries += 1) {
    try {
      return await rmdir(group);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY") return;
      await delay(RELEASE_EVERY_MS);
    }
  }
}
