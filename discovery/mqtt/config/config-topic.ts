/** Topics of configs: `P/<kind>/<object>/config`, with a node before the object or without. */

/** `kind` is `device` for a config of a whole device. */
export type ConfigTopic = { kind: string; node?: string; object: string };

const KIND = /^\w{1,64}$/;
const PART = /^[a-zA-Z0-9_-]{1,200}$/;

/** The topics to subscribe to. Publishers keep states below the same prefix too, so what comes has to be parsed. */
export function configTopics(prefix: string): string[] {
  return [`${prefix}/+/+/config`, `${prefix}/+/+/+/config`];
}

/** @returns undefined when it is no config's topic below the prefix */
export function parseConfigTopic(prefix: string, topic: string): ConfigTopic | undefined {
  const head = `${prefix}/`;
  if (!topic.startsWith(head)) return undefined;
  const parts = topic.slice(head.length).split("/");
  if (parts.pop() !== "config" || parts.length < 2 || parts.length > 3) return undefined;
  const [kind, ...path] = parts;
  const object = path.pop();
  const [node] = path;
  if (kind === undefined || !KIND.test(kind) || object === undefined || !PART.test(object)) return undefined;
  if (node !== undefined && !PART.test(node)) return undefined;
  return { kind, object, ...(node !== undefined && { node }) };
}
