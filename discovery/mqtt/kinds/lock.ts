/** `lock`. Locking is a change like any other; what opens asks each time. */

import { plain } from "../../model/entity/words.ts";
import { commandPayload, payloadField } from "../config/fields.ts";
import { type MqttDraft, write } from "./draft.ts";
import { matchesPayload, NONE } from "./values.ts";

const STATES = ["locked", "locking", "unlocked", "unlocking", "jammed", "open", "opening"] as const;

export function lock(draft: MqttDraft): void {
  const { config } = draft;
  draft.danger = "it is a lock";
  const states = STATES.map(
    (state) => [state, payloadField(config, `state_${state}`, state.toUpperCase())] as const,
  );
  const reset = payloadField(config, "payload_reset", NONE);
  draft.slot("state", "state_topic", ["value_template"], (text) =>
    text === reset ? null : states.find(([, payload]) => matchesPayload(text, payload))?.[0],
  );
  draft.reading("state", plain);
  const wantsCode = draft.has("code_format");
  if (wantsCode && /\bcode\b/.test(draft.text("command_template") ?? "")) {
    draft.leave("lock, unlock", "its commands have a code, and none is kept here");
    return;
  }
  const output = draft.output("command_topic", "command_template");
  if (!output) return;
  const command = (
    action: string,
    description: string,
    payload: string | undefined,
    end: (typeof STATES)[number],
  ): void => {
    if (payload === undefined) return;
    // The message has no code. Whoever set one wants it to be known before the door opens.
    if (wantsCode && action !== "lock") {
      draft.leave(action, "it needs a code");
      return;
    }
    draft.simple(action, description, () => [write(output, payload, { code: null })], output, {
      slot: "state",
      words: end,
      is: (value) => value === end,
      ...(action === "lock" && { harmless: true }),
      ...(action !== "open" && { lasting: true }),
    });
  };
  command("lock", "Lock it.", payloadField(config, "payload_lock", "LOCK"), "locked");
  command("unlock", "Unlock it.", payloadField(config, "payload_unlock", "UNLOCK"), "unlocked");
  command("open", "Open its latch.", commandPayload(config, "payload_open"), "open");
}
