/** Schemas of parameters that are one of a list, or a number of a range. */
import { numberText, Quantity } from "@edgecall/core/text/quantity.ts";
import type { Setting } from "./draft.ts";
import { withUnit } from "./words.ts";

/** Options that a schema lists. With more, it is a text that is checked when the action is called. */
const OPTIONS_MAX = 100;

export function choice(options: readonly string[]): Setting["parameter"] {
  return options.length <= OPTIONS_MAX
    ? { type: "string", enum: options }
    : {
        type: "string",
        maxLength: Math.max(...options.map(({ length }) => length)),
        description: `One of ${options.length}, among them: ${options.slice(0, 10).join(", ")}`.slice(0, 300),
      };
}

export function notAnOption(name: string, options: readonly string[]): string {
  return `${name}: it is none of ${options.slice(0, 20).join(", ")}${options.length > 20 ? " and others" : ""}`;
}

export type Range = { minimum: number; maximum: number; step: number; unit?: string };

/** The words of a number that was asked for. */
export function numberFormatter(unit: string | undefined): (value: unknown) => string {
  return (value) => withUnit(unit)(Quantity.of(Number(value)));
}

export function bounded({ minimum, maximum, step, unit }: Range): Setting["parameter"] {
  const isWhole = [minimum, maximum, step].every(Number.isInteger);
  const words = [unit, step === 1 ? undefined : `step ${numberText(step)}`].filter(
    (one) => one !== undefined,
  );
  return {
    type: isWhole ? "integer" : "number",
    minimum,
    maximum,
    ...(words.length > 0 && { description: words.join(", ") }),
  };
}
