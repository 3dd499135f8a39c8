/** The processor time of other processes. Unlike wall time, it hardly depends on the machine's other work. */
import { readFileSync } from "node:fs";
import { load } from "./load.ts";
import type { Path } from "./path.ts";

/** Enough that no process sleeps long between two calls, and few enough that no call waits in a long queue. */
const AT_ONCE = 8;

/** Milliseconds of processor time that one call takes in each process, including the turn around it. */
export type CpuFigures = Record<keyof Path["pids"], number>;

export async function measureCpu(path: Path, forMs: number): Promise<CpuFigures> {
  let calls = 0;
  const spent = await cpuDuring(path.pids, async () => {
    calls = (await load(path.call, AT_ONCE, forMs)).samples;
  });
  return { workerd: spent.workerd / calls, bridge: spent.bridge / calls, agent: spent.agent / calls };
}

/** USER_HZ: the unit of /proc, the same on every Linux that Node runs on (proc(5)). */
const MS_PER_TICK = 10;
/** Positions in /proc/PID/stat after the name, which may contain spaces; the state is the first. */
const USER = 11;
const SYSTEM = 12;

/** Returns the milliseconds that a process has spent so far, in user and system mode, in all its threads. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER]) + Number(fields[SYSTEM])) * MS_PER_TICK;
}

/** Returns the milliseconds that each process spends while `work` runs. */
async function cpuDuring<Name extends string>(
  pids: Readonly<Record<Name, number>>,
  work: () => Promise<unknown>,
): Promise<Record<Name, number>> {
  const read = () =>
    Object.fromEntries(Object.entries<number>(pids).map(([name, pid]) => [name, cpuMs(pid)])) as Record<
      Name,
      number
    >;
  const before = read();
  await work();
  const after = read();
  for (const name in after) after[name] -= before[name];
  return after;
}
