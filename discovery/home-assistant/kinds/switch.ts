/** `switch`, `input_boolean`, `siren`, and the parameter `on` of other kinds. */
import type { Setting } from "../../model/entity/draft.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import { same } from "../../model/entity/fit.ts";
import { onOffText } from "../../model/entity/words.ts";
import { type HomeAssistantDraft, onOff } from "./draft.ts";

export function switchEntity(draft: HomeAssistantDraft): void {
  draft.addSettings("Switch it on or off.", [onSetting(draft)], draft.targets);
}

/** The state `on` and `off`, and what switches it. */
export function onSetting(draft: HomeAssistantDraft): Setting {
  draft.stateSlot("on", onOff);
  draft.reading("on", onOffText);
  return switching(draft, { slot: "on", by: same });
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
  if (draft.can(1))
    draft.addSimple(
      "sound",
      "Let it sound.",
      () => [draft.call("turn_on")],
      draft.targets,
      end("sounding", true),
    );
  if (draft.can(2))
    draft.addSimple("stop", "Silence it.", () => [draft.call("turn_off")], draft.targets, {
      ...end("silent", false),
      harmless: true,
    });
}
