/** Computes each tool's figures from the record: the tool loop's ToolMetrics. Pure. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";

export type ToolMetrics = {
  agent: string;
  tool: string;
  total_calls: number;
  success_count: number;
  /** The number of failures, including time-outs. */
  error_count: number;
  timeout_count: number;
  /** From 0 to 1. */
  error_rate: number;
  avg_latency_ms: number;
  /** The number of errors by kind. */
  errors: Record<string, number>;
  last_error: string | null;
  last_error_time: string | null;
};

/** @param lines the newest first @returns the tools with the most calls first */
export function toolMetrics(lines: readonly AuditLine[]): ToolMetrics[] {
  const byTool = new Map<string, AuditLine[]>();
  for (const line of lines) {
    const key = `${line.agent_id} ${line.tool}`;
    byTool.set(key, [...(byTool.get(key) ?? []), line]);
  }
  return [...byTool.values()]
    .flatMap(metricsOf)
    .sort(
      (a, b) => b.total_calls - a.total_calls || (`${a.agent} ${a.tool}` < `${b.agent} ${b.tool}` ? -1 : 1),
    );
}

function metricsOf(lines: AuditLine[]): ToolMetrics[] {
  const [newest] = lines;
  if (!newest) return [];
  const failed = lines.filter(({ result }) => result === "error");
  const errors: Record<string, number> = {};
  for (const { error_type = "error" } of failed) errors[error_type] = (errors[error_type] ?? 0) + 1;
  const ms = lines.reduce((sum, { elapsed_ms }) => sum + elapsed_ms, 0);
  return [
    {
      agent: newest.agent_id,
      tool: newest.tool,
      total_calls: lines.length,
      success_count: lines.length - failed.length,
      error_count: failed.length,
      timeout_count: errors.timeout ?? 0,
      error_rate: failed.length / lines.length,
      avg_latency_ms: Math.round(ms / lines.length),
      errors,
      last_error: failed[0] ? (failed[0].error ?? failed[0].error_type ?? "error") : null,
      last_error_time: failed[0]?.timestamp ?? null,
    },
  ];
}
