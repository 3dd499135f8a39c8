/** The bounds of a chat's "always": each value, in words. */
import type { Bound, Bounds } from "../permissions/bounds.ts";
import type { Phrases } from "../phrases/phrases.ts";
import { settingText, valueText } from "./sentence.ts";

/** More values are not read in a line. */
const VALUES_MAX = 8;

/** @returns empty: the action has no values; undefined: a line does not say it whole */
export function boundsText(bounds: Bounds, phrases: Phrases): string | undefined {
  const parts = Object.entries(bounds).map(([name, bound]) => {
    const value = boundText(name, bound, phrases);
    if (value === undefined) return undefined;
    return name === "on" ? value : `${settingText(name, phrases)} ${value}`;
  });
  const said = parts.filter((part) => part !== undefined);
  return said.length === parts.length ? phrases.parts(...said) : undefined;
}

function boundText(name: string, bound: Bound, phrases: Phrases): string | undefined {
  if ("is" in bound) return valueText(bound.is, undefined, name, phrases);
  if ("from" in bound) return `${phrases.number(bound.from)}–${phrases.number(bound.to)}`;
  if (!("oneOf" in bound) || bound.oneOf.length > VALUES_MAX) return undefined;
  const values = bound.oneOf.map((value) => valueText(value, undefined, name, phrases));
  const said = values.filter((value) => value !== undefined);
  return said.length === values.length ? phrases.list(said, "and") : undefined;
}
