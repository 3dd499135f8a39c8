/**
 * Readings of hosted devices in the answers of find_agents. Pure. Free text is left out: its writer may be anybody, and a list must
 * taint nothing.
 */
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { ago } from "../../api/roster.ts";

/** @returns "Temperature 21.4 °C (3 min ago)"; "battery 2: 11 % (3 min ago)", since the number is the name's */
export function readingText(reading: Reading, now: number): string {
  const { name, text, at, unavailable } = reading;
  const label = isLabel(name) ? name : (reading.class ?? reading.kind);
  const age = at === null ? "age unknown" : ago(at, now);
  return `${label}${/\d$/.test(label) ? ":" : ""} ${text} (${unavailable ? "unavailable, " : ""}${age})`;
}

/** As many of one device as have `max` characters. */
export function listedReadings(readings: readonly Reading[], now: number, max: number): string[] {
  const words: string[] = [];
  let chars = 0;
  for (const reading of readings.filter(isShown)) {
    const next = readingText(reading, now);
    chars += next.length;
    if (chars > max && words.length > 0) return [...words, "…"];
    words.push(next);
  }
  return words;
}

/** Its value is a number, a boolean or one of a list, and its words are labels. */
export function isShown({ tainted, text, value, class: of }: Reading): boolean {
  return !tainted && value !== null && isLabel(text) && (of === undefined || isLabel(of));
}
