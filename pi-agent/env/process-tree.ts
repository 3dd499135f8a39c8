/**
 * Ends a program and everything that it started, including children with a session of their own (setsid) and children whose
 * parents have died. Linux' /proc shows what belongs to it; other systems show only the process group.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** An environment variable with a different value for each run; all descendants inherit it. */
export const MARK_VARIABLE = "EDGECALL_RUN";

/** All processes are stopped before any is killed. This repeats until no new one appears, because a program may fork. */
const STOP_ROUNDS_MAX = 50;
const LOOK_AGAIN_MS = 5;
const GONE_WITHIN_MS = 2_000;

export type ProcessTree = {
  /** Leader of its own session and process group. */
  root: number;
  mark: string;
  /** Start of the root in clock ticks since boot; processes that began earlier are not its children. */
  since: number;
};

type Process = { pid: number; parent: number; group: number; session: number; startedAt: number };

/** Returns a process's start in clock ticks since boot; undefined when there is no such process. */
export function startOf(pid: number): number | undefined {
  return look(pid)?.startedAt;
}

/** Describes a process that was just started as the leader of a session. */
export function treeOf(root: number, mark: string): ProcessTree {
  return { root, mark, since: startOf(root) ?? 0 };
}

/**
 * Kills the tree and waits until it is gone.
 * @returns false when a process was still there after 2 s: stuck in the kernel, or another user's
 */
export async function killTree(tree: ProcessTree): Promise<boolean> {
  const end = performance.now() + GONE_WITHIN_MS;
  const found = new Map<number, Process>();
  for (let round = 0; round < STOP_ROUNDS_MAX; round += 1) {
    const fresh = members(tree, found).filter(({ pid }) => !found.has(pid));
    if (fresh.length === 0) break;
    for (const process of fresh) {
      found.set(process.pid, process);
      send(process.pid, "SIGSTOP");
    }
  }
  if (!isReused(tree)) send(-tree.root, "SIGKILL");
  for (const { pid } of found.values()) send(pid, "SIGKILL");
  for (;;) {
    const left = [...found.values()].filter(isThere);
    if (left.length === 0) return true;
    if (performance.now() > end) return false;
    await delay(LOOK_AGAIN_MS);
  }
}

/**
 * True if the root's id belongs to another process by now. The system gives an id away only when no process is left in the
 * group and session of that id, so then only the mark tells what belongs to the tree.
 */
function isReused({ root, since }: ProcessTree): boolean {
  const startedAt = startOf(root);
  return startedAt !== undefined && startedAt !== since;
}

/** The ids of the living processes of a tree. */
export function pidsOf(tree: ProcessTree): number[] {
  return members(tree).map(({ pid }) => pid);
}

/** Returns the living processes that belong to the tree or descend from a known one. */
function members(tree: ProcessTree, known: ReadonlyMap<number, Process> = new Map()): Process[] {
  const all = alive().filter(({ startedAt }) => startedAt >= tree.since);
  const root = isReused(tree) ? undefined : tree.root;
  const ours = new Set<number>(root === undefined ? known.keys() : [root, ...known.keys()]);
  const marked = new Set<number>();
  for (const { pid, group, session } of all) {
    const isInGroup = root !== undefined && (session === root || group === root);
    if (isInGroup || isMarked(pid, tree.mark)) marked.add(pid);
  }
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of all) {
      if (ours.has(pid) || !(marked.has(pid) || ours.has(parent))) continue;
      ours.add(pid);
      grown = true;
    }
  }
  return all.filter(({ pid }) => ours.has(pid));
}

/**
 * Returns the bytes that the tree wrote to disks (`write_bytes`) or to anything (`wchar`). Bytes of an ended child count for
 * its parent.
 * @returns undefined where the system does not tell; Infinity if a program hides its figures, as it may from an agent that is not root
 */
export function writtenBy(tree: ProcessTree, field: "write_bytes" | "wchar"): number | undefined {
  if (ioOf("self", field) === undefined) return undefined;
  return members(tree).reduce((sum, { pid }) => sum + (ioOf(pid, field) ?? 0), 0);
}

function ioOf(pid: number | "self", field: "write_bytes" | "wchar"): number | undefined {
  try {
    const io = readFileSync(`/proc/${pid}/io`, "latin1");
    const figure = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(io)?.[1] ?? 0);
    // Subtracts data that was deleted before it reached the disk.
    const never = field === "write_bytes" ? figure("cancelled_write_bytes") : 0;
    return Math.max(figure(field) - never, 0);
  } catch (error) {
    // It has just ended or has not fully started, unless it may not be read.
    return (error as NodeJS.ErrnoException).code === "EACCES" ? Number.POSITIVE_INFINITY : undefined;
  }
}

function alive(): Process[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  return names.flatMap((name) => (/^\d+$/.test(name) ? (look(Number(name)) ?? []) : []));
}

/** Reads a process; undefined when it is gone or a zombie. */
function look(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in brackets and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent, group, session] = fields;
    if (state === "Z" || state === "X") return undefined;
    return {
      pid,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      startedAt: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}

function isMarked(pid: number, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${MARK_VARIABLE}=${mark}\0`);
  } catch {
    return false;
  }
}

/** Compares the start too, because the id may belong to another process by now. */
function isThere({ pid, startedAt }: Process): boolean {
  return look(pid)?.startedAt === startedAt;
}

function send(pid: number, signal: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is already gone, or belongs to another user.
  }
}
