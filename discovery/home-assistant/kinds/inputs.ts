/** `number`, `select`, `text` and the helpers of the same: one value that is set. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Setting } from "../../model/entity/draft.ts";
import { same, sameNumber } from "../../model/entity/fit.ts";
import { bounded, numberFormatter } from "../../model/entity/schemas.ts";
import { plain, withUnit } from "../../model/entity/words.ts";
import { oneOf } from "./choices.ts";
import type { HomeAssistantDraft } from "./draft.ts";
import { unitOf } from "./sensor.ts";

const TEXT_MAX = 255;

export function numberEntity(draft: HomeAssistantDraft): void {
  const unit = unitOf(draft);
  const range = {
    minimum: draft.number("min", 1),
    maximum: draft.number("max", 100),
    step: Math.max(draft.number("step", 1), 1e-6),
    ...(unit !== undefined && { unit }),
  };
  draft.stateSlot("value", (state) => Quantity.parse(state));
  draft.reading("value", withUnit(unit), unit === undefined ? {} : { unit });
  set(draft, {
    parameter: bounded(range),
    words: (value) => numberFormatter(unit)(value),
    steps: (value) => [draft.call("set_value", { value })],
    confirmed: { slot: "value", by: sameNumber(range.step, range.minimum) },
  });
}

export function select(draft: HomeAssistantDraft): void {
  const options = draft.list("options");
  draft.stateSlot("value", (state) => options.find((option) => option === state));
  draft.reading("value", plain);
  const setting = oneOf("value", "", options, (option) => draft.call("select_option", { option }));
  if (setting) set(draft, { ...setting, words: String });
}

export function text(draft: HomeAssistantDraft): void {
  const isPassword = draft.text("mode") === "password";
  if (!isPassword) {
    draft.stateSlot("value", (state) => state);
    draft.reading("value", plain, { free: true });
  }
  const most = Math.min(draft.number("max", TEXT_MAX), TEXT_MAX);
  set(draft, {
    parameter: { type: "string", maxLength: most, ...(isPassword && { writeOnly: true }) },
    words: () => "the text",
    steps: (value) => [draft.call("set_value", { value })],
    confirmed: { slot: "value", by: same },
  });
}

function set(draft: HomeAssistantDraft, setting: Omit<Setting, "name">): void {
  draft.addSettings("Set it.", [{ name: "value", ...setting }], draft.targets);
}
