/** Times, spans and values in words, as people read them at home. */
import { ENGLISH, type Phrases } from "../phrases/phrases.ts";
import type { Value } from "./value.ts";

/**
 * A time of the home's clock.
 * @param now when it is read: on the same day the time alone is enough. Absent: with the day and the year
 */
export function timeText(at: number, zone: string, now?: number, phrases: Phrases = ENGLISH): string {
  return phrases.time(at, zone, now);
}

/** `40 s`, `49 min`, `2 h 5 min`, `3 days 4 h`. A negative span is none. */
export function spanText(ms: number, phrases: Phrases = ENGLISH): string {
  return phrases.span(ms);
}

/** A number or boolean with its unit. Texts are a device's words: `deviceText` writes those. */
export function figureText(value: Exclude<Value, string>, unit?: string, phrases: Phrases = ENGLISH): string {
  return phrases.figure(value, unit);
}
