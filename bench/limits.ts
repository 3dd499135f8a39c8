/**
 * The values that the figures are compared with. No figure fails the run, because a person has to read those of a
 * shared machine.
 */
import type { BatchFigures } from "./batches.ts";
import type { Costs } from "./cost/measure.ts";
import type { CpuFigures } from "./cpu.ts";
import type { Fronts } from "./fronts/measure.ts";
import type { MemoryFigures } from "./memory.ts";
import { startWords } from "./node-starts.ts";
import type { Measured } from "./rounds.ts";
import type { Sizes } from "./sizes.ts";

export type Results = {
  measured: Measured;
  cpu: CpuFigures;
  batches: BatchFigures;
  costs: Costs;
  fronts: Fronts;
  sizes: Sizes;
  memory: MemoryFigures[];
};

export type Judged = {
  what: string;
  value: number;
  unit: "×" | "KiB";
  limit: number;
  atMost: boolean;
  ok: boolean;
};

export const WORKER_GZIP_KIB = 275;
const AGENT_RSS_RATIO = 1.8;

export function judge({ measured, sizes, memory }: Results): Judged[] {
  const { ratios } = measured;
  const limit = (what: string, value: number, limit: number, more: Partial<Judged> = {}): Judged => {
    const { atMost = true, unit = "×" } = more;
    return { what, value, unit, limit, atMost, ok: atMost ? value <= limit : value >= limit };
  };
  return [
    limit("(c)/(b) at p50, 1 at a time", ratios[1]["c/b"].p50, 2.5),
    limit("(c)/(b) at p99, 1 at a time", ratios[1]["c/b"].p99, 5),
    limit("(d)/(b) at p50, 1 at a time", ratios[1]["d/b"].p50, 8),
    limit("calls a second of (c) over (b), 64 at a time", ratios[64]["c/b"].perSecond, 0.5, {
      atMost: false,
    }),
    limit("the Worker, minified, in gzip", sizes.gzipBytes / 1_024, WORKER_GZIP_KIB, { unit: "KiB" }),
    ...memory.flatMap(({ start, bareNode, idle, afterCalls }) => {
      const how = ` (${startWords(start)})`;
      return [
        limit(`the agent's memory over bare Node, idle${how}`, idle / bareNode, AGENT_RSS_RATIO),
        limit(
          `the agent's memory over bare Node, after 100 calls${how}`,
          afterCalls / bareNode,
          AGENT_RSS_RATIO,
        ),
      ];
    }),
  ];
}
