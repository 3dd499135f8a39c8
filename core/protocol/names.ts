/** Names on the wire: agent ids, topics and versions, and the limits that both sides enforce. */
import { z } from "./parse.ts";

/** An agent's id as its topics contain it. It has no `/`, `+` or `#`, so it can never widen a subscription. */
export const AGENT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Ids that mean something else, in small letters: a call to any agent, the home's bridge, its user at the broker, a message to all. */
const RESERVED_IDS = ["all", "any", "bridge", "broadcast", "edgecall-bridge"];

/** True for a name that no agent, device or group can have, however its letters are written. */
export function isReservedId(id: string): boolean {
  return RESERVED_IDS.includes(id.toLowerCase());
}

/** Says which ids are right, for the error about one that is reserved. */
export const RESERVED_ID = `expected another name: ${RESERVED_IDS.join(", ")} are reserved, as in an id like pi-any`;

/** A call's id. All payloads and frames use this form, so that every hop can pass on what the one before accepted. */
export const CallId = z.string().check(z.minLength(1), z.maxLength(128));

/** A random id of ours. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Of a W3C trace context (core/trace/context.ts): a longer one is none. */
export const TRACEPARENT_MAX_CHARS = 128;

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

/** Version of the frames between bridge and gateway. It rises when an older peer would misread one. */
export const BRIDGE_PROTOCOL = 1;

export const VERSION = "0.5.0";

/** Under this name the gateway's MCP server says which home it serves: by the key that the home's devices obey. */
export const MCP_GATEWAY_KEY = "edgecall/gateway";
/** The tools that the gateway's MCP server always has. Home Assistant's own server passes them on, when it is signed in to a gateway. */
export const GATEWAY_TOOLS = ["edge_call", "edge_list", "edge_result"] as const;

/** Time and size limit of a bridge's first frame, to bound what an unknown peer can cost. */
export const HELLO_WITHIN_MS = 5_000;
export const HELLO_MAX_BYTES = 64 * 1024;
/** Size limit of later frames. The agent limits a report to 50 KB of text and 64 KB of image. */
export const FRAME_MAX_BYTES = 1024 * 1024;
/** A call frame that the bridge does not take within this time was not delivered. */
export const TAKEN_WITHIN_MS = 5_000;
/** For so long after it came, an agent's ledger recognises a call. Sent again after that, the call would run again. */
export const LEDGER_KEEP_MS = 24 * 3_600_000;
/** Interval of the text frame `ping`; the runtime answers `pong` without waking the object. */
export const KEEPALIVE_EVERY_MS = 7_000;
/**
 * After three missed keepalives the socket may be a zombie (workerd#1187), so the bridge counts as gone. The bridge itself
 * gives up 3 s earlier, so that it is back before Home fails the calls that wait.
 */
export const KEEPALIVE_LOST_MS = 24_000;
/** The same for a bridge without `keepalive` in its hello: up to version 0.2 it sent a ping every 25 s. */
export const KEEPALIVE_LOST_SLOW_MS = 75_000;

/** EvoClaw's Rust agent drops its connection on a packet over 10,240 bytes (the default of rumqttc 0.24). */
export const FOREIGN_COMMAND_MAX_BYTES = 9 * 1024;
/** A foreign agent sends no sign of life while it works, so it gets this time unless a setting gives it more. */
export const FOREIGN_TIMEOUT_MS = 60_000;
export const FOREIGN_TIMEOUT_MAX_MS = 15 * 60_000;

/** Agents of one home. Beyond these, bridge and gateway store none, and both say so. */
export const AGENTS_MAX = 10_000;

/** Interval of an agent's heartbeats (EvoClaw's 30 s); after three missed ones it is absent. */
export const HEARTBEAT_EVERY_MS = 30_000;
export const HEARTBEAT_LOST_MS = 3 * HEARTBEAT_EVERY_MS;

export function topicOf(prefix: string, agentId: string, kind: TopicKind): string {
  return `${prefix}/agents/${agentId}/${kind}`;
}

/** EvoClaw's topic for all agents: every agent gets a command published there. */
export function broadcastTopic(prefix: string): string {
  return `${prefix}/broadcast`;
}

/** Splits a topic into agent and kind; undefined when it is not an agent's topic under the prefix. */
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

/** The word by which a bridge says that it has spans of its own. */
export const TRACE_FEATURE = "trace";
