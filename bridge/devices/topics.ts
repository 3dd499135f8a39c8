/** Which topics the bridge uses for devices. A config may name any text as a topic. */

const TOPIC_MAX_CHARS = 200;
/**
 * Mosquitto ends the connection of a client that names a topic with one of these, so one config could keep the bridge away
 * from its broker: control characters, halves of surrogate pairs, and code points that are no characters.
 */
const ENDS_CONNECTION = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;

/** @param ownPrefix of our own agents' topics @returns whether the topic, or filter, may be subscribed to for a device */
export function isDeviceFilter(topic: string, ownPrefix: string): boolean {
  return isDeviceTopic(topic.replace(/(?<=^|\/)\+(?=\/)/g, "_"), ownPrefix);
}

/** @param ownPrefix of our own agents' topics, of which no device may name any @returns whether the topic may be used for a device */
export function isDeviceTopic(topic: string, ownPrefix: string): boolean {
  return (
    topic !== "" &&
    topic.length <= TOPIC_MAX_CHARS &&
    !/[+#]/.test(topic) &&
    !topic.startsWith("$") &&
    topic !== ownPrefix &&
    !topic.startsWith(`${ownPrefix}/`) &&
    !ENDS_CONNECTION.test(topic)
  );
}
