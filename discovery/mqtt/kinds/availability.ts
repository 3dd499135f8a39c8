/** Topics that say whether an entity is there. */
import { type Config, isObject, payloadField, textField } from "../config/fields.ts";
import type { Availability } from "../entity/entity.ts";
import { type Variables, valueReader } from "../states/templates.ts";
import { refusedStateTopic } from "../topics/topics.ts";
import { matchesPayload } from "./values.ts";

/** Topics of one entity beyond these are left out. */
const ENTRIES_MAX = 8;

/** @returns also why one of the topics is not read */
export function availabilityOf(
  config: Config,
  ownPrefix: string,
  names: Variables,
): Availability & { refused?: string } {
  const listed = Array.isArray(config.availability) ? config.availability : [config.availability];
  const single = textField(config, "availability_topic");
  const all: Config[] = [
    ...listed.filter(isObject),
    ...(single === undefined
      ? []
      : [{ ...config, topic: single, value_template: config.availability_template }]),
  ];
  let refused: string | undefined;
  const entries = all.slice(0, ENTRIES_MAX).flatMap((entry) => {
    const topic = textField(entry, "topic");
    if (topic === undefined) return [];
    const why = refusedStateTopic(topic, ownPrefix);
    if (why !== undefined) {
      const key = topic === single ? "availability_topic" : "topic in availability";
      refused ??= `nothing is read from its ${key}: ${why}`;
      return [];
    }
    const reader = valueReader(textField(entry, "value_template"), names);
    const available = payloadField(entry, "payload_available", "online");
    const not = payloadField(entry, "payload_not_available", "offline");
    const read: Availability["entries"][number]["read"] = (message) => {
      const text = reader.read(message);
      if (typeof text !== "string") return undefined;
      if (matchesPayload(text, available)) return true;
      return matchesPayload(text, not) ? false : undefined;
    };
    return [{ topic, read }];
  });
  const mode = textField(config, "availability_mode");
  return {
    mode: mode === "all" || mode === "any" ? mode : "latest",
    entries,
    ...(refused !== undefined && { refused }),
  };
}
