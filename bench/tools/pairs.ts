/**
 * Our way of doing something and the plain one, in alternation, so that drift of a shared machine affects both alike.
 */
import { median } from "../stats.ts";

export type Pair = {
  what: string;
  /** A description of the plain way. */
  plainly: string;
  ours(): Promise<void>;
  plain(): Promise<void>;
  /** The number of calls of each in a round. */
  times: number;
};

/**
 * Milliseconds of one call; of a round, or the median of rounds. `cpu` is the processor time of the calling process
 * only.
 */
type Took = { wall: number; cpu: number };

export type PairFigures = {
  what: string;
  plainly: string;
  ours: Took;
  plain: Took;
  /** The wall time of ours divided by the plain one's: the median of the rounds' own ratios. */
  ratio: number;
  /** The range of the middle half of the rounds' wall ratios, divided by their median: the noise. */
  spread: number;
  rounds: number;
};

export async function measurePair(pair: Pair, rounds: number): Promise<PairFigures> {
  const { what, plainly, times } = pair;
  // Afterwards everything is compiled, connected and in the page cache.
  await repeat(pair.ours, Math.ceil(times / 4));
  await repeat(pair.plain, Math.ceil(times / 4));
  const took: Array<{ ours: Took; plain: Took }> = [];
  for (let round = 0; round < rounds; round += 1) {
    // The first place alternates too, because one's remains are cleaned up during the other.
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
    ratio: median(ratios),
    spread: spreadOf(ratios),
    rounds,
  };
}

/** Returns the distance of the quartiles divided by the median. */
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
  const [cpu, wall] = [cpuOfThis(), performance.now()];
  await repeat(work, times);
  return { wall: (performance.now() - wall) / times, cpu: (cpuOfThis() - cpu) / times };
}

/**
 * Returns the milliseconds that this process has spent. Its children are left out: bubblewrap ends before its sandbox
 * is reaped, and the kernel's sum of a process's children lacks those that were not waited for.
 */
function cpuOfThis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
