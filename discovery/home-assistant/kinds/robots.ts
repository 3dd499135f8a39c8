/** `vacuum` and `lawn_mower`: they start, pause, stop and go home. */
import { plain } from "../../model/entity/words.ts";
import type { HomeAssistantDraft } from "./draft.ts";

const VACUUM_STATES = ["idle", "docked", "error", "paused", "returning", "cleaning"];
const MOWER_STATES = ["error", "paused", "mowing", "docked", "returning"];
/** One on its way home has obeyed. */
const HOME = ["docked", "returning"];

export function vacuum(draft: HomeAssistantDraft): void {
  draft.stateSlot("state", (state) => VACUUM_STATES.find((one) => one === state));
  draft.reading("state", plain);
  act(draft, 8_192, "start", "Start cleaning.", "start", ["cleaning"]);
  act(draft, 4, "pause", "Pause cleaning.", "pause", ["paused", "idle"]);
  act(draft, 8, "stop", "Stop cleaning.", "stop", ["idle", "paused", "docked"]);
  act(draft, 16, "dock", "Send it home.", "return_to_base", HOME);
  act(draft, 512, "locate", "Let it make itself heard.", "locate", []);
}

export function lawnMower(draft: HomeAssistantDraft): void {
  draft.danger = "it mows";
  draft.stateSlot("state", (state) => MOWER_STATES.find((one) => one === state));
  draft.reading("state", plain);
  act(draft, 1, "start", "Start mowing.", "start_mowing", ["mowing"]);
  act(draft, 2, "pause", "Pause mowing.", "pause", ["paused"]);
  act(draft, 4, "dock", "Send it home.", "dock", HOME);
}

function act(
  draft: HomeAssistantDraft,
  bit: number,
  action: string,
  description: string,
  service: string,
  ends: readonly string[],
): void {
  if (!draft.can(bit)) return;
  draft.addSimple(action, description, () => [draft.call(service)], draft.targets, {
    ...(ends.length > 0 && { slot: "state" }),
    words: ends[0] ?? action,
    is: (value) => ends.includes(String(value)),
    wait: "vacuum",
    ...(action !== "start" && { harmless: true }),
  });
}
