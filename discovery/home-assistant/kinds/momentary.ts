/** `button`, `scene` and `script`: they do something, and nothing tells whether it was done. */
import type { HomeAssistantDraft } from "./draft.ts";

/** Its time stamp is Home Assistant's own, and moves also when the press fails. */
export function button(draft: HomeAssistantDraft): void {
  if (["restart", "update"].includes(draft.class ?? "")) draft.danger = `it is for ${draft.class}`;
  act(draft, "press", "Press it.", "press");
}

export function scene(draft: HomeAssistantDraft): void {
  draft.danger = "it is a scene, which may change anything";
  act(draft, "activate", "Activate it.", "turn_on");
}

function act(draft: HomeAssistantDraft, action: string, description: string, service: string): void {
  draft.addSimple(action, description, () => [draft.call(service)], draft.targets, {
    words: "what it does",
    is: () => false,
    idempotent: action === "activate",
  });
}
