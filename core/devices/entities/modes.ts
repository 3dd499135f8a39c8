/** Parameters that are one of a list (a mode, a preset) or a number, with a topic of their own. */
import { listField } from "../discovery/fields.ts";
import { type EntityDraft, type Output, type Setting, write } from "./draft.ts";
import type { SlotValue } from "./entity.ts";
import { near, numeric, oneOf, plain, same, withUnit } from "./values.ts";

type Keys = {
  /** The parameter's name, and its reading's words. */
  name: string;
  label?: string;
  state: string;
  /** The first template that is there counts. */
  templates: readonly string[];
  command: string;
  commandTemplate: string;
};

/** Options that a schema lists. With more, it is a text that is checked when the action is called. */
const OPTIONS_MAX = 100;

export function modeSetting(
  draft: EntityDraft,
  keys: Keys & { list: string; byDefault: readonly string[]; alsoReported?: readonly string[] },
): [Setting | undefined, Output | undefined] {
  const listed = listField(draft.config, keys.list);
  const options = Object.hasOwn(draft.config, keys.list) ? listed : [...keys.byDefault];
  const slot = keys.name;
  draft.slot(slot, keys.state, keys.templates, oneOf([...options, ...(keys.alsoReported ?? [])]));
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

export function numberSetting(
  draft: EntityDraft,
  keys: Keys,
  range: Range,
): [Setting | undefined, Output | undefined] {
  const slot = keys.name;
  const { unit } = range;
  draft.slot(slot, keys.state, keys.templates, numeric);
  draft.reading(slot, withUnit(unit), {
    ...(keys.label !== undefined && { label: keys.label }),
    ...(unit !== undefined && { unit }),
  });
  const output = draft.output(keys.command, keys.commandTemplate);
  if (!output || range.minimum > range.maximum) return [undefined, undefined];
  const setting: Setting = {
    name: keys.name,
    parameter: bounded(range),
    words: (value) => `${keys.label ?? keys.name} ${withUnit(unit)(value as SlotValue)}`,
    messages: (value) => [write(output, value)],
    confirmed: { slot, by: near(range.step / 2) },
  };
  return [setting, output];
}

export function bounded({ minimum, maximum, step, unit }: Range): Setting["parameter"] {
  const isWhole = [minimum, maximum, step].every(Number.isInteger);
  const words = [unit, step === 1 ? undefined : `step ${plain(step)}`].filter((one) => one !== undefined);
  return {
    type: isWhole ? "integer" : "number",
    minimum,
    maximum,
    ...(words.length > 0 && { description: words.join(", ") }),
  };
}
