/** Figures of calls from the devices' record. Pure. */
import type { AuditLine } from "./shapes.ts";
import { percentile } from "./times.ts";

export type AgentFigures = { agent: string; calls: number; errors: number; p50: number; p95: number };
export type Hour = { start: number; success: number; error: number };

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

/** The hours up to now, the oldest first, those without calls too. */
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
