/** Text of a device, a model or a server on its way to a terminal: it may not move the cursor or hide itself. */
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { visible } from "@edgecall/core/tools/visible.ts";

/** Several lines of it. */
export function printable(text: string): string {
  return visible(text.replaceAll("\r\n", "\n"));
}

/** One line of it, at most so long. */
export function printableLine(text: string, max = 2_000): string {
  return oneLine(printable(text), max);
}
