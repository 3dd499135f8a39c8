/**
 * Frames between the bridge and Home, as JSON text over one WebSocket that the bridge dials.
 *
 *   bridge                               Home
 *     | hello ───────────────────────────▶ |  first, within 5 s, at most 64 KiB
 *     | ◀──────────────── welcome, keys    |  the keys for verifying signatures; sent again when they change
 *     | ◀──────────── known… (last: true)  |  more keys, and the hashes of the texts that Home has stored
 *     | snapshot… (last: true) ──────────▶ |  every agent that the bridge knows, with the texts that Home lacks
 *     | agent, agents, gone ─────────────▶ |  then only changes
 *     | ◀────────────────── call, publish  |  the payload is published verbatim on the agent's `commands`
 *     | taken | refused ─────────────────▶ |  within 5 s: the broker has it | the agent has certainly not run it
 *     | event ───────────────────────────▶ |  accepted, progress, question; what an agent says unasked
 *     | report ──────────────────────────▶ |  the agent's bytes; kept by the bridge until …
 *     | ◀──────────────────────────── ack  |  … Home has stored it; `acks`: many at once
 *     | ◀──────────────────────── session  |  a key for an agent's present run; only if hello announced the feature
 *     | ◀───────────────────────── update  |  update the bridge's program; only if hello announced the feature
 *     | conditions ──────────────────────▶ |  what is wrong with the bridge; only to a gateway whose welcome says so
 *     | updated ─────────────────────────▶ |  the outcome, mostly sent by the new program
 *     | ◀────────────── states ──────────▶ |  hosted devices' readings, asked for and answered; only with the feature `devices`
 *     | ◀─────────────── past ───────────▶ |  what a reading was, asked and answered; only with the feature `history`
 *     | ◀────────────────── forget_device  |  a hosted device that was not heard for days is dropped
 *     | ◀─────────────────────── rules     |  rules on hosted devices; these three only with the feature `rules`
 *     | changes ─────────────────────────▶ |  what became of them; kept by the bridge until …
 *     | ◀──────────────────────── changed  |  … Home has stored it
 *
 * An agent's messages travel as the exact text that it published, so that signatures stay valid.
 *
 * `known`, `agents` and the field `kept` are only for two sides that both announce the feature `kept`, the bridge in its
 * hello and Home in its welcome. Older peers get whole texts, and one frame for each change.
 */

import { CONDITIONS_MAX, Condition, ConditionList } from "./conditions.ts";
import {
  DEVICES_A_FRAME_MAX,
  DeviceKey,
  DeviceReadings,
  HostedState,
  LEFT_OUT_MAX,
  LeftOut,
} from "./devices.ts";
import { ACKS_MAX } from "./mqtt.ts";
import { AGENT_ID, CallId, TRACEPARENT_MAX_CHARS } from "./names.ts";
import { z } from "./parse.ts";
import { PastQuestion, PastReply } from "./past.ts";
import { KnownState, RuleChange, WatchCondition } from "./rules.ts";

const agentId = z.string().check(z.regex(AGENT_ID));
const hash = z.string().check(z.maxLength(64));
const raw = z.string().check(z.maxLength(512 * 1024));

/** The retained texts of an agent that a bridge and Home compare by their hashes (text-hash.ts). */
export const TEXT_KINDS = ["capabilities", "tools", "presence"] as const;
export type TextKind = (typeof TEXT_KINDS)[number];
export const isTextKind = (kind: string): kind is TextKind => TEXT_KINDS.some((known) => known === kind);

/** The bridge's knowledge of one agent: its presence, and the retained texts exactly as published. */
export const AgentState = z.object({
  id: agentId,
  online: z.boolean(),
  /** Why it is offline or busy, for a person: `last will`, `no heartbeat for 90 s`. */
  reason: z.optional(z.string().check(z.maxLength(200))),
  /** Epoch ms of its last sign of life; null when there was none. */
  last_seen: z.nullable(z.number()),
  /** The agent speaks only EvoClaw's shapes, so the rules for its quirks apply. */
  foreign: z.boolean(),
  capabilities: z.optional(raw),
  tools: z.optional(raw),
  presence: z.optional(raw),
  /** The texts that are left out, since Home has stored exactly these. */
  kept: z.optional(z.array(z.enum(TEXT_KINDS)).check(z.maxLength(TEXT_KINDS.length))),
  /**
   * A report that the agent signed in its present run. It proves that the agent is alive when the presence topic does not
   * say so, since anybody may have replaced that text by an old one. Older gateways ignore this field.
   */
  alive: z.optional(raw),
  /** What is wrong with it, as the bridge sees it. Older bridges do not say, and older gateways ignore this field. */
  conditions: ConditionList,
  /** The bridge itself plays this agent (devices.ts). Sent only to a gateway whose `welcome` says `devices`. */
  hosted: z.optional(HostedState),
});
export type AgentState = z.infer<typeof AgentState>;

