/** Five calls of a tool at once, compared with five one after another, in alternating turns. */
import { BATCH_TOOL_MS, type Path } from "./path.ts";
import { median } from "./stats.ts";

/** The number of calls that the loop makes at once (`MAX_PARALLEL_TOOLS`). */
const BATCH_CALLS = 5;

export type BatchFigures = {
  toolMs: number;
  calls: number;
  /** Milliseconds of a turn, median, without the model's time. */
  atOnceMs: number;
  oneByOneMs: number;
  /** The median of the pairs' ratios. */
  timesFaster: number;
  pairs: number;
};

export async function measureBatches(path: Path, pairs: number): Promise<BatchFigures> {
  const atOnce: number[] = [];
  const oneByOne: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    atOnce.push(await path.batches([BATCH_CALLS]));
    oneByOne.push(await path.batches(Array(BATCH_CALLS).fill(1)));
  }
  return {
    toolMs: BATCH_TOOL_MS,
    calls: BATCH_CALLS,
    atOnceMs: median(atOnce),
    oneByOneMs: median(oneByOne),
    timesFaster: median(oneByOne.map((ms, pair) => ms / (atOnce[pair] ?? Number.NaN))),
    pairs,
  };
}
