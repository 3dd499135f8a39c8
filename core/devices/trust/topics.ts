/** Topics that a config may name. It is a claim of whoever can publish, so some are refused. */

const TOPIC_MAX_CHARS = 200;
const CONTROL = /\p{Cc}/u;

export type Prefixes = { prefix: string; ownPrefix: string };

/** @returns why nothing is published there; undefined: it may be */
export function refusedCommandTopic(topic: string, { prefix, ownPrefix }: Prefixes): string | undefined {
  const refused = refusedTopic(topic, ownPrefix);
  if (refused !== undefined) return refused;
  if (topic === `${prefix}/status`) return "it tells all publishers that Home Assistant has started";
  if (topic.startsWith(`${prefix}/`) && topic.endsWith("/config")) return "it is the topic of a config";
  if (/(?:^|\/)bridge\/request(?:\/|$)/.test(topic)) return "it changes Zigbee2MQTT itself";
  return undefined;
}

/** @returns why nothing is read there */
export function refusedTopic(topic: string, ownPrefix: string): string | undefined {
  if (topic === "") return "it is empty";
  if (topic.length > TOPIC_MAX_CHARS) return `it has more than ${TOPIC_MAX_CHARS} characters`;
  if (/[+#]/.test(topic)) return "it has a wildcard";
  if (CONTROL.test(topic)) return "it has control characters";
  if (topic.startsWith("$")) return "topics with $ are the broker's own";
  if (topic === ownPrefix || topic.startsWith(`${ownPrefix}/`)) return "it is one of edgecall's own";
  return undefined;
}
