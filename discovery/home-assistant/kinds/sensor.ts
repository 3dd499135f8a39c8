/** `sensor` and `binary_sensor`: values that are only read. */
import { classWords } from "@edgecall/core/text/class-words.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { plain, withUnit } from "../../model/entity/words.ts";
import { harmless } from "../../model/names.ts";
import { type HomeAssistantDraft, onOff } from "./draft.ts";

const UNIT_MAX = 16;
const TIMES = ["timestamp", "date"];
const TIME = /^[\d:.+TZ -]{8,40}$/;

export function sensor(draft: HomeAssistantDraft): void {
  const options = draft.list("options");
  const unit = unitOf(draft);
  const isTime = TIMES.includes(draft.class ?? "");
  const isNumber = !isTime && (unit !== undefined || draft.text("state_class") !== undefined);
  draft.stateSlot("value", (state) => {
    if (isNumber) return Quantity.parse(state);
    if (isTime) return TIME.test(state) ? state : undefined;
    return options.length > 0 ? options.find((option) => option === state) : state;
  });
  const isFree = !isNumber && !isTime && options.length === 0;
  draft.reading("value", withUnit(unit), { ...(unit !== undefined && { unit }), free: isFree });
  detail(draft);
}

export function binarySensor(draft: HomeAssistantDraft): void {
  draft.stateSlot("value", onOff);
  const [onWord, offWord] = classWords(draft.class);
  draft.reading("value", (value) => (value === true ? onWord : value === false ? offWord : plain(value)));
  detail(draft);
}

/** It stands beside each value, so it is left out if it reads like more than a unit. */
export function unitOf(draft: HomeAssistantDraft): string | undefined {
  const unit = harmless(draft.text("unit_of_measurement") ?? "", UNIT_MAX);
  return unit !== "" && isLabel(unit.replace(/\p{Sc}/gu, "x")) ? unit : undefined;
}

function detail(draft: HomeAssistantDraft): void {
  if (draft.class !== undefined) draft.details.push(draft.class.replaceAll("_", " "));
}
