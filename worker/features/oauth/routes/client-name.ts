import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { visible } from "@edgecall/core/tools/visible.ts";

const NAME_MAX = 60;

/** @param value what a client calls itself; it may be anything @returns a short line without invisible characters */
export function clientName(value: unknown): string {
  const line = typeof value === "string" ? oneLine(visible(value), NAME_MAX) : "";
  return line || "a program without a name";
}
