/** Values: read from a state. `../values/` has numbers, and tells when one fits what was asked. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { SlotValue } from "../../model/entity/entity.ts";

/** Characters of a text that may be `true` or `false`. */
const WORD_MAX = 50;

/** The print of a value that is not known, in a template. */
export const NONE = "None";

/**
 * Tells whether a state is what the config names. Both are texts; Python's words for booleans and JSON's count as the same, since a
 * message is JSON, and a template prints Python.
 */
export function matchesPayload(text: string, payload: string): boolean {
  if (text === payload) return true;
  if (text.length > WORD_MAX || payload.length > WORD_MAX) return false;
  const [a, b] = [text.trim(), payload.trim()].map((one) => one.toLowerCase());
  return a === b && (a === "true" || a === "false");
}

/** The parser of a state that has two payloads. */
export function onOff(on: string, off: string): (text: string) => SlotValue | undefined {
  return (text) => {
    if (matchesPayload(text, on)) return true;
    if (matchesPayload(text, off)) return false;
    return text === NONE ? null : undefined;
  };
}

export function numeric(text: string): SlotValue | undefined {
  return text.trim() === NONE ? null : Quantity.parse(text);
}

/** One of a list, which may have a `None` of its own; what is not in it says nothing. */
export function oneOf(options: readonly string[]): (text: string) => SlotValue | undefined {
  const known = new Set(options);
  const words = options.filter((option) => /^\s{0,9}(?:true|false)\s{0,9}$/i.test(option));
  return (text) => {
    if (known.has(text)) return text;
    return words.find((word) => matchesPayload(text, word)) ?? (text === NONE ? null : undefined);
  };
}

/** Any text, also one that looks like a number, and the empty one. */
export function anyText(text: string): SlotValue | undefined {
  return text === NONE ? null : text;
}
