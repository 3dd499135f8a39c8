/** The processor time of another program, on Linux. */
import { readFileSync } from "node:fs";

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