/** Why the bridge did not publish a call. In each case the agent has certainly not run it. */
export const REFUSALS = [
  "expired",
  "agent_offline",
  "not_listening",
  "agent_busy",
  "too_large",
  "broker_offline",
  "invalid",
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Header of a dial that takes the bridge's place only when it is free; otherwise the answer is 409. */
export const STANDBY = "x-edgecall-standby";

/** The reason of all agents while the bridge has no broker. It is always this text, so that clients can recognise it. */
export const BROKER_UNREACHABLE = "the broker is not reachable";

/** The text is stored with the bridge's socket, which has little room. */
export const UPDATE_WORDS_MAX = 300;

/** Rises with each frame of agents to a gateway whose `welcome` says `paced`, which answers it in `stored`. */
const frameNumber = z.optional(z.int().check(z.minimum(1)));
/** How many agents the bridge has left out, since there is no room for them. */
const over = z.optional(z.int().check(z.minimum(0)));

export const BridgeFrame = z.discriminatedUnion("t", [
  z.object({
    t: z.literal("hello"),
    protocol: z.int(),
    bridge: z.string().check(z.minLength(1), z.maxLength(128)),
    version: z.string().check(z.maxLength(64)),
    /** `update`: the bridge can update itself on request. Older gateways ignore this field. */
    features: z.optional(z.array(z.string().check(z.maxLength(32))).check(z.maxLength(16))),
    /** The hash of the rules that it watches for hosted devices. */
    rules: z.optional(hash),
  }),
  z.object({
    t: z.literal("snapshot"),
    agents: z.array(AgentState).check(z.maxLength(256)),
    last: z.boolean(),
    over,
    n: frameNumber,
  }),
  z.object({ t: z.literal("agent"), agent: AgentState }),
  /** Changes of several agents. */
  z.object({
    t: z.literal("agents"),
    agents: z.array(AgentState).check(z.maxLength(256)),
    /** Agents that are no longer known; they go before the others change. Only to a gateway that knows hosted devices. */
    gone: z.optional(z.array(agentId).check(z.maxLength(DEVICES_A_FRAME_MAX))),
    over,
    n: frameNumber,
  }),
  /** The agent removed its retained advert and is no longer known. */
  z.object({ t: z.literal("gone"), agent: agentId }),
  z.object({ t: z.literal("taken"), id: CallId }),
  z.object({
    t: z.literal("refused"),
    id: CallId,
    code: z.enum(REFUSALS),
    message: z.string().check(z.maxLength(1_000)),
    /** The agent that did not get it. Bridges up to 0.3 do not say. */
    agent: z.optional(agentId),
    /** For `agent_busy`: when to try again, in ms. */
    retry_after_ms: z.optional(z.int().check(z.minimum(0))),
  }),
  z.object({ t: z.literal("event"), id: CallId, agent: agentId, payload: raw }),
  z.object({ t: z.literal("report"), id: CallId, agent: agentId, payload: raw }),
  /** The answer to Home's `states` of this id, from memory and at once, in one or more frames. */
  z.object({
    t: z.literal("states"),
    id: CallId,
    devices: z.array(DeviceReadings).check(z.maxLength(DEVICES_A_FRAME_MAX)),
    last: z.boolean(),
    /** In the last one. Older bridges do not send it. */
    left_out: z.optional(z.array(LeftOut).check(z.maxLength(LEFT_OUT_MAX))),
  }),
  /** The answer to Home's `past` of this id, or an error that names the field. */
  z.object({ t: z.literal("past"), id: CallId, reply: PastReply }),
  /** Changes of rules, oldest first. `lost`: how many gave way before. Sent again until Home says `changed`. */
  z.object({
    t: z.literal("changes"),
    changes: z.array(RuleChange).check(z.maxLength(100)),
    lost: z.optional(z.int().check(z.minimum(0))),
  }),
  /** All that is wrong with the bridge itself, at each change. Only to a gateway whose `welcome` says `conditions`. */
  z.object({ t: z.literal("conditions"), all: z.array(Condition).check(z.maxLength(CONDITIONS_MAX)) }),
  /** The outcome of the update that Home requested under this id, as a text. */
  z.object({
    t: z.literal("updated"),
    id: CallId,
    ok: z.boolean(),
    text: z.string().check(z.maxLength(UPDATE_WORDS_MAX)),
  }),
]);
export type BridgeFrame = z.infer<typeof BridgeFrame>;

/** The bridge's part of an agent's session: the key that tells the agent's messages from a stranger's. */
export const BridgeSession = z.object({
  boot_id: z.string().check(z.maxLength(64)),
  /** 32 bytes, base64url. */
  key: z.string().check(z.maxLength(64)),
});
export type BridgeSession = z.infer<typeof BridgeSession>;

/** The key of an agent whose messages count only with a valid signature. */
export const AgentKey = z.object({
  id: agentId,
  /** Null: the key was revoked, and all messages of the agent are rejected. */
  key: z.nullable(z.string().check(z.maxLength(64))),
  /** The counter of the last presence that Home accepted; older ones are rejected. */
  n: z.int().check(z.minimum(0)),
  /**
   * The hash of the agent's password at a broker whose files the bridge writes (core/broker/login.ts). It is checked only
   * where it is written, so that a newer gateway's form does not make an older bridge reject the whole welcome.
   */
  login: z.optional(z.string().check(z.maxLength(500))),
  /** To a bridge with the feature `session`. */
  session: z.optional(BridgeSession),
});
export type AgentKey = z.infer<typeof AgentKey>;

/** The hashes of an agent's texts as Home has stored them. A text that Home lacks has none. */
export const StoredTexts = z.object({
  id: agentId,
  capabilities: z.optional(hash),
  tools: z.optional(hash),
  presence: z.optional(hash),
});
export type StoredTexts = z.infer<typeof StoredTexts>;

export const HomeFrame = z.discriminatedUnion("t", [
  z.object({
    t: z.literal("welcome"),
    protocol: z.int(),
    home: z.string(),
    version: z.string(),
    /** The gateway's public key, which verifies its commands. Older gateways do not send it. */
    gateway_key: z.optional(z.string().check(z.maxLength(64))),
    keys: z.optional(z.array(AgentKey)),
    /** `known` frames follow, and the bridge may leave out texts. Older gateways do not send it. */
    kept: z.optional(z.boolean()),
    /** Home answers each frame of agents that has a number. Older gateways do not send it. */
    paced: z.optional(z.boolean()),
    /** A replaced bridge may ask, with the STANDBY header, whether its place is free again. */
    standby: z.optional(z.boolean()),
    /** Agents without a key that the home serves; `*`: all. Older gateways do not send it and decide alone. */
    unsigned: z.optional(z.array(z.string().check(z.maxLength(64)))),
    /** Agents without a key whose own words, which answer no call, come as `event`. Older gateways do not send it. */
    unasked: z.optional(z.array(z.string().check(z.maxLength(64)))),
    /** The bridge may send hosted devices. Older gateways do not send it. */
    devices: z.optional(z.boolean()),
    /** The bridge may send changes of rules. */
    rules: z.optional(z.boolean()),
    /** The bridge may send what is wrong with itself. Older gateways do not send it. */
    conditions: z.optional(z.boolean()),
  }),
  /** Rules on hosted devices. `all`: those that are not in it go. */
  z.object({
    t: z.literal("rules"),
    set: z
      .array(z.object({ condition: WatchCondition, device: DeviceKey, known: z.optional(KnownState) }))
      .check(z.maxLength(100)),
    drop: z.array(z.string().check(z.maxLength(32))).check(z.maxLength(100)),
    all: z.optional(z.boolean()),
  }),
  /** Home has stored the changes of each of these rules up to this one. */
  z.object({ t: z.literal("changed"), upto: z.record(z.string(), z.int()) }),
  /** More keys, and what Home has stored of the agents. The bridge sends its snapshot after the last of these frames. */
  z.object({
    t: z.literal("known"),
    keys: z.array(AgentKey),
    texts: z.array(StoredTexts),
    last: z.boolean(),
  }),
  /** The frames of agents up to this number are stored, or could not be. */
  z.object({ t: z.literal("stored"), n: z.int() }),
  /** The bridge left out texts of these agents that Home does not have (any more): it has to send them whole. */
  z.object({ t: z.literal("lacks"), agents: z.array(agentId) }),
  /** A key was added, replaced or revoked. `part`: these keys alone; otherwise all keys. */
  z.object({ t: z.literal("keys"), keys: z.array(AgentKey), part: z.optional(z.boolean()) }),
  /** A run of an agent has a session. The frame comes before any message of it. */
  z.object({ t: z.literal("session"), agent: agentId, session: BridgeSession }),
  /** A command that an agent answers with a report. */
  z.object({
    t: z.literal("call"),
    id: CallId,
    agent: agentId,
    /** The bridge publishes it verbatim. */
    payload: raw,
    /** Time left when Home sent the frame; the bridge counts from receipt and refuses the call afterwards. */
    expires_in_ms: z.int().check(z.minimum(0)),
    /** Of a call that is traced. Older gateways do not send it, and a wrong one is none. */
    traceparent: z.catch(z.optional(z.string().check(z.maxLength(TRACEPARENT_MAX_CHARS))), undefined),
    /**
     * Of a change of a hosted device: the hash that was allowed. The bridge refuses the call (`invalid`) if the device has
     * another one by now, since the same action may do something else.
     */
    allow: z.optional(hash),
  }),
  /** A command without an answer (`cancel`, `watch`), published verbatim if the agent is online. */
  z.object({ t: z.literal("publish"), agent: agentId, payload: raw }),
  /** Home has stored the report. `payload`: the `ack` command for the agent, published verbatim. */
  z.object({ t: z.literal("ack"), id: CallId, agent: z.optional(agentId), payload: z.optional(raw) }),
  /** The same for many reports of an agent, to a bridge with the feature `acks`. */
  z.object({
    t: z.literal("acks"),
    agent: agentId,
    ids: z.array(CallId).check(z.maxLength(ACKS_MAX)),
    payload: raw,
  }),
  /** Asks for the readings of these hosted devices, or of all. */
  z.object({
    t: z.literal("states"),
    id: CallId,
    agents: z.optional(z.array(agentId).check(z.maxLength(DEVICES_A_FRAME_MAX))),
    /** Also those that are diagnostic, a setting or disabled by default: batteries are. */
    all: z.optional(z.boolean()),
  }),
  /** Asks what a reading of a hosted device was. The bridge keeps values at home (feature `history`). */
  z.object({ t: z.literal("past"), id: CallId, question: PastQuestion }),
  /** The bridge drops a hosted device and what it remembers of it. It publishes nothing. */
  z.object({ t: z.literal("forget_device"), key: DeviceKey }),
  /** Asks the bridge to install the gateway's program, as every service does (docs/explain/services.md). */
  z.object({ t: z.literal("update"), id: CallId }),
  z.object({ t: z.literal("error"), code: z.string(), message: z.string() }),
]);
export type HomeFrame = z.infer<typeof HomeFrame>;

/** Close codes of the bridge's socket. */
export const CLOSE = {
  /** A newer bridge took over. This one stays away for 5 minutes, otherwise the two would keep replacing each other. */
  replaced: 4001,
  /** The first frame was late, too large or not a hello. */
  badHello: 4002,
  /** The peer speaks another protocol version; the reason says which. */
  badProtocol: 4003,
  /** The peer sent an unknown frame. */
  badFrame: 4004,
  /** Calls were not taken in time, or Home was rebuilt within a snapshot; the bridge should dial again. */
  silent: 4005,
  /** The bridge's key was revoked or replaced. */
  revoked: 4006,
} as const;

export function encodeFrame(frame: BridgeFrame | HomeFrame): string {
  return JSON.stringify(frame);
}
