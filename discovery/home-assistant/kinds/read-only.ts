/** `camera`, `image`, `remote`, `sun`: what is only looked at. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { onOffText, plain, withUnit } from "../../model/entity/words.ts";
import { type HomeAssistantDraft, onOff } from "./draft.ts";

const CAMERA_STATES = ["idle", "recording", "streaming"];

/** Its picture is asked for when it is wanted. */
export function camera(draft: HomeAssistantDraft): void {
  draft.hasPicture = true;
  draft.stateSlot("state", (state) => CAMERA_STATES.find((one) => one === state));
  draft.reading("state", plain);
}

/** Its state is the time of its picture. */
export function image(draft: HomeAssistantDraft): void {
  draft.hasPicture = true;
  draft.stateSlot("at", (state) => (/^[\d:.+TZ -]{8,40}$/.test(state) ? state : undefined));
  draft.reading("at", plain, { label: "time of the picture" });
}

export function remote(draft: HomeAssistantDraft): void {
  draft.stateSlot("on", onOff);
  draft.reading("on", onOffText);
}

export function sun(draft: HomeAssistantDraft): void {
  draft.stateSlot("sun", (state) => ["above_horizon", "below_horizon"].find((one) => one === state));
  draft.reading("sun", (value) => plain(value).replaceAll("_", " the "));
  draft.slot("elevation", ({ attributes: { elevation } }) =>
    typeof elevation === "number" ? Quantity.of(elevation) : null,
  );
  draft.reading("elevation", withUnit("°"), { label: "elevation", unit: "°" });
}
