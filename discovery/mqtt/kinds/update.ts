/** `update`: the versions are read; installing is not offered. */

import { plain } from "../../model/entity/words.ts";
import { isObject } from "../config/fields.ts";
import type { Slot } from "../entity/entity.ts";
import type { Message } from "../states/message.ts";
import { parsedJson } from "../states/message.ts";
import { valueReader } from "../states/templates.ts";
import type { MqttDraft } from "./draft.ts";

/** A version begins with a digit; other texts are a stranger's. */
const VERSION = /^v?\d[\w.+:~-]{0,60}$/;

export function update(draft: MqttDraft): void {
  const reader = valueReader(draft.text("value_template"));
  const member = (name: string) => (message: Message) => {
    const text = reader.read(message);
    if (typeof text !== "string") return text;
    const value = jsonObject(text)?.[name] ?? (name === "installed_version" ? text : undefined);
    const version = typeof value === "number" || typeof value === "string" ? String(value) : "";
    // zigbee2mqtt writes -1 for a version that it does not know, which is none.
    return VERSION.test(version) ? version : undefined;
  };
  draft.slotOf("installed", "state_topic", member("installed_version"));
  if (!draft.slotOf("latest", "latest_version_topic", latest(draft)))
    draft.slotOf("latest", "state_topic", member("latest_version"));
  draft.slotOf("progress", "state_topic", (message) => {
    const text = reader.read(message);
    const value = typeof text === "string" ? jsonObject(text)?.in_progress : undefined;
    return typeof value === "boolean" ? value : undefined;
  });
  draft.reading("installed", (value) => `${plain(value)} is installed`);
  draft.reading("latest", plain, { label: "latest version" });
  draft.reading("progress", (value) => (value === true ? "yes" : "no"), { label: "being installed" });
  if (draft.has("command_topic")) draft.leave("install", "updates are not installed from here");
}

function latest(draft: MqttDraft): Slot["read"] {
  const reader = valueReader(draft.text("latest_version_template"));
  return (message) => {
    const text = reader.read(message);
    if (typeof text !== "string") return text;
    return VERSION.test(text) ? text : undefined;
  };
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  const value = parsedJson(text);
  return isObject(value) ? value : undefined;
}
