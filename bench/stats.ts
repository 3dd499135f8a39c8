/** Figures from samples. */

/** The result of one row in one round, or over all rounds. */
export type Figures = {
  /** Milliseconds. */
  p50: number;
  /** Milliseconds. */
  p99: number;
  perSecond: number;
  samples: number;
};

/** Returns the value that a share `q` of the samples does not exceed (nearest rank). NaN without samples. */
export function percentile(samples: readonly number[], q: number): number {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** @param withinMs the time in which the samples were taken, several at once or not */
export function figuresOf(samples: readonly number[], withinMs: number): Figures {
  return {
    p50: percentile(samples, 0.5),
    p99: percentile(samples, 0.99),
    perSecond: samples.length / (withinMs / 1_000),
    samples: samples.length,
  };
}

/** Returns the median of the rounds, figure by figure, so that one noisy round does not count. */
export function medianFigures(rounds: readonly Figures[]): Figures {
  return {
    p50: median(rounds.map((round) => round.p50)),
    p99: median(rounds.map((round) => round.p99)),
    perSecond: median(rounds.map((round) => round.perSecond)),
    samples: rounds.reduce((sum, round) => sum + round.samples, 0),
  };
}
