/** Names on the wire: agent ids, topics, versions and the sizes that both sides hold each other to. */
import { z } from "./parse.ts";

/** An agent's id, as it stands in its topics: no `/`, `+` or `#`, so that it can never widen a subscription. */
export const AGENT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** A call's id in every payload and frame, one form for all: what one hop takes, the next must be able to pass on. */
export const CallId = z.string().check(z.minLength(1), z.maxLength(128));

/** EvoClaw's prefix; `TOPIC_PREFIX` changes it for both the bridge and the agents. */
export const DEFAULT_TOPIC_PREFIX = "evoclaw";

export const TOPIC_KINDS = [
  "capabilities",
  "commands",
  "reports",
  "status",
  "presence",
  "events",
  "tools",
] as const;
export type TopicKind = (typeof TOPIC_KINDS)[number];

/** Version of the frames between bridge and gateway; raised when an older peer would misread one. */
export const BRIDGE_PROTOCOL = 1;

export const VERSION = "0.3.0";

/** A bridge's first frame must come this soon and be no larger: an unknown peer gets little for free. */
export const HELLO_WITHIN_MS = 5_000;
export const HELLO_MAX_BYTES = 64 * 1024;
/** Any later frame. A report is bounded by the agent at 50 KB of text and 64 KB of image. */
export const FRAME_MAX_BYTES = 1024 * 1024;
/** A call frame that the bridge does not take within this time counts as not delivered. */
export const TAKEN_WITHIN_MS = 5_000;
/** `ping` text frame; the runtime answers `pong` without waking the object. */
export const KEEPALIVE_EVERY_MS = 7_000;
/**
 * Three missed keepalives: the socket may be a zombie (workerd#1187), so the bridge counts as gone. The bridge itself gives the
 * line up after three, 3 s earlier: it is back before Home tells those who wait.
 */
export const KEEPALIVE_LOST_MS = 24_000;
/** The same of a bridge that does not say `keepalive` in its hello: up to 0.2 it asked every 25 s. */
export const KEEPALIVE_LOST_SLOW_MS = 75_000;

/** EvoClaw's Rust agent drops its connection at a packet over 10,240 bytes (rumqttc 0.24's default). */
export const FOREIGN_COMMAND_MAX_BYTES = 9 * 1024;
/** A foreign agent shows no sign of life while it works: it gets this long, unless a setting gives it more. */
export const FOREIGN_TIMEOUT_MS = 60_000;
export const FOREIGN_TIMEOUT_MAX_MS = 15 * 60_000;

/** How often an agent sends a heartbeat (EvoClaw's 30 s); three missed ones are an absence. */
export const HEARTBEAT_EVERY_MS = 30_000;
export const HEARTBEAT_LOST_MS = 3 * HEARTBEAT_EVERY_MS;

export function topicOf(prefix: string, agentId: string, kind: TopicKind): string {
  return `${prefix}/agents/${agentId}/${kind}`;
}

/** EvoClaw's topic for all agents at once: a command there is every agent's. */
export function broadcastTopic(prefix: string): string {
  return `${prefix}/broadcast`;
}

/** Splits a topic into agent and kind; undefined for anything that is not an agent's topic under the prefix. */
export function parseTopic(prefix: string, topic: string): { agentId: string; kind: TopicKind } | undefined {
  const head = `${prefix}/agents/`;
  if (!topic.startsWith(head)) return undefined;
  const [agentId, kind, ...more] = topic.slice(head.length).split("/");
  if (agentId === undefined || kind === undefined || more.length > 0 || !AGENT_ID.test(agentId))
    return undefined;
  return isTopicKind(kind) ? { agentId, kind } : undefined;
}

function isTopicKind(kind: string): kind is TopicKind {
  return (TOPIC_KINDS as readonly string[]).includes(kind);
}
