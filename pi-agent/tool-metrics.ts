/** What each tool of this device did since the start: the seed's figures. */

export type ToolFigures = {
  calls: number;
  success: number;
  error: number;
  /** Of the errors, those of a time-out. */
  timeout: number;
  avg_latency_ms: number;
  last_error?: string;
  /** ISO 8601 */
  last_error_time?: string;
};

/** A name that a model invented is no tool; so many of them are counted, under one roof. */
const NAMES_MAX = 300;
const OTHERS = "(others)";
const ERROR_CHARS = 300;

type Counted = Omit<ToolFigures, "avg_latency_ms"> & { totalMs: number };

export class ToolMetrics {
  readonly #byTool = new Map<string, Counted>();

  /** @param failure absent = success */
  count(tool: string, elapsedMs: number, failure?: { text: string; timeout: boolean }): void {
    const figures = this.#of(tool);
    figures.calls += 1;
    figures.totalMs += elapsedMs;
    if (!failure) {
      figures.success += 1;
      return;
    }
    figures.error += 1;
    if (failure.timeout) figures.timeout += 1;
    figures.last_error = failure.text.slice(0, ERROR_CHARS);
    figures.last_error_time = new Date().toISOString();
  }

  read(): Record<string, ToolFigures> {
    const sorted = [...this.#byTool].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      sorted.map(([tool, { totalMs, ...figures }]) => [
        tool,
        { ...figures, avg_latency_ms: Math.round(totalMs / figures.calls) },
      ]),
    );
  }

  reset(): void {
    this.#byTool.clear();
  }

  #of(tool: string): Counted {
    const name = this.#byTool.has(tool) || this.#byTool.size < NAMES_MAX ? tool : OTHERS;
    const known = this.#byTool.get(name) ?? { calls: 0, success: 0, error: 0, timeout: 0, totalMs: 0 };
    this.#byTool.set(name, known);
    return known;
  }
}
