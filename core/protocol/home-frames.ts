/**
 * The frames of Home to a bridge (frames.ts has those of the bridge, and how both belong together). The bridge alone reads them: the
 * Worker has their types, and their schemas are not in it.
 */
import { AssistantQuestion } from "./assistant.ts";
import { ActOutcome, AUTOMATIONS_MAX, AutomationDraft, AutomationOrder, SaidPresence } from "./automation.ts";
import { DEVICES_A_FRAME_MAX, DeviceKey } from "./devices.ts";
import { agentId, hash, raw } from "./frame-fields.ts";
import { Instant } from "./instant.ts";
import { ACKS_MAX } from "./mqtt.ts";
import { CallId, TRACEPARENT_MAX_CHARS } from "./names.ts";
import { z } from "./parse.ts";
import { PastQuestion } from "./past-question.ts";
import { KnownState, WatchCondition } from "./rules.ts";

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
    /** The gateway's time. A machine without a clock of its own learns by it whether its time is right. Older gateways do not send it. */
    time: z.optional(Instant),
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
  /**
   * Rules that act, each the text that the gateway signed (automation.ts). `all`: those that are not in it go; their runs end, and the
   * ends of those are carried out.
   */
  z.object({
    t: z.literal("automations"),
    set: z.array(z.string().check(z.maxLength(16_384))).check(z.maxLength(AUTOMATIONS_MAX)),
    drop: z.array(z.string().check(z.maxLength(32))).check(z.maxLength(AUTOMATIONS_MAX)),
    all: z.optional(z.boolean()),
  }),
  /** The home asks for the automation that an input would be. Nothing is stored. */
  z.object({ t: z.literal("draft"), draft: AutomationDraft }),
  /** A person's order about rules that act; answered by `ordered`. */
  z.object({ t: z.literal("order"), id: CallId, order: AutomationOrder }),
  /** The outcome of the bridge's `act` of this id. */
  z.object({ t: z.literal("acted"), id: CallId, acted: ActOutcome }),
  /** Home has stored the news up to this number. */
  z.object({ t: z.literal("news_stored"), upto: z.int() }),
  /** Persons' last words about who is at home. "I am back" holds for a day. */
  z.object({ t: z.literal("presence_said"), all: z.array(SaidPresence).check(z.maxLength(50)) }),
  /** Asks how the bridge is connected to Home Assistant, or takes part in a person's sign-in there. */
  z.object({ t: z.literal("assistant"), id: CallId, question: AssistantQuestion }),
  /** The bridge drops a hosted device and what it remembers of it. It publishes nothing. */
  z.object({ t: z.literal("forget_device"), key: DeviceKey }),
  /** Asks the bridge to install the gateway's program, as every service does (docs/explain/services.md). */
  z.object({ t: z.literal("update"), id: CallId }),
  z.object({ t: z.literal("error"), code: z.string(), message: z.string() }),
]);
export type HomeFrame = z.infer<typeof HomeFrame>;
