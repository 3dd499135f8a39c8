/** `number`, `select`, `text`, `date`, `time` and `datetime`: one value that is read and set. */
import { NOT_SHOWN } from "@edgecall/core/tools/secret-parameters.ts";
import type { Setting } from "../../model/entity/draft.ts";
import type { Parameter, SlotValue } from "../../model/entity/entity.ts";
import { same, sameNumber } from "../../model/entity/fit.ts";
import { bounded, choice, notAnOption, numberFormatter } from "../../model/entity/schemas.ts";
import { plain, withUnit } from "../../model/entity/words.ts";
import { listField, numberField, payloadField } from "../config/fields.ts";
import { type Pattern, readPattern } from "../template/patterns.ts";
import { type MqttDraft, write } from "./draft.ts";
import { unitOf } from "./sensor.ts";
import { anyText, NONE, numeric, oneOf } from "./values.ts";

export function numberEntity(draft: MqttDraft): void {
  const unit = unitOf(draft);
  const range = {
    minimum: numberField(draft.config, "min", 1),
    maximum: numberField(draft.config, "max", 100),
    step: Math.max(numberField(draft.config, "step", 1), 0.001),
    ...(unit !== undefined && { unit }),
  };
  const reset = payloadField(draft.config, "payload_reset", NONE);
  draft.slot("value", "state_topic", ["value_template"], (text) => (text === reset ? null : numeric(text)));
  draft.reading("value", withUnit(unit), unit === undefined ? {} : { unit });
  if (range.minimum > range.maximum) draft.leave("", "its min is above its max");
  else
    setValue(draft, "Set its value.", bounded(range), {
      words: numberFormatter(unit),
      confirmed: { slot: "value", by: sameNumber(range.step, range.minimum) },
    });
}

export function select(draft: MqttDraft): void {
  const options = listField(draft.config, "options");
  draft.slot("value", "state_topic", ["value_template"], oneOf(options));
  draft.reading("value", plain);
  if (options.length === 0) {
    draft.leave("", "it has no options");
    return;
  }
  setValue(draft, "Choose one of its options.", choice(options), {}, (value) =>
    options.includes(String(value)) ? undefined : notAnOption("value", options),
  );
}

/** Characters that Home Assistant takes for a state. */
const TEXT_MAX = 255;

export function text(draft: MqttDraft): void {
  const minLength = Math.max(numberField(draft.config, "min", 0), 0);
  const maxLength = Math.min(numberField(draft.config, "max", TEXT_MAX), TEXT_MAX);
  const isSecret = draft.text("mode")?.toLowerCase() === "password";
  // A template prints null as `None`; what a device sends itself is the text.
  const read = draft.has("value_template") ? anyText : (one: string) => one;
  draft.slot("value", "state_topic", ["value_template"], read);
  draft.reading(
    "value",
    isSecret ? () => NOT_SHOWN : plain,
    isSecret ? { free: false, secret: true } : { free: true },
  );
  if (minLength > maxLength) {
    draft.leave("", "its min is above its max");
    return;
  }
  const pattern = patternOf(draft);
  const parameter: Parameter = {
    type: "string",
    ...(minLength > 0 && { minLength }),
    maxLength,
    // With spaces it may be a sentence of the publisher's.
    ...(pattern && /^\S{1,100}$/.test(pattern.source) && { description: `it matches ${pattern.source}` }),
    ...(isSecret && { writeOnly: true }),
  };
  const words = (value: unknown) => (isSecret ? "the new value" : JSON.stringify(value));
  setValue(
    draft,
    "Set its text.",
    parameter,
    { words },
    (value) => pattern && mismatch(pattern, String(value)),
  );
}

/** @returns undefined: there is none, or one that cannot be used; the device does not take what does not match */
function patternOf(draft: MqttDraft): Pattern | undefined {
  const source = draft.text("pattern");
  const read = source === undefined ? undefined : readPattern(source);
  if (read?.ok === false) draft.leave("pattern", `its texts are not checked: the pattern ${read.problem}`);
  return read?.ok ? read.pattern : undefined;
}

function mismatch(pattern: Pattern, value: string): string | undefined {
  try {
    return pattern.begins(value) ? undefined : `value: it does not match ${pattern.source}`;
  } catch (error) {
    return `value: the pattern of its publisher is none: ${error instanceof Error ? error.message : error}`;
  }
}

const DATE = "^\\d{4}-\\d{2}-\\d{2}$";
const TIME = "^\\d{2}:\\d{2}(:\\d{2})?$";
const DATETIME = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(Z|[+-]\\d{2}:\\d{2})$";

export const date = (draft: MqttDraft): void => moment(draft, "2026-11-22", DATE);
export const time = (draft: MqttDraft): void => moment(draft, "07:30:00", TIME);
export const datetime = (draft: MqttDraft): void => moment(draft, "2026-11-22T07:30:00+01:00", DATETIME);

function moment(draft: MqttDraft, example: string, pattern: string): void {
  const shape = /^[\d:.+TZ -]{5,40}$/;
  draft.slot("value", "state_topic", ["value_template"], (one) =>
    one === NONE ? null : shape.test(one) ? one : undefined,
  );
  draft.reading("value", plain);
  const parameter: Parameter = {
    type: "string",
    maxLength: 40,
    pattern,
    description: `such as ${example}`,
  };
  const invalid = (value: unknown) =>
    timeOf(String(value)) === undefined ? `value: it is no ${draft.kind} such as ${example}` : undefined;
  const isSame = (asked: unknown, reported: SlotValue) => {
    const [a, b] = [timeOf(String(asked)), timeOf(String(reported))];
    return a !== undefined && a === b;
  };
  setValue(draft, `Set its ${draft.kind}.`, parameter, { confirmed: { slot: "value", by: isSame } }, invalid);
}

/** A date, a time of day, or both, as epoch ms. */
function timeOf(text: string): number | undefined {
  const whole = /^\d{2}:/.test(text) ? `1970-01-01T${text}Z` : text.replace(" ", "T");
  const ms = Date.parse(whole);
  return Number.isNaN(ms) ? undefined : ms;
}

function setValue(
  draft: MqttDraft,
  description: string,
  parameter: Parameter,
  more: Partial<Setting>,
  invalid: (value: unknown) => string | undefined = () => undefined,
): void {
  const output = draft.output("command_topic", "command_template");
  if (!output) return;
  const setting: Setting = {
    name: "value",
    parameter,
    words: (value) => String(value),
    steps: (value) => {
      const error = invalid(value);
      return [error === undefined ? write(output, value) : { error }];
    },
    confirmed: { slot: "value", by: same },
    ...more,
  };
  draft.settings(description, [setting], [output]);
}
