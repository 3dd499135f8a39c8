/** `edgecall metrics` shows the tool loop's figures, from the gateway's counts; with --tools, each tool's, from the record. */
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { AUDIT_LINES_MAX, auditLines } from "./audit.ts";
import { readConnection } from "./connection.ts";
import { readSamples, type Sample, total } from "./exposition.ts";
import { Gateway, GatewayError } from "./gateway.ts";
import { paintFor } from "./paint.ts";
import { type Column, pairs, table } from "./table.ts";
import { clock, since, took } from "./times.ts";
import { type ToolMetrics, toolMetrics } from "./tool-metrics.ts";

/** The default of --since. */
const SINCE = "24h";

export async function metrics(call: CommandCall): Promise<number> {
  const ofRecord = ["since", "agent"].find((option) => call.text(option) !== undefined);
  // The gateway's counts are of all time and all agents, so --since and --agent would mislead.
  if (ofRecord && !call.flag("tools")) throw new UsageError(`--${ofRecord} goes with --tools`);
  const gateway = new Gateway(readConnection(call.env));
  if (call.flag("tools")) return await ofTools(call, gateway);
  const samples = readSamples(await gateway.text("GET /metrics").catch(tooOld));
  const figures = loopFigures(samples);
  call.io.out(call.flag("json") ? `${JSON.stringify(figures)}\n` : pairs(figureRows(figures)));
  return EXIT.ok;
}

export type LoopFigures = {
  requests: { done: number; failed: number; cancelled: number };
  /** Null when there is nothing to divide by yet. */
  avg_iterations_per_request: number | null;
  calls_per_request: number | null;
  avg_time_to_final_response_s: number | null;
  tool_calls: { success: number; error: number };
  errors: Record<string, number>;
  /** The share (0 to 1) of requests with a failed call that were answered all the same. */
  recovery_success_rate: number | null;
  tokens: { input: number; output: number };
};

const PREFIX = "edgecall_gateway_";

export function loopFigures(samples: readonly Sample[]): LoopFigures {
  const of = (name: string, labels?: Record<string, string>) => total(samples, `${PREFIX}${name}`, labels);
  const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);
  const requests = {
    done: of("turns_total", { status: "done" }),
    failed: of("turns_total", { status: "failed" }),
    cancelled: of("turns_total", { status: "cancelled" }),
  };
  const tool_calls = {
    success: of("tool_calls_total", { status: "success" }),
    error: of("tool_calls_total", { status: "error" }),
  };
  const errors: Record<string, number> = {};
  for (const { name, labels, value } of samples) {
    const { error_type } = labels;
    if (name !== `${PREFIX}tool_errors_total` || error_type === undefined) continue;
    errors[error_type] = (errors[error_type] ?? 0) + value;
  }
  return {
    requests,
    avg_iterations_per_request: ratio(of("turn_iterations_sum"), of("turn_iterations_count")),
    calls_per_request: ratio(
      tool_calls.success + tool_calls.error,
      requests.done + requests.failed + requests.cancelled,
    ),
    avg_time_to_final_response_s: ratio(of("turn_duration_seconds_sum"), of("turn_duration_seconds_count")),
    tool_calls,
    errors,
    recovery_success_rate: ratio(of("turns_recovered_total"), of("turns_with_failures_total")),
    tokens: {
      input: of("model_tokens_total", { direction: "input" }),
      output: of("model_tokens_total", { direction: "output" }),
    },
  };
}

function figureRows(it: LoopFigures): Array<[string, string]> {
  const { requests, tool_calls, tokens } = it;
  const rounded = (value: number | null) => (value === null ? "–" : value.toFixed(1));
  const calls = tool_calls.success + tool_calls.error;
  const kinds = Object.entries(it.errors).sort((a, b) => b[1] - a[1]);
  return [
    ["requests", `${requests.done} done, ${requests.failed} failed, ${requests.cancelled} cancelled`],
    ["average iterations per request", rounded(it.avg_iterations_per_request)],
    ["tool calls per request", rounded(it.calls_per_request)],
    [
      "time to final response, average",
      it.avg_time_to_final_response_s === null ? "–" : took(it.avg_time_to_final_response_s * 1_000),
    ],
    [
      "tool calls",
      `${calls}: ${tool_calls.success} success, ${tool_calls.error} error (${percent(calls === 0 ? null : tool_calls.error / calls)})`,
    ],
    ["errors by type", kinds.map(([kind, count]) => `${kind} ${count}`).join(", ") || "none"],
    ["recovery success rate", percent(it.recovery_success_rate)],
    ["tokens", `${tokens.input} in, ${tokens.output} out`],
  ];
}

function percent(share: number | null): string {
  return share === null ? "–" : `${(share * 100).toFixed(1)} %`;
}

async function ofTools({ text, flag, env, io }: CommandCall, gateway: Gateway): Promise<number> {
  const from = since(text("since") ?? SINCE, Date.now());
  const lines = await auditLines(gateway, { agent: text("agent"), since: from, limit: AUDIT_LINES_MAX });
  const tools = toolMetrics(lines);
  if (flag("json")) io.out(`${JSON.stringify(tools)}\n`);
  else if (tools.length === 0) io.err(`no calls on record since ${from.toISOString()}\n`);
  else io.out(toolTable(tools, io.width, paintFor(io.terminal, env)));
  if (lines.length === AUDIT_LINES_MAX) {
    io.err(
      `these are the newest ${AUDIT_LINES_MAX} calls, from ${lines.at(-1)?.timestamp} on: a shorter --since counts all\n`,
    );
  }
  return EXIT.ok;
}

function toolTable(
  tools: readonly ToolMetrics[],
  width: number | undefined,
  paint: ReturnType<typeof paintFor>,
): string {
  const columns: Column[] = [
    { title: "AGENT", gives: true },
    { title: "TOOL", gives: true },
    { title: "CALLS", right: true },
    { title: "SUCCESS", right: true },
    { title: "ERROR", right: true, paint: (cell) => (cell === "0" ? cell : paint("red", cell)) },
    { title: "TIMEOUT", right: true },
    { title: "AVG MS", right: true },
    { title: "LAST ERROR", gives: true },
  ];
  const rows = tools.map((it) => [
    ...[it.agent, it.tool],
    ...[it.total_calls, it.success_count, it.error_count, it.timeout_count, it.avg_latency_ms].map(String),
    it.last_error === null ? "" : `${clock(it.last_error_time ?? "")} ${it.last_error}`,
  ]);
  return table(columns, rows, width);
}

function tooOld(error: unknown): never {
  if (error instanceof GatewayError && ["not_found", "foreign"].includes(error.kind)) {
    throw new Error("this gateway has no /metrics: update it, or use --tools, which reads its record");
  }
  throw error;
}
