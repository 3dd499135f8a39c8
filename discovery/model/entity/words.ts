/** Values in words, and as percentages. */
import { numberText, Quantity } from "@edgecall/core/text/quantity.ts";
import type { SlotValue } from "./entity.ts";

export function onOffText(value: SlotValue): string {
  return value === null ? "unknown" : value === true ? "on" : value === false ? "off" : plain(value);
}

/** A value and its unit. `%` and `°C` have a space before them. @param decimals undefined: those that were reported */
export function withUnit(unit: string | undefined, decimals?: number): (value: SlotValue) => string {
  return (value) => {
    if (!(value instanceof Quantity)) return plain(value);
    const text =
      decimals === undefined ? value.digits : value.rounded(Math.min(Math.max(Math.trunc(decimals), 0), 20));
    return unit === undefined ? text : `${text} ${unit}`;
  };
}

export function plain(value: SlotValue): string {
  if (value === null) return "unknown";
  if (value instanceof Quantity) return value.digits;
  if (value === "") return "(empty)";
  return Array.isArray(value) ? value.map((one: number) => numberText(one)).join(", ") : String(value);
}

/** A value of a range of the device's own, as a percentage from its closed or lowest end. */
export function toPercent(value: number, low: number, high: number): Quantity {
  const percent = high === low ? 0 : Math.round(((value - low) * 100) / (high - low));
  return Quantity.of(Math.min(100, Math.max(0, percent)), value);
}

export function fromPercent(percent: number, low: number, high: number): number {
  return Math.round(low + ((high - low) * percent) / 100);
}
