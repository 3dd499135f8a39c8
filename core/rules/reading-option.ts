/** A hosted device's reading as something that rules look at. */
import type { Reading } from "../protocol/devices.ts";
import { classWords } from "../text/class-words.ts";
import type { ReadingOption } from "./make-watch.ts";

export function optionOf({
  name,
  value,
  unit,
  kind,
  class: of,
  at,
  unavailable,
}: Omit<Reading, "text" | "tainted">): ReadingOption {
  const type =
    typeof value === "number" ? "number" : typeof value === "boolean" ? "boolean" : typeOf(kind, unit);
  const [yes, no] = classWords(of);
  return {
    name,
    type,
    ...(unit !== undefined && { unit }),
    ...(type === "boolean" && { words: { yes, no } }),
    ...(kind === "event" && { event: true as const }),
    ...(value !== null && at !== null && !unavailable && { now: { value, at } }),
  };
}

/** Of a reading that has no value yet. */
function typeOf(kind: string, unit: string | undefined): ReadingOption["type"] {
  if (kind === "binary_sensor") return "boolean";
  return unit === undefined ? "text" : "number";
}
