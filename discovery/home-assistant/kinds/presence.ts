/** `person` and `device_tracker`: whether somebody is at home. Where they are otherwise is not told. */
import { plain } from "../../model/entity/words.ts";
import type { HomeAssistantDraft } from "./draft.ts";

export function presence(draft: HomeAssistantDraft): void {
  draft.stateSlot("home", (state) => state === "home");
  draft.reading("home", (value) => (value === true ? "at home" : value === false ? "away" : plain(value)));
}
