/** Counts values by size, such as latencies or iterations. Its fields are plain, so that a row can store it. */

export type Histogram = {
  /** Upper bounds in ascending order; the last one, infinity, is implied. */
  bounds: readonly number[];
  /** Number of values in each bucket, not cumulative. There is one more bucket than bounds. */
  counts: number[];
  sum: number;
};

/** In seconds: from reading a file to a tool that works for minutes. */
export const CALL_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;
/** In seconds, from a question to its answer; most of it is the model's time. */
export const ANSWER_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900] as const;
/** Model calls of a turn; the default limit is 10, plus one for a summary. */
export const ITERATIONS = [1, 2, 3, 4, 5, 7, 10, 15] as const;

export function newHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 };
}

export function observe(histogram: Histogram, value: number): void {
  const index = histogram.bounds.findIndex((bound) => value <= bound);
  const at = index < 0 ? histogram.bounds.length : index;
  histogram.counts[at] = (histogram.counts[at] ?? 0) + 1;
  histogram.sum += value;
}

/** Returns cumulative counts, as Prometheus wants them: all values up to each bound. */
export function cumulative({ bounds, counts }: Histogram): Array<{ le: number; count: number }> {
  let count = 0;
  return [...bounds, Number.POSITIVE_INFINITY].map((le, index) => {
    count += counts[index] ?? 0;
    return { le, count };
  });
}
