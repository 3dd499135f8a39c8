/** Formats times for a person, and reads times that a person wrote. Pure. */
import { UsageError } from "../command.ts";

/** "12 s ago", in the gateway's own format. @param then epoch ms */
export function ago(then: number | null | undefined, now: number): string {
  if (then === null || then === undefined) return "never";
  const seconds = Math.max(0, Math.round((now - then) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

/** "85 ms", "1.2 s", "3 min 20 s", "7 h 12 min", "7 days" */
export function took(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min ${seconds % 60} s`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.round(minutes / (24 * 60))} days`;
}

/** An instant in the machine's own time zone: "11-22 05:48:10". */
export function clock(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return instant;
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "90s", "15m", "24h", "7d", or an instant that Date understands. @throws UsageError */
export function since(text: string, now: number): Date {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) {
    return new Date(now - Number(count) * (UNITS[unit] ?? 0));
  }
  const at = new Date(text);
  // The four digits keep Date from taking "5" for the month of May.
  if (/^\d{4}-/.test(text) && !Number.isNaN(at.getTime())) return at;
  throw new UsageError(`--since: "${text}" is no time; use 15m, 24h, 7d or 2026-11-22T10:00:00Z`);
}
