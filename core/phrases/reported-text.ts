/** Values of devices in a person's words. Pure. */

import type { ReportedValue } from "../protocol/devices.ts";
import type { Phrases } from "./phrases.ts";

/** A value alone: "on", "21.4 °C", "open". */
export function plainText(
  { value, unit, class: of, kind }: Omit<ReportedValue, "label">,
  phrases: Phrases,
): string {
  if (typeof value === "string") return phrases.value(value);
  if (typeof value === "number") return phrases.figure(value, unit);
  const [yes, no] = phrases.stateWords(kind === "binary_sensor" ? of : undefined);
  return value ? yes : no;
}

/** What a device reported after a command: "on, brightness 40 %". */
export function reportedText(reported: readonly ReportedValue[], phrases: Phrases): string {
  return phrases.parts(
    ...reported.map(({ label, ...value }) => {
      const text = plainText(value, phrases);
      return label === undefined ? text : `${phrases.readingName(label)} ${text}`;
    }),
  );
}
