import { cutText } from "../text/cut.ts";

/** Puts a device's or server's text on one line, without control characters and cut to `max`. */
export function oneLine(text: string, max: number): string {
  const line = text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  return cutText(line, max);
}
