/** Figures out of samples. */

/** What one row came to in one round, or over rounds. */
export type Figures = {
  /** ms */
  p50: number;
  /** ms */
  p99: number;
  perSecond: number;
  samples: number;
};

/** The value that a share `q` of the samples does not exceed (nearest rank). NaN without samples. */
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

/** @param withinMs in which the samples were taken, several at a time or not */
export function figuresOf(samples: readonly number[], withinMs: number): Figures {
  return {
    p50: percentile(samples, 0.5),
    p99: percentile(samples, 0.99),
    perSecond: samples.length / (withinMs / 1_000),
    samples: samples.length,
  };
}

/** The median round, figure by figure: one round that a noisy machine spoilt does not count. */
export function medianFigures(rounds: readonly Figures[]): Figures {
  return {
    p50: median(rounds.map((round) => round.p50)),
    p99: median(rounds.map((round) => round.p99)),
    perSecond: median(rounds.map((round) => round.perSecond)),
    samples: rounds.reduce((sum, round) => sum + round.samples, 0),
  };
}
