/** Reads /proc/stat twice to measure how busy the processors were in between. */
import { setTimeout as sleep } from "node:timers/promises";
import { readKernel } from "./kernel-files.ts";

/** 20 ticks of the kernel's clock, which is still short enough to wait for. */
export const SAMPLE_MS = 200;

/** Ticks of all processors together. */
export type CpuTime = { busy: number; total: number; cores: number };

export async function readCpuTime(root: string): Promise<CpuTime | undefined> {
  const text = await readKernel(root, "/proc/stat");
  const line = text?.split("\n").find((candidate) => candidate.startsWith("cpu "));
  if (text === undefined || line === undefined) return undefined;
  // user nice system idle iowait irq softirq steal; user already includes guest time.
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const total = ticks.reduce((sum, value) => sum + value, 0);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  if (!Number.isFinite(total) || total === 0) return undefined;
  return { busy: total - idle, total, cores: text.match(/^cpu\d+ /gm)?.length ?? 1 };
}

/** Runs `read` before and after the sample time. */
export async function sampled<T>(read: () => Promise<T>, signal: AbortSignal): Promise<[T, T]> {
  const before = await read();
  await sleep(SAMPLE_MS, undefined, { signal });
  return [before, await read()];
}
