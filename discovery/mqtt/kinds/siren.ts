/** `siren`: it sounds for a time that has to be said, and it can be stopped. */

import { withSteps } from "../../model/entity/draft.ts";
import type { Parameter } from "../../model/entity/entity.ts";
import { same } from "../../model/entity/fit.ts";
import { choice, notAnOption } from "../../model/entity/schemas.ts";
import { onOffText } from "../../model/entity/words.ts";
import { flagField, isObject, listField, payloadField } from "../config/fields.ts";
import { parsedJson } from "../states/message.ts";
import { type MqttDraft, topicsOf, write } from "./draft.ts";
import { onPayloads } from "./switch.ts";
import { onOff } from "./values.ts";

const DURATION_MAX_S = 600;

export function siren(draft: MqttDraft): void {
  const { config } = draft;
  draft.danger = "it is a siren";
  const [on, off] = onPayloads(draft);
  const isOn = onOff(payloadField(config, "state_on", on), payloadField(config, "state_off", off));
  draft.slot("on", "state_topic", ["state_value_template"], (text) => isOn(stateOf(text)));
  draft.reading("on", (value) =>
    value === true ? "sounding" : value === false ? "silent" : onOffText(value),
  );
  const tones = listField(config, "available_tones");
  const parameters: Record<string, Parameter> = {};
  const hasDuration = flagField(config, "support_duration", true);
  if (tones.length > 0) parameters.tone = choice(tones);
  if (hasDuration)
    parameters.duration_s = { type: "integer", minimum: 1, maximum: DURATION_MAX_S, description: "seconds" };
  if (flagField(config, "support_volume_set", true))
    parameters.volume = { type: "integer", minimum: 0, maximum: 100, description: "percent" };
  const template = draft.has("command_template") ? "command_template" : undefined;
  const output = draft.output("command_topic", template);
  if (!output) return;
  draft.commands.push({
    action: "sound",
    description: "Let it sound.",
    parameters,
    required: hasDuration ? ["duration_s"] : [],
    idempotent: true,
    wait: "value",
    targets: topicsOf([output]),
    run: ({ tone, duration_s, volume }) => {
      if (tone !== undefined && !tones.includes(String(tone))) return { error: notAnOption("tone", tones) };
      const variables = {
        state: on,
        ...(tone !== undefined && { tone }),
        ...(typeof duration_s === "number" && { duration: duration_s }),
        ...(typeof volume === "number" && { volume_level: volume / 100 }),
      };
      const message = write(output, template === undefined ? JSON.stringify(variables) : on, variables);
      const isReported = draft.reports("on");
      const expect = draft.expectation("on", true, "sounding", same);
      return withSteps([message], isReported ? [expect] : [], isReported ? [] : ["whether it sounds"]);
    },
  });
  const offTemplate = draft.has("command_off_template") ? "command_off_template" : template;
  const silent = draft.output("command_topic", offTemplate);
  if (!silent) return;
  const send = () => [
    write(silent, offTemplate === undefined ? JSON.stringify({ state: off }) : off, { state: off }),
  ];
  draft.simple("stop", "Silence it.", send, silent, {
    slot: "on",
    words: "silent",
    is: (value) => value === false,
    harmless: true,
  });
}

function stateOf(text: string): string {
  if (!text.trimStart().startsWith("{")) return text;
  const value = parsedJson(text);
  if (value === undefined) return text;
  return isObject(value) && typeof value.state === "string" ? value.state : "";
}
