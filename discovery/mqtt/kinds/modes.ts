/** Parameters that are one of a list (a mode, a preset) or a number, with a topic of their own. */

import type { Setting } from "../../model/entity/draft.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import { same, sameNumber } from "../../model/entity/fit.ts";
import { bounded, choice, notAnOption, numberFormatter, type Range } from "../../model/entity/schemas.ts";
import { plain, withUnit } from "../../model/entity/words.ts";
import { listField, payloadField } from "../config/fields.ts";
import { type MqttDraft, type Output, write } from "./draft.ts";
import { NONE, numeric, oneOf } from "./values.ts";

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

export function modeSetting(
  draft: MqttDraft,
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
    steps: (value) =>
      options.includes(String(value)) ? [write(output, value)] : [{ error: notAnOption(keys.name, options) }],
    confirmed: { slot, by: same },
  };
  return [setting, output];
}

/** The parser of a state that may also be the config's own payload for "unknown". */
function unlessReset(draft: MqttDraft, { reset }: Keys, parse: Parse): Parse {
  const payload = reset === undefined ? NONE : payloadField(draft.config, reset, NONE);
  return (text) => (text === payload ? null : parse(text));
}

type Parse = (text: string) => SlotValue | undefined;

export function numberSetting(
  draft: MqttDraft,
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
    steps: (value) => [write(output, value)],
    confirmed: { slot, by: sameNumber(range.step) },
  };
  return [setting, output];
}
