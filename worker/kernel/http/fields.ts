/**
 * The values of a request's path, query and headers: each field checks its text and carries the JSON Schema of it, so that
 * openapi.json describes exactly what is checked.
 */
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";

/** @property read returns the value of a text, or of undefined for none; `fail` takes what was expected, in words */
export type Field<T = unknown> = {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
  read(text: string | undefined, fail: (expected: string) => never): T;
};

/** @param words the expected form, for the error */
export function text(form: RegExp, words: string): Field<string> {
  return {
    schema: { type: "string", pattern: form.source },
    isRequired: true,
    read: (value = "", fail) => (form.test(value) ? value : fail(words)),
  };
}

export function optionalText(form: RegExp, words: string): Field<string | undefined> {
  const field = text(form, words);
  const read: Field<string | undefined>["read"] = (value, fail) =>
    value === undefined ? undefined : field.read(value, fail);
  return { ...field, isRequired: false, read };
}

/** Any text. */
export const anyText: Field<string | undefined> = {
  schema: { type: "string" },
  isRequired: false,
  read: (value) => value,
};

/** Words to search for: undefined when they are blank. */
export function words(maxChars: number): Field<string | undefined> {
  return {
    schema: { type: "string", maxLength: maxChars },
    isRequired: false,
    read(value, fail) {
      const trimmed = value?.trim() ?? "";
      if (trimmed.length > maxChars) fail(`at most ${maxChars} characters`);
      return trimmed === "" ? undefined : trimmed;
    },
  };
}

export function oneOf<const T extends string>(...values: readonly T[]): Field<T | undefined> {
  return {
    schema: { type: "string", enum: values },
    isRequired: false,
    read: (value, fail) =>
      value === undefined ? undefined : (values.find((one) => one === value) ?? fail(values.join(" or "))),
  };
}

/** True for `yes`; false for `no` or nothing. */
export const yesOrNo: Field<boolean> = {
  schema: { type: "string", enum: ["yes", "no"], default: "no" },
  isRequired: false,
  read: (value = "no", fail) => (value === "yes" || value === "no" ? value === "yes" : fail("yes or no")),
};

/** True for `yes`, false for `no`, undefined for nothing. */
export const optionalYesOrNo: Field<boolean | undefined> = {
  schema: { type: "string", enum: ["yes", "no"] },
  isRequired: false,
  read: (value, fail) => (value === undefined ? undefined : yesOrNo.read(value, fail)),
};

export function wholeNumber({
  fallback,
  min = 1,
  max = Number.MAX_SAFE_INTEGER,
}: {
  fallback: number;
  min?: number;
  max?: number;
}): Field<number> {
  return {
    schema: { type: "integer", minimum: min, maximum: max, default: fallback },
    isRequired: false,
    read(value, fail) {
      const number = value === undefined ? fallback : value === "" ? Number.NaN : Number(value);
      if (Number.isInteger(number) && number >= min && number <= max) return number;
      return fail(`a whole number from ${min} to ${max}`);
    },
  };
}

/** Fields of several routes. */
export const AGENT = text(AGENT_ID, "an agent's id");
