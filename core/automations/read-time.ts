/** Reads when a rule runs: `07:30`, `sunset-30`, `mo,tu`. The error says what would be right. */
import type { AutomationTime } from "../protocol/automation.ts";
import { type Parsed, wrong } from "../protocol/parse.ts";
import { readClock } from "../rules/window.ts";

const SUN = /^(sunrise|sunset)(?:\s*([+\-−])\s*(\d{1,3})(?:\s*min)?)?$/;
const OFFSET_MAX = 720;
/** Monday first. */
const DAYS = ["mo", "tu", "we", "th", "fr", "sa", "su"];

/** Reads `06:30`, `sunset` or `sunrise-30`. @returns the time, or what would be right */
export function readTime(text: string): Parsed<Pick<AutomationTime, "of" | "minutes">> {
  const asked = text.trim().toLowerCase();
  const clock = readClock(asked.padStart(5, "0"));
  if (clock !== undefined) return { ok: true, value: { of: "clock", minutes: clock } };
  const [, sun, sign, minutes = "0"] = SUN.exec(asked) ?? [];
  const offset = Number(minutes) * (sign === "+" || sign === undefined ? 1 : -1);
  if ((sun !== "sunrise" && sun !== "sunset") || Math.abs(offset) > OFFSET_MAX)
    return wrong(
      `expected HH:MM, sunrise or sunset, as in 07:30 or sunset-30 (minutes, at most ${OFFSET_MAX})`,
    );
  // −0 is no other minute.
  return { ok: true, value: { of: sun, minutes: offset || 0 } };
}

/** @returns 0: Monday, in their order */
export function readDays(text: string): Parsed<number[]> {
  const asked = text
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter((word) => word !== "");
  const numbers = asked.map((word) => DAYS.indexOf(word.slice(0, 2)));
  if (numbers.length === 0 || numbers.includes(-1))
    return wrong(`expected days of ${DAYS.join(",")}, as in mo,tu`);
  return { ok: true, value: [...new Set(numbers)].sort((a, b) => a - b) };
}
