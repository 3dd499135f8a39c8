/** Our way of doing something beside the plain one, in turns: a shared machine drifts for both alike. */
import { readFileSync } from "node:fs";
import { median } from "../stats.ts";

export type Pair = {
  what: string;
  /** What ours is held against, in words. */
  plainly: string;
  ours(): Promise<void>;
  plain(): Promise<void>;
  /** Of each, in a round: so that a round lasts long enough for the kernel's clock of processor time (10 ms). */
  times: number;
};

/** ms of one call; of a round, or the median of rounds. `cpu` with that of the processes that it started. */
export type Took = { wall: number; cpu: number };

export type PairFigures = {
  what: string;
  plainly: string;
  ours: Took;
  plain: Took;
  /** Ours over the plain one: the median of the rounds' own ratios. */
  ratio: Took;
  /** How far the middle half of the rounds' wall ratios lies apart, over their median: the noise. */
  spread: number;
  rounds: number;
};

export async function measurePair(pair: Pair, rounds: number): Promise<PairFigures> {
  const { what, plainly, times } = pair;
  // Compiled, connected and in the page cache before anything counts.
  await repeat(pair.ours, Math.ceil(times / 4));
  await repeat(pair.plain, Math.ceil(times / 4));
  const took: Array<{ ours: Took; plain: Took }> = [];
  for (let round = 0; round < rounds; round += 1) {
    // Who begins takes turns as well: what one leaves to be cleared away falls on the next.
    const [first, second] =
      round % 2 === 0 ? ([pair.ours, pair.plain] as const) : ([pair.plain, pair.ours] as const);
    const [a, b] = [await timed(first, times), await timed(second, times)];
    took.push(round % 2 === 0 ? { ours: a, plain: b } : { ours: b, plain: a });
  }
  const ratios = took.map(({ ours, plain }) => ours.wall / plain.wall);
  return {
    what,
    plainly,
    ours: middle(took.map(({ ours }) => ours)),
    plain: middle(took.map(({ plain }) => plain)),
    ratio: { wall: median(ratios), cpu: median(took.map(({ ours, plain }) => ours.cpu / plain.cpu)) },
    spread: spreadOf(ratios),
    rounds,
  };
}

/** The distance of the quartiles over the median. */
export function spreadOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return (at(0.75) - at(0.25)) / median(sorted);
}

function middle(took: readonly Took[]): Took {
  return { wall: median(took.map(({ wall }) => wall)), cpu: median(took.map(({ cpu }) => cpu)) };
}

async function repeat(work: () => Promise<void>, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await work();
}

async function timed(work: () => Promise<void>, times: number): Promise<Took> {
  const [cpu, wall] = [cpuOfAll(), performance.now()];
  await repeat(work, times);
  return { wall: (performance.now() - wall) / times, cpu: (cpuOfAll() - cpu) / times };
}

/** USER_HZ: what /proc counts in, the same on every Linux that Node runs on (proc(5)). */
const MS_PER_TICK = 10;
/** Of /proc/self/stat, counted behind the name: user and system time of the children that were waited for. */
const CHILDREN = [13, 14] as const;

/** ms that this process has spent, and the processes that it started and that have ended. */
function cpuOfAll(): number {
  const { user, system } = process.cpuUsage();
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = CHILDREN.reduce((sum, field) => sum + Number(fields[field]), 0);
  return (user + system) / 1_000 + ticks * MS_PER_TICK;
}
