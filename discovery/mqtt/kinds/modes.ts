/** Parameters that are one of a list (a mode, a preset) or a number, with a topic of their own. */

import { numberText, Quantity } from "@edgecall/core/text/quantity.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import { same, sameNumber } from "../../model/entity/fit.ts";
import { listField, payloadField } from "../config/fields.ts";
import { type EntityDraft, type Output, type Setting, write } from "./draft.ts";
import { NONE, numeric, oneOf, plain, withUnit } from "./values.ts";

type Keys = {
  /** The parameter's name, and its reading's words. */
  name: string;
  label?: string;
  state: string;
  /** The first template that is there counts. */
  templates: readonly string[];
  command: string;
  commandTemplate: string;
  /** The key of the payload that says "unknown" beside `None`. */
  reset?: string;
};

/** Options that a schema lists. With more, it is a text that is checked when the action is called. */
const OPTIONS_MAX = 100;

export function modeSetting(
  draft: EntityDraft,
  keys: Keys & { list: string; byDefault: readonly string[]; none?: string },
): [Setting | undefined, Output | undefined] {
  const { none } = keys;
  const listed = Object.hasOwn(draft.config, keys.list)
    ? listField(draft.config, keys.list)
    : [...keys.byDefault];
  const options = none === undefined ? listed : [...new Set([none, ...listed])];
  const slot = keys.name;
  const read = unlessReset(draft, keys, oneOf(options));
  draft.slot(slot, keys.state, keys.templates, (text) => {
    const value = read(text);
    return value === null && none !== undefined ? none : value;
  });
  draft.reading(slot, plain, keys.label === undefined ? {} : { label: keys.label });
  const output = options.length > 0 ? draft.output(keys.command, keys.commandTemplate) : undefined;
  if (!output) return [undefined, undefined];
  const setting: Setting = {
    name: keys.name,
    parameter: choice(options),
    words: (value) => `${keys.label ?? keys.name} ${value}`,
    messages: (value) =>
      options.includes(String(value)) ? [write(output, value)] : [{ error: notAnOption(keys.name, options) }],
    confirmed: { slot, by: same },
  };
  return [setting, output];
}

/** The parser of a state that may also be the config's own payload for "unknown". */
function unlessReset(draft: EntityDraft, { reset }: Keys, parse: Parse): Parse {
  const payload = reset === undefined ? NONE : payloadField(draft.config, reset, NONE);
  return (text) => (text === payload ? null : parse(text));
}

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

type Parse = (text: string) => SlotValue | undefined;

export type Range = { minimum: number; maximum: number; step: number; unit?: string };

export function numberSetting(
  draft: EntityDraft,
  keys: Keys,
  range: Range,
): [Setting | undefined, Output | undefined] {
  const slot = keys.name;
  const { unit } = range;
  draft.slot(slot, keys.state, keys.templates, unlessReset(draft, keys, numeric));
  draft.reading(slot, withUnit(unit), {
    ...(keys.label !== undefined && { label: keys.label }),
    ...(unit !== undefined && { unit }),
  });
  const output = draft.output(keys.command, keys.commandTemplate);
  if (!output || range.minimum > range.maximum) return [undefined, undefined];
  const setting: Setting = {
    name: keys.name,
    parameter: bounded(range),
    words: (value) => `${keys.label ?? keys.name} ${numberFormatter(unit)(value)}`,
    messages: (value) => [write(output, value)],
    confirmed: { slot, by: sameNumber(range.step) },
  };
  return [setting, output];
}

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
