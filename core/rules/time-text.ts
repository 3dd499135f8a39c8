/** Times, spans and values in words, as people read them at home. */
import { numberText } from "../text/quantity.ts";
import { DAY_MS, HOUR_MS, type LocalTime, localTime, MINUTE_MS } from "../time/zone.ts";
import type { Value } from "./value.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
export const WEEKDAY_WORDS = {
  mo: "Mon",
  tu: "Tue",
  we: "Wed",
  th: "Thu",
  fr: "Fri",
  sa: "Sat",
  su: "Sun",
} as const;

/**
 * A time of the home's clock.
 * @param now when it is read: on the same day the time alone is enough. Absent: with the day and the year
 */
export function timeText(at: number, zone: string, now?: number): string {
  const local = localTime(zone, at);
  const today = now === undefined ? undefined : localTime(zone, now);
  const clock = `${two(local.hour)}:${two(local.minute)}`;
  if (today && dayOf(local) === dayOf(today)) return clock;
  const day = `${WEEKDAY_WORDS[local.weekday]} ${local.day} ${MONTHS[local.month - 1]}`;
  return today?.year === local.year ? `${day}, ${clock}` : `${day} ${local.year}, ${clock}`;
}

/** `40 s`, `49 min`, `2 h 5 min`, `3 days 4 h`. A negative span is none. */
export function spanText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < MINUTE_MS) return `${Math.round(span / 1_000)} s`;
  const minutes = Math.round(span / MINUTE_MS);
  if (minutes < 60) return `${minutes} min`;
  if (span < DAY_MS) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(span / HOUR_MS);
  const days = Math.floor(hours / 24);
  return pair(days, days === 1 ? "day" : "days", hours % 24, "h");
}

/** A number or boolean with its unit. Texts are a device's words: `quoted` writes those. */
export function figureText(value: Exclude<Value, string>, unit?: string): string {
  const figure = typeof value === "number" ? formatNumber(value) : value ? "on" : "off";
  return unit === undefined ? figure : `${figure} ${unit}`;
}

/** Formats a number with a true minus sign and all digits that were reported. */
function formatNumber(value: number): string {
  return numberText(value).replace("-", "−");
}

function pair(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

function dayOf({ year, month, day }: LocalTime): number {
  return (year * 12 + month) * 31 + day;
}

function two(n: number): string {
  return String(n).padStart(2, "0");
}
