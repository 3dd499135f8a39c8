/** `button` and `scene`: they do something, and have no state. */
import { payloadField } from "../config/fields.ts";
import { type MqttDraft, write } from "./draft.ts";

export function button(draft: MqttDraft): void {
  if (["restart", "update"].includes(draft.class ?? "")) draft.danger = `it is for ${draft.class}`;
  const payload = payloadField(draft.config, "payload_press", "PRESS");
  press(draft, "press", "Press it.", payload, false);
}

export function scene(draft: MqttDraft): void {
  press(draft, "activate", "Activate it.", payloadField(draft.config, "payload_on", "ON"), true);
}

function press(draft: MqttDraft, action: string, description: string, payload: string, again: boolean): void {
  const output = draft.output("command_topic", "command_template");
  if (output)
    draft.simple(action, description, () => [write(output, payload)], output, {
      words: "what it does",
      is: () => false,
      idempotent: again,
      changesOthers: true,
    });
}
