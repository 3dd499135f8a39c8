import type { Sample } from "@edgecall/core/history/sample.ts";

/** Sorts by time: after a clock was set back, later samples have earlier times. Those of one time stay in their order. */
export function inOrder(samples: Sample[]): Sample[] {
  const isSorted = samples.every((sample, at) => at === 0 || (samples[at - 1]?.at ?? 0) <= sample.at);
  return isSorted ? samples : samples.toSorted((a, b) => a.at - b.at);
}
