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
 *     | ◀──────────────── automations      |  rules that act, signed; these only with the feature `automations`
 *     | ◀──────── draft, drafted ────────▶ |  the rule that an input would be, with its card
 *     | ◀──────── order, ordered ────────▶ |  how rules are, and a person's "undo"
 *     | act ─────────────────────────────▶ |  a step that the gateway carries out, `acted` is its outcome
 *     | news ────────────────────────────▶ |  what became of them; kept by the bridge until …
 *     | ◀──────────────────── news_stored  |  … Home has stored it
 *     | ◀────────────────── presence_said  |  "I am away", of persons
 *     | ◀─────────── assistant ──────────▶ |  Home Assistant: how it is, and a sign-in there; only with the feature `assistant`
 *
 * An agent's messages travel as the exact text that it published, so that signatures stay valid.
 *
 * `known`, `agents` and the field `kept` are only for two sides that both announce the feature `kept`, the bridge in its
 * hello and Home in its welcome. Older peers get whole texts, and one frame for each change.
 */

import { AssistantAnswer } from "./assistant.ts";
import { ActRequest, AutomationDrafted, AutomationNews, AutomationOrdered } from "./automation.ts";
import { CONDITIONS_MAX, Condition, ConditionList } from "./conditions.ts";
import { DEVICES_A_FRAME_MAX, DeviceReadings, HostedState, LEFT_OUT_MAX, LeftOut } from "./devices.ts";
import { agentId, hash, raw } from "./frame-fields.ts";
import type { HomeFrame } from "./home-frames.ts";
import { CallId } from "./names.ts";
import { z } from "./parse.ts";
import { PastReply } from "./past.ts";
import { RuleChange } from "./rules.ts";

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
    /** The same of its rules that act. */
    automations: z.optional(hash),
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
  /** The answer to Home's `assistant` of this id. */
  z.object({ t: z.literal("assistant"), id: CallId, answer: AssistantAnswer }),
  /** Changes of rules, oldest first. `lost`: how many gave way before. Sent again until Home says `changed`. */
  z.object({
    t: z.literal("changes"),
    changes: z.array(RuleChange).check(z.maxLength(100)),
    lost: z.optional(z.int().check(z.minimum(0))),
  }),
  /** The answer to Home's `draft` of this id. */
  z.object({ t: z.literal("drafted"), id: CallId, drafted: AutomationDrafted }),
  /** The answer to Home's `order` of this id. */
  z.object({ t: z.literal("ordered"), id: CallId, ordered: AutomationOrdered }),
  /** Home is to carry out a step of a rule. Sent again, with the same id, until `acted`. */
  z.object({ t: z.literal("act"), act: ActRequest }),
  /** What became of rules that act, oldest first. Sent again until Home says `news_stored`. */
  z.object({
    t: z.literal("news"),
    news: z.array(AutomationNews).check(z.maxLength(50)),
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
