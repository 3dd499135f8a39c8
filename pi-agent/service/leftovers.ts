/**
 * Ends what an earlier process of the agent's service left running. The service's unit has `KillMode=process`, so that jobs go
 * on when the agent ends. systemd then leaves everything else running too, and the next agent ends it here.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@edgecall/node/log.ts";
import { JobFiles } from "../calls/job-files.ts";
import { treeOfDetached } from "../env/detached.ts";
import { pidsOf, startOf } from "../env/process-tree.ts";

/** The unit's variable with its own name, which only a unit with `KillMode=process` sets. */
export const UNIT_VARIABLE = "EDGECALL_UNIT";

/** A program may fork while it is looked at. */
const ROUNDS_MAX = 50;
const LOOK_AGAIN_MS = 5;

export type LeftoversOptions = {
  stateDir: string;
  env: Readonly<Record<string, string | undefined>>;
  log: Log;
  /** The folder of the kernel's files; tests have another one. */
  proc?: string;
  cgroups?: string;
};

/**
 * Kills every process of the service's control group but this one and those of jobs. Call it before anything else is started.
 * Does nothing outside of such a service.
 * @returns how many were killed
 */
export async function endLeftovers({
  stateDir,
  env,
  log,
  proc = "/proc",
  cgroups = "/sys/fs/cgroup",
}: LeftoversOptions): Promise<number> {
  const unit = env[UNIT_VARIABLE];
  const groups = unit === undefined ? [] : await groupsOf(unit, proc, cgroups);
  const killed = new Set<number>();
  for (let round = 0; groups.length > 0 && round < ROUNDS_MAX; round += 1) {
    const jobs = await pidsOfJobs(stateDir);
    const left = (await Promise.all(groups.map(pidsIn))).flat().filter((pid) => {
      // A starter may have stayed above this process. One that is dying stays in the group for a moment.
      return pid !== process.pid && pid !== process.ppid && !jobs.has(pid) && startOf(pid) !== undefined;
    });
    if (left.length === 0) break;
    for (const pid of left) if (kill(pid)) killed.add(pid);
    await delay(LOOK_AGAIN_MS);
  }
  if (killed.size > 0) log("warn", "agent.leftovers_ended", { processes: killed.size });
  return killed.size;
}

/**
 * Returns the folders of this process's control group. It must be the unit's own: in a container or a login session, the group
 * holds others' processes as well.
 */
async function groupsOf(unit: string, proc: string, cgroups: string): Promise<string[]> {
  const lines = (await readFile(join(proc, "self/cgroup"), "utf8").catch(() => "")).trim().split("\n");
  return lines.flatMap((line) => {
    const [, controllers = "", ...rest] = line.split(":");
    const path = rest.join(":");
    if (!path.endsWith(`/${unit}`)) return [];
    if (controllers === "") return [join(cgroups, path), join(cgroups, "unified", path)];
    return controllers === "name=systemd" ? [join(cgroups, "systemd", path)] : [];
  });
}

async function pidsIn(group: string): Promise<number[]> {
  const text = await readFile(join(group, "cgroup.procs"), "latin1").catch(() => "");
  const below = await readdir(group, { withFileTypes: true }).catch(() => []);
  const folders = below.filter((entry) => entry.isDirectory()).map(({ name }) => join(group, name));
  const deeper = await Promise.all(folders.map(pidsIn));
  return [...text.split("\n").filter(Boolean).map(Number), ...deeper.flat()];
}

async function pidsOfJobs(stateDir: string): Promise<Set<number>> {
  const files = new JobFiles(stateDir);
  const running = (await files.list()).filter(({ ended }) => ended === undefined);
  const trees = await Promise.all(running.map(({ token }) => treeOfDetached(files.dir(token))));
  return new Set(trees.flatMap((tree) => (tree ? pidsOf(tree) : [])));
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
