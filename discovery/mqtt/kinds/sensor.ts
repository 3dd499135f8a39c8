/** `sensor` and `binary_sensor`: values that are only read. */

import { classWords } from "@edgecall/core/text/class-words.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import { plain, withUnit } from "../../model/entity/words.ts";
import { harmless } from "../../model/names.ts";
import { listField, numberField, payloadField } from "../config/fields.ts";
import type { MqttDraft } from "./draft.ts";
import { isNumericClass } from "./numeric-classes.ts";
import { anyText, NONE, numeric, oneOf, onOff } from "./values.ts";

const UNIT_MAX = 16;
/** Classes whose values are no numbers. */
const TIMES = ["timestamp", "date"];
const TIME = /^[\d:.+TZ -]{8,40}$/;
/** Fields that only a number has. Without one, `007` and `2.10` are texts, as in Home Assistant. */
const OF_NUMBERS = ["unit_of_measurement", "state_class", "suggested_display_precision"];

export function sensor(draft: MqttDraft): void {
  const options = listField(draft.config, "options");
  const unit = unitOf(draft);
  const isTime = TIMES.includes(draft.class ?? "");
  const isNumber = !isTime && options.length === 0 && draft.class !== "enum" && hasNumbers(draft);
  const isFree = !isNumber && !isTime && options.length === 0;
  const parse = isNumber ? numeric : isTime ? timeText : options.length > 0 ? oneOf(options) : anyText;
  draft.slot("value", "state_topic", ["value_template"], parse, expiry(draft));
  const decimals = numberField(draft.config, "suggested_display_precision");
  draft.reading("value", withUnit(unit, decimals), { ...(unit !== undefined && { unit }), free: isFree });
  if (draft.class !== undefined) draft.details.push(draft.class.replaceAll("_", " "));
}

export function binarySensor(draft: MqttDraft): void {
  const on = payloadField(draft.config, "payload_on", "ON");
  const off = payloadField(draft.config, "payload_off", "OFF");
  const offDelay = numberField(draft.config, "off_delay");
  draft.slot("value", "state_topic", ["value_template"], onOff(on, off), {
    ...expiry(draft),
    ...(offDelay !== undefined && { offDelay }),
  });
  const [onWord, offWord] = classWords(draft.class);
  draft.reading("value", (value) => (value === true ? onWord : value === false ? offWord : plain(value)));
  if (draft.class !== undefined) draft.details.push(draft.class.replaceAll("_", " "));
}

/** It stands beside each value, also in what nobody takes for a stranger's, so it is left out if it reads like more than a unit. */
export function unitOf(draft: MqttDraft): string | undefined {
  const unit = harmless(draft.text("unit_of_measurement") ?? "", UNIT_MAX);
  return isLabel(unit.replace(/\p{Sc}/gu, "x")) ? unit : undefined;
}

function expiry(draft: MqttDraft): { expireAfter?: number } {
  const seconds = numberField(draft.config, "expire_after", 0);
  return seconds > 0 ? { expireAfter: seconds } : {};
}

function hasNumbers(draft: MqttDraft): boolean {
  return isNumericClass(draft.class) || OF_NUMBERS.some((key) => draft.has(key));
}

/** An empty time is an unknown one. */
function timeText(text: string): SlotValue | undefined {
  return text === NONE || text === "" ? null : TIME.test(text) ? text : undefined;
}
