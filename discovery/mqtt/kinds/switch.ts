/** `switch`, and the parameter `on` of other kinds. */

import type { Setting } from "../../model/entity/draft.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import { same } from "../../model/entity/fit.ts";
import { onOffText } from "../../model/entity/words.ts";
import { payloadField } from "../config/fields.ts";
import { type MqttDraft, type Output, write } from "./draft.ts";
import { onOff } from "./values.ts";

export function switchEntity(draft: MqttDraft): void {
  const output = draft.output("command_topic", "command_template");
  const on = onSetting(draft, output, ["value_template"]);
  draft.settings("Switch it on or off.", [on], [output]);
}

/** `state_topic` with `on` and `off`, and what switches it. */
export function onSetting(
  draft: MqttDraft,
  output: Output | undefined,
  templates: readonly string[],
): Setting | undefined {
  const [on, off] = onPayloads(draft);
  const [stateOn, stateOff] = [
    payloadField(draft.config, "state_on", on),
    payloadField(draft.config, "state_off", off),
  ];
  draft.slot("on", "state_topic", templates, onOff(stateOn, stateOff));
  draft.reading("on", onOffText);
  return output && switching(output, on, off, "on");
}

export function onPayloads(draft: MqttDraft): readonly [on: string, off: string] {
  return [payloadField(draft.config, "payload_on", "ON"), payloadField(draft.config, "payload_off", "OFF")];
}

/** @param slot that reports it; undefined: none does */
function switching(output: Output, on: string, off: string, slot: string | undefined): Setting {
  return {
    name: "on",
    parameter: { type: "boolean", description: "true: on, false: off" },
    words: (value) => onOffText(value as SlotValue),
    steps: (value) => [write(output, value === true ? on : off)],
    ...(slot !== undefined && { confirmed: { slot, by: same } }),
    order: -1,
  };
}
