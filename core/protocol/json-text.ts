/** Reads JSON of others, where a text that is none is no error. `checkJson` (parse.ts) says what is wrong. */
import { isObject } from "./is-object.ts";

/** @returns undefined: the text is no JSON */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns undefined: the text is no JSON object */
export function objectIn(text: string): Record<string, unknown> | undefined {
  const value = jsonIn(text);
  return isObject(value) ? value : undefined;
}
