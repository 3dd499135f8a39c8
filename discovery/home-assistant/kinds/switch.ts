/** `switch`, `input_boolean`, `siren`, and the parameter `on` of other kinds. */
import { type Setting, withSteps } from "../../model/entity/draft.ts";
import type { Parameter, SlotValue } from "../../model/entity/entity.ts";
import { same } from "../../model/entity/fit.ts";
import { choice, notAnOption } from "../../model/entity/schemas.ts";
import { onOffText } from "../../model/entity/words.ts";
import { type HomeAssistantDraft, onOff } from "./draft.ts";

const DURATION_MAX_S = 1_800;

export function switchEntity(draft: HomeAssistantDraft): void {
  draft.addSettings("Switch it on or off.", [onSetting(draft)], draft.targets);
}

/** The state `on` and `off`, and what switches it. */
export function onSetting(draft: HomeAssistantDraft): Setting {
  draft.stateSlot("on", onOff);
  draft.reading("on", onOffText);
  return switching(draft, { slot: "on", by: same });
}

function sound(draft: HomeAssistantDraft): void {
  const tones = draft.can(4) ? draft.tones : [];
  const parameters: Record<string, Parameter> = {};
  if (tones.length > 0) parameters.tone = choice(tones);
  if (draft.can(16))
    parameters.duration_s = { type: "integer", minimum: 1, maximum: DURATION_MAX_S, description: "seconds" };
  if (draft.can(8)) parameters.volume = { type: "integer", minimum: 0, maximum: 100, description: "percent" };
  draft.commands.push({
    action: "sound",
    description: "Let it sound.",
    parameters,
    required: [],
    idempotent: true,
    wait: "value",
    targets: draft.targets,
    run: ({ tone, duration_s, volume }) => {
      if (tone !== undefined && !tones.includes(String(tone))) return { error: notAnOption("tone", tones) };
      const data = {
        ...(tone !== undefined && { tone }),
        ...(duration_s !== undefined && { duration: duration_s }),
        ...(volume !== undefined && { volume_level: Number(volume) / 100 }),
      };
      const isReported = draft.reports("on");
      const expect = draft.expectation("on", true, "sounding", same);
      return withSteps(
        [draft.call("turn_on", data)],
        isReported ? [expect] : [],
        isReported ? [] : ["whether it sounds"],
      );
    },
  });
}

/** @param confirmed the slot that tells it */
export function switching(draft: HomeAssistantDraft, confirmed: NonNullable<Setting["confirmed"]>): Setting {
  return {
    name: "on",
    parameter: { type: "boolean", description: "true: on, false: off" },
    words: (value) => onOffText(value as SlotValue),
    steps: (value) => [draft.call(value === true ? "turn_on" : "turn_off")],
    confirmed,
    order: -1,
  };
}

export function siren(draft: HomeAssistantDraft): void {
  draft.danger = "it is a siren";
  draft.stateSlot("on", onOff);
  draft.reading("on", (value) =>
    value === true ? "sounding" : value === false ? "silent" : onOffText(value),
  );
  const end = (words: string, wanted: boolean) => ({
    slot: "on",
    words,
    is: (value: SlotValue) => value === wanted,
  });
  if (draft.can(1)) sound(draft);
  if (draft.can(2))
    draft.addSimple("stop", "Silence it.", () => [draft.call("turn_off")], draft.targets, {
      ...end("silent", false),
      harmless: true,
    });
}
