/** Computes figures of calls from the devices' records, and of model usage. Pure. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { DayView } from "@edgecall/client/routes.ts";
import { percentile } from "./times.ts";

export type AuditLine = AnswerOf<"GET /v1/audit">["entries"][number];
export type AgentFigures = { agent: string; calls: number; errors: number; p50: number; p95: number };
export type Hour = { start: number; success: number; error: number };

export type ErrorFigures = { kind: string; count: number; agents: string[] };

const HOUR_MS = 3_600_000;

export function byAgent(lines: readonly AuditLine[]): AgentFigures[] {
  const groups = Map.groupBy(lines, ({ agent_id }) => agent_id);
  return [...groups]
    .map(([agent, own]) => {
      const times = own.map(({ elapsed_ms }) => elapsed_ms).sort((a, b) => a - b);
      const errors = own.filter(({ result }) => result === "error").length;
      return { agent, calls: own.length, errors, p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
    })
    .sort((a, b) => b.calls - a.calls);
}

/** Returns the errors by kind and device, most frequent first. */
export function errorsByKind(lines: readonly AuditLine[]): ErrorFigures[] {
  const failed = lines.filter(({ result }) => result === "error");
  const groups = Map.groupBy(failed, ({ error_type }) => error_type ?? "failed");
  return [...groups]
    .map(([kind, own]) => ({
      kind,
      count: own.length,
      agents: [...new Set(own.map(({ agent_id }) => agent_id))].sort(),
    }))
    .sort((a, b) => b.count - a.count);
}

/** Returns the cost in USD of the models that have a price. */
export function costOfDay({ models }: DayView): number {
  return models.reduce((sum, { usd = 0 }) => sum + usd, 0);
}

export function unpricedModels(days: readonly DayView[]): string[] {
  const names = days.flatMap(({ models }) => models.filter(({ usd }) => usd === undefined));
  return [...new Set(names.map(({ name }) => name))].sort();
}

/** @param usd shown down to a hundredth of a cent */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.0001) return "under $0.0001";
  return `$${usd.toFixed(usd > 0 && usd < 1 ? 4 : 2)}`;
}

/** Returns the hours up to now, oldest first, including those without calls. */
export function byHour(lines: readonly AuditLine[], now: number, hours: number): Hour[] {
  const last = Math.floor(now / HOUR_MS) * HOUR_MS;
  const slots = Array.from({ length: hours }, (_, at) => ({
    start: last - (hours - 1 - at) * HOUR_MS,
    success: 0,
    error: 0,
  }));
  for (const { timestamp, result } of lines) {
    const at = hours - 1 - Math.floor((last + HOUR_MS - 1 - Date.parse(timestamp)) / HOUR_MS);
    const slot = slots[at];
    if (slot) slot[result] += 1;
  }
  return slots;
}
