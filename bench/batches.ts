/** Five calls of a tool at once beside the same five one after another, turn by turn in turns. */
import { BATCH_TOOL_MS, type Path } from "./path.ts";
import { median } from "./stats.ts";

/** As many as the loop makes at once (`MAX_PARALLEL_TOOLS`). */
const BATCH_CALLS = 5;

export type BatchFigures = {
  toolMs: number;
  calls: number;
  /** ms of a turn, median, less the model's time. */
  atOnceMs: number;
  oneByOneMs: number;
  /** Median of the pairs' ratios. */
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
