/** Counts the calls of each tool since the start, for `get_metrics` and for Prometheus. */

import { type CallCounts, countCall, newCallCounts } from "@edgecall/core/metrics/tally.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";

export type ToolFigures = {
  calls: number;
  success: number;
  error: number;
  /** The number of errors that were time-outs. */
  timeout: number;
  avg_latency_ms: number;
  last_error?: string;
  /** ISO 8601 */
  last_error_time?: string;
};

/** The number of names with figures of their own. A model may invent names; further ones are counted together. */
const NAMES_MAX = 300;
const OTHERS = "(others)";
const ERROR_CHARS = 300;

type Counted = Omit<ToolFigures, "avg_latency_ms"> & { totalMs: number; counts: CallCounts };

export class ToolMetrics {
  readonly #byTool = new Map<string, Counted>();

  /** @param failure absent = success */
  count(tool: string, elapsedMs: number, failure?: { text: string; errorType: ErrorType }): void {
    const figures = this.#countedOf(tool);
    figures.calls += 1;
    figures.totalMs += elapsedMs;
    countCall(figures.counts, elapsedMs, failure?.errorType);
    if (!failure) {
      figures.success += 1;
      return;
    }
    figures.error += 1;
    if (failure.errorType === "timeout") figures.timeout += 1;
    figures.last_error = cutText(failure.text, ERROR_CHARS);
    figures.last_error_time = new Date().toISOString();
  }

  read(): Record<string, ToolFigures> {
    const sorted = [...this.#byTool].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      sorted.map(([tool, { totalMs, counts: _, ...figures }]) => [
        tool,
        { ...figures, avg_latency_ms: Math.round(totalMs / figures.calls) },
      ]),
    );
  }

  /** The counts for the page of metrics. */
  counts(): Array<{ tool: string; counts: CallCounts }> {
    return [...this.#byTool].map(([tool, { counts }]) => ({ tool, counts }));
  }

  reset(): void {
    this.#byTool.clear();
  }

  #countedOf(tool: string): Counted {
    const name = this.#byTool.has(tool) || this.#byTool.size < NAMES_MAX ? tool : OTHERS;
    const known = this.#byTool.get(name) ?? {
      ...{ calls: 0, success: 0, error: 0, timeout: 0, totalMs: 0 },
      counts: newCallCounts(),
    };
    this.#byTool.set(name, known);
    return known;
  }
}
