/** `event`, `device_automation` and `tag`: a message is the event. The last one is told, with its age. */
import { isObject, listField } from "../discovery/fields.ts";
import type { Message } from "../states/message.ts";
import { valueReader } from "../states/templates.ts";
import type { EntityDraft } from "./draft.ts";
import { anyText, matchesPayload, plain } from "./values.ts";

export function event(draft: EntityDraft): void {
  const types = listField(draft.config, "event_types");
  const reader = valueReader(draft.text("value_template"));
  const known = (type: unknown) => (typeof type === "string" && types.includes(type) ? type : undefined);
  const read = (message: Message) => {
    const text = reader.ok ? reader.read(message) : undefined;
    // A template that cannot be read here is zigbee2mqtt's, whose messages have the event in `action`.
    return known(text === undefined ? undefined : typeOf(text)) ?? known(message.object()?.action);
  };
  draft.slotOf("event", "state_topic", read, { live: true });
  draft.reading("event", (value) => `last event: ${plain(value).replaceAll("_", " ")}`);
}

function typeOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value.event_type : undefined;
  } catch {
    return undefined;
  }
}

/** A button of a remote and the like. */
export function deviceAutomation(draft: EntityDraft): void {
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

export function tag(draft: EntityDraft): void {
  draft.slot("event", "topic", ["value_template"], (text) => anyText(text) || undefined, { live: true });
  draft.reading("event", (value) => `last tag: ${plain(value)}`, { free: true });
}
