/** A value that is JSON of fields, of which each is a reading. */
import type { Reading } from "./device.ts";
import type { SlotValue } from "./entity/entity.ts";
import { harmless } from "./names.ts";

const TEXT_MAX = 200;

/** The readings of the fields. @param reading of the slot @param value of the slot: an object of scalars as JSON */
export function fieldsOf(reading: Reading, value: SlotValue | undefined): Reading[] {
  if (typeof value !== "string") return [];
  // SAFETY: the source of the entity has written it.
  const fields = JSON.parse(value) as Record<string, string | number | boolean>;
  const before = reading.name.replace(/attributes(?= \d+$|$)/, "");
  return Object.entries(fields).map(([name, value]) => {
    const told = typeof value === "string" ? harmless(value, TEXT_MAX) : value;
    const text = typeof value === "boolean" ? (value ? "yes" : "no") : String(told);
    return {
      ...reading,
      name: harmless(`${before}${name}`, 100),
      value: told,
      text,
      tainted: typeof value === "string",
    };
  });
}
