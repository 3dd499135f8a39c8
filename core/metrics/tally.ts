/** Counts of calls and turns that every program reports, since its start or since the row was made. */
import type { ErrorType } from "../tools/errors.ts";
import { counter, type Labels, type MetricFamily } from "./exposition.ts";
import {
  ANSWER_SECONDS,
  CALL_SECONDS,
  type Histogram,
  ITERATIONS,
  newHistogram,
  observe,
} from "./histogram.ts";

/** Calls of one tool. */
export type CallCounts = {
  success: number;
  /** Errors by type; their sum is the number of errors. */
  errors: Partial<Record<ErrorType, number>>;
  seconds: Histogram;
};

/** Counts of turns. A turn is a message or a device's prompt, with everything until its answer. */
export type TurnCounts = {
  done: number;
  failed: number;
  cancelled: number;
  /** Turns in which a call failed. `recovered` of them still succeeded; their ratio is the recovery rate. */
  stumbled: number;
  recovered: number;
  /** Turns that were answered without a model. */
  unaided: number;
  inputTokens: number;
  outputTokens: number;
  iterations: Histogram;
  seconds: Histogram;
};

export type EndedTurn = {
  status: "done" | "failed" | "cancelled";
  /** Model calls. */
  iterations: number;
  failedCalls: number;
  durationMs: number;
  inputTokens: number;
  outputTokens: number;
  /** It was answered without a model. */
  unaided?: true;
};

export function newCallCounts(): CallCounts {
  return { success: 0, errors: {}, seconds: newHistogram(CALL_SECONDS) };
}

/** @param errorType absent = success */
export function countCall(counts: CallCounts, elapsedMs: number, errorType?: ErrorType): void {
  if (errorType === undefined) counts.success += 1;
  else counts.errors[errorType] = (counts.errors[errorType] ?? 0) + 1;
  observe(counts.seconds, elapsedMs / 1_000);
}

export function newTurnCounts(): TurnCounts {
  return {
    ...{ done: 0, failed: 0, cancelled: 0, stumbled: 0, recovered: 0, unaided: 0 },
    ...{ inputTokens: 0, outputTokens: 0 },
    iterations: newHistogram(ITERATIONS),
    seconds: newHistogram(ANSWER_SECONDS),
  };
}

export function countTurn(counts: TurnCounts, turn: EndedTurn): void {
  counts[turn.status] += 1;
  if (turn.failedCalls > 0) counts.stumbled += 1;
  if (turn.failedCalls > 0 && turn.status === "done") counts.recovered += 1;
  if (turn.unaided) counts.unaided += 1;
  counts.inputTokens += turn.inputTokens;
  counts.outputTokens += turn.outputTokens;
  observe(counts.iterations, turn.iterations);
  // A stopped call says nothing about how long an answer takes.
  if (turn.status !== "cancelled") observe(counts.seconds, turn.durationMs / 1_000);
}

/** @param program the middle of each name: `agent`, `gateway` */
export function callFamilies(
  program: string,
  series: ReadonlyArray<{ labels: Labels; counts: CallCounts }>,
): MetricFamily[] {
  const errors = (counts: CallCounts) => Object.values(counts.errors).reduce((sum, n) => sum + n, 0);
  return [
    counter(
      `edgecall_${program}_tool_calls_total`,
      "Calls of tools by what they came to.",
      series.flatMap(({ labels, counts }) => [
        { labels: { ...labels, status: "success" }, value: counts.success },
        { labels: { ...labels, status: "error" }, value: errors(counts) },
      ]),
    ),
    counter(
      `edgecall_${program}_tool_errors_total`,
      "Failed calls of tools by the kind of the failure.",
      series.flatMap(({ labels, counts }) =>
        Object.entries(counts.errors).map(([error_type, value]) => ({
          labels: { ...labels, error_type },
          value,
        })),
      ),
    ),
    {
      name: `edgecall_${program}_tool_duration_seconds`,
      help: "How long calls of tools took.",
      type: "histogram",
      series: series.map(({ labels, counts }) => ({ labels, histogram: counts.seconds })),
    },
  ];
}

export function turnFamilies(
  program: string,
  series: ReadonlyArray<{ labels: Labels; counts: TurnCounts }>,
): MetricFamily[] {
  const each = (name: string, help: string, of: (counts: TurnCounts) => number) =>
    counter(
      `edgecall_${program}_${name}`,
      help,
      series.map(({ labels, counts }) => ({ labels, value: of(counts) })),
    );
  return [
    counter(
      `edgecall_${program}_turns_total`,
      "Questions by how they ended.",
      series.flatMap(({ labels, counts }) =>
        (["done", "failed", "cancelled"] as const).map((status) => ({
          labels: { ...labels, status },
          value: counts[status],
        })),
      ),
    ),
    each("turns_with_failures_total", "Questions in which at least one call failed.", (it) => it.stumbled),
    each(
      "turns_recovered_total",
      "Questions in which a call failed and that were answered.",
      (it) => it.recovered,
    ),
    each("turns_without_model_total", "Questions that were answered without a model.", (it) => it.unaided),
    counter(
      `edgecall_${program}_model_tokens_total`,
      "Tokens as the model's endpoint counted them.",
      series.flatMap(({ labels, counts }) => [
        { labels: { ...labels, direction: "input" }, value: counts.inputTokens },
        { labels: { ...labels, direction: "output" }, value: counts.outputTokens },
      ]),
    ),
    {
      name: `edgecall_${program}_turn_iterations`,
      help: "Model calls of a question.",
      type: "histogram",
      series: series.map(({ labels, counts }) => ({ labels, histogram: counts.iterations })),
    },
    {
      name: `edgecall_${program}_turn_duration_seconds`,
      help: "Time from a question to its final answer.",
      type: "histogram",
      series: series.map(({ labels, counts }) => ({ labels, histogram: counts.seconds })),
    },
  ];
}
