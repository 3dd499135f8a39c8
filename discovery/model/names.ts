/** Names that publishers give, as harmless text. */
import { fold } from "@edgecall/core/agents/words.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { visible } from "@edgecall/core/tools/visible.ts";

/** Most texts, for which nothing has to be looked for. */
const PLAIN = /^[ -~]*$/;

/** A publisher's text on one line, with each invisible character as an escape, and cut. */
export function harmless(text: string, max: number): string {
  const begin = text.slice(0, 4 * max);
  return oneLine(PLAIN.test(begin) ? begin : visible(begin), max);
}

/** Lower-case letters, digits and the separator; undefined when nothing is left, as of a name in other letters. */
export function slug(text: string, max: number, separator: "-" | "_"): string | undefined {
  const words = fold(text).match(/[a-z0-9]+/g) ?? [];
  const whole = words.join(separator).slice(0, max);
  return (whole.endsWith(separator) ? whole.slice(0, -1) : whole) || undefined;
}
