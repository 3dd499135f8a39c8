/** Makes text of a device, a model or a server safe for a terminal: it cannot move the cursor or hide itself. */
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { visible } from "@edgecall/core/tools/visible.ts";

/** Makes several lines safe. */
export function printable(text: string): string {
  return visible(text.replaceAll("\r\n", "\n"));
}

/** Makes one safe line, at most `max` long. */
export function printableLine(text: string, max = 2_000): string {
  return oneLine(printable(text), max);
}
