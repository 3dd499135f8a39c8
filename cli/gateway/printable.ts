/** Text of a device, a model or a server on its way to a terminal: it may not move the cursor or hide itself. */
import { oneLine } from "@edgecall/core/tools/one-line.ts";

/** Turn text around, so that what is read is not what is there ("Trojan Source", CVE-2021-42574). */
const BIDI = /[\u202A-\u202E\u2066-\u2069]/gu;
/** All but tab and line feed: ESC and its C1 kin begin sequences that a terminal obeys. */
const CONTROL = /[^\P{Cc}\t\n]/gu;

/** Several lines of it. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(CONTROL, "").replace(BIDI, "");
}

/** One line of it, at most so long. */
export function printableLine(text: string, max = 2_000): string {
  return oneLine(text.replace(BIDI, ""), max);
}
