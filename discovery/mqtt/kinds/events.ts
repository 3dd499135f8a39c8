/** `event`, `device_automation` and `tag`: a message is the event. The last one is told, with its age. */

import { plain } from "../../model/entity/words.ts";
import { isObject, listField } from "../config/fields.ts";
import { type Message, parsedJson } from "../states/message.ts";
import { Unreadable, valueReader } from "../states/templates.ts";
import type { MqttDraft } from "./draft.ts";
import { anyText, matchesPayload } from "./values.ts";

export function event(draft: MqttDraft): void {
  const types = listField(draft.config, "event_types");
  const reader = valueReader(draft.text("value_template"));
  const known = (type: unknown) => (typeof type === "string" && types.includes(type) ? type : undefined);
  const read = (message: Message) => {
    const text = reader.read(message);
    const type = typeof text === "string" ? known(typeOf(text)) : undefined;
    // A template that cannot be read here is zigbee2mqtt's, whose messages have the event in `action`.
    return type ?? known(message.object()?.action) ?? (text instanceof Unreadable ? text : undefined);
  };
  draft.slotOf("event", "state_topic", read, { live: true });
  draft.reading("event", (value) => `last event: ${plain(value).replaceAll("_", " ")}`);
}

function typeOf(text: string): unknown {
  const value = parsedJson(text);
  return isObject(value) ? value.event_type : undefined;
}

/** A button of a remote and the like. */
export function deviceAutomation(draft: MqttDraft): void {
  const payload = draft.text("payload");
  draft.slot(
    "event",
    "topic",
    ["value_template"],
    (text) =>
      (payload === undefined ? text !== "" : matchesPayload(text, payload)) ? "triggered" : undefined,
    { live: true },
  );
  draft.reading("event", plain);
}

export function tag(draft: MqttDraft): void {
  draft.slot("event", "topic", ["value_template"], (text) => anyText(text) || undefined, { live: true });
  draft.reading("event", (value) => `last tag: ${plain(value)}`, { free: true });
}
