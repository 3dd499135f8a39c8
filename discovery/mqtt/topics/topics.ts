/** Topics that a config may name. It is a claim of whoever can publish, so some are refused. */
import { TOPIC_KINDS } from "@edgecall/core/protocol/names.ts";
import { couldMatch, isFilter } from "./topic-filter.ts";

const TOPIC_MAX_CHARS = 200;
const CONTROL = /\p{Cc}/u;

export type Prefixes = {
  /** Of the configs' topics: `homeassistant`. */
  prefix: string;
  /** Of our own agents' topics. No device is allowed to name a topic below it. */
  ownPrefix: string;
};

/** @returns why nothing is published there; undefined: it may be */
export function refusedCommandTopic(topic: string, { prefix, ownPrefix }: Prefixes): string | undefined {
  const refused = refusedTopic(topic, ownPrefix);
  if (refused !== undefined) return refused;
  if (topic === `${prefix}/status`) return "it tells all publishers that Home Assistant has started";
  if (topic.startsWith(`${prefix}/`) && topic.endsWith("/config")) return "it is the topic of a config";
  if (/(?:^|\/)bridge\/request(?:\/|$)/.test(topic)) return "it changes Zigbee2MQTT itself";
  return undefined;
}

/**
 * The same for a topic that brings states or an availability. Whole levels may be open (`+`), as gateways of one radio have it
 * (`+/+/BTtoMQTT/A4C138000001`), if the last one is not: it says of what the message is.
 */
export function refusedStateTopic(topic: string, ownPrefix: string): string | undefined {
  if (!isFilter(topic)) return refusedTopic(topic, ownPrefix);
  if (topic.includes("#")) return "it has the wildcard #; only + for a whole level can be read";
  const levels = topic.split("/");
  if (levels.some((level) => level.includes("+") && level !== "+"))
    return "it has a + that is not a whole level";
  if (levels.at(-1) === "+") return "its last level is a wildcard; it has to be exact";
  const isOwn = TOPIC_KINDS.some((kind) => couldMatch(topic, `${ownPrefix}/agents/+/${kind}`));
  return isOwn ? "it is one of edgecall's own" : refusedTopic(topic.replaceAll("+", "_"), ownPrefix);
}

/** @returns why no command is sent there, and nothing is read where it has no open level */
export function refusedTopic(topic: string, ownPrefix: string): string | undefined {
  if (topic === "") return "it is empty";
  if (topic.length > TOPIC_MAX_CHARS) return `it has more than ${TOPIC_MAX_CHARS} characters`;
  if (isFilter(topic)) return "it has a wildcard";
  if (CONTROL.test(topic)) return "it has control characters";
  if (topic.startsWith("$")) return "topics with $ are the broker's own";
  if (topic === ownPrefix || topic.startsWith(`${ownPrefix}/`)) return "it is one of edgecall's own";
  return undefined;
}
