/**
 * Ends a program and everything it started, also what left it: children that began a session of their own
 * (setsid), and those whose parents have died since. Linux's /proc says who belongs to it; elsewhere the
 * process group is all that is found.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** An environment variable with a value of its own for each run; children inherit it wherever they go. */
export const MARK_VARIABLE = "EDGECALL_RUN";

/** Stopping all before killing any is repeated until no new one appears: a program that forks runs ahead. */
const STOP_ROUNDS_MAX = 50;
const LOOK_AGAIN_MS = 5;

export type ProcessTree = {
  /** Leader of its own session and process group. */
  root: number;
  mark: string;
  /** When the root began, in clock ticks since boot: who began before is none of its children. */
  since: number;
};

type Process = { pid: number; parent: number; group: number; session: number; startedAt: number };

/** When a process began, in clock ticks since boot; undefined when it is not there. */
export function startOf(pid: number): number | undefined {
  return look(pid)?.startedAt;
}

/** Of a process that was just started as the leader of a session. */
export function treeOf(root: number, mark: string): ProcessTree {
  return { root, mark, since: startOf(root) ?? 0 };
}

/**
 * Kills all of it and waits until it is gone.
 *
 * @returns false when some of it was still there after `withinMs`: stuck in the kernel, or another user's
 */
export async function killTree(tree: ProcessTree, withinMs = 2_000): Promise<boolean> {
  const end = performance.now() + withinMs;
  const found = new Map<number, Process>();
  for (let round = 0; round < STOP_ROUNDS_MAX; round += 1) {
    const fresh = members(tree, found).filter(({ pid }) => !found.has(pid));
    if (fresh.length === 0) break;
    for (const process of fresh) {
      found.set(process.pid, process);
      send(process.pid, "SIGSTOP");
    }
  }
  send(-tree.root, "SIGKILL");
  for (const { pid } of found.values()) send(pid, "SIGKILL");
  for (;;) {
    const left = [...found.values()].filter(isThere);
    if (left.length === 0) return true;
    if (performance.now() > end) return false;
    await delay(LOOK_AGAIN_MS);
  }
}

/** Those that are alive and belong to it, or descend from one that was found before. */
export function members(tree: ProcessTree, known: ReadonlyMap<number, Process> = new Map()): Process[] {
  const all = alive().filter(({ startedAt }) => startedAt >= tree.since);
  const ours = new Set<number>([tree.root, ...known.keys()]);
  const marked = new Set<number>();
  for (const { pid, group, session } of all) {
    if (session === tree.root || group === tree.root || isMarked(pid, tree.mark)) marked.add(pid);
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
 * Bytes that it gave to disks (`write_bytes`), or wrote to anything (`wchar`). What a child wrote that has ended counts as its parent's.
 *
 * @returns undefined where the system does not tell
 */
export function writtenBy(tree: ProcessTree, field: "write_bytes" | "wchar"): number | undefined {
  if (ioOf("self", field) === undefined) return undefined;
  // One that cannot be read has just ended, or is not yet what it is to be.
  return members(tree).reduce((sum, { pid }) => sum + (ioOf(pid, field) ?? 0), 0);
}

function ioOf(pid: number | "self", field: "write_bytes" | "wchar"): number | undefined {
  try {
    const io = readFileSync(`/proc/${pid}/io`, "latin1");
    const figure = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(io)?.[1] ?? 0);
    // What was deleted before it came to the disk.
    const never = field === "write_bytes" ? figure("cancelled_write_bytes") : 0;
    return Math.max(figure(field) - never, 0);
  } catch {
    return undefined;
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

/** Undefined when it is gone; a zombie is. */
function look(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in brackets and may hold anything.
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

/** The same number may be another process by now. */
function isThere({ pid, startedAt }: Process): boolean {
  return look(pid)?.startedAt === startedAt;
}

function send(pid: number, signal: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or not ours.
  }
}
