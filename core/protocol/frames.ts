/**
 * Frames between the bridge and Home, as JSON text over one WebSocket that the bridge dials.
 *
 *   bridge                               Home
 *     | hello ───────────────────────────▶ |  first, within 5 s, at most 64 KiB
 *     | ◀──────────────── welcome, keys    |  whose signatures the bridge looks at; again when they change
 *     | snapshot… (last: true) ──────────▶ |  every agent it knows; then only changes:
 *     | agent ───────────────────────────▶ |
 *     | ◀────────────────── call, publish  |  payload: published verbatim on the agent's `commands`
 *     | taken | refused ─────────────────▶ |  within 5 s: the broker has it | it was certainly not run
 *     | event ───────────────────────────▶ |  accepted, progress, question
 *     | report ──────────────────────────▶ |  the agent's bytes; kept by the bridge until …
 *     | ◀──────────────────────────── ack  |  … Home has stored it
 *     | ◀───────────────────────── update  |  its own program; only if hello told that it can
 *     | updated ─────────────────────────▶ |  what came of it, mostly from the program after that
 *
 * What an agent published travels as the text that it published, so that signatures can hold.
 */
import { AGENT_ID, CallId } from "./names.ts";
import { z } from "./parse.ts";

const agentId = z.string().check(z.regex(AGENT_ID));
const raw = z.string().check(z.maxLength(512 * 1024));

/** What the bridge knows of one agent: its judgement of presence, and the retained texts as published. */
export const AgentState = z.object({
  id: agentId,
  online: z.boolean(),
  /** Why it is not online (or is busy), in words for a person: `last will`, `no heartbeat for 90 s`. */
  reason: z.optional(z.string().check(z.maxLength(200))),
  /** Epoch ms of its last sign of life; null when there never was one. */
  last_seen: z.nullable(z.number()),
  /** Speaks only EvoClaw's shapes: the quirk rules apply. */
  foreign: z.boolean(),
  capabilities: z.optional(raw),
  tools: z.optional(raw),
  presence: z.optional(raw),
  /**
   * A report that the agent signed in its present run, where its presence topic does not say that it is there: somebody
   * may have put an old text in place of it. An older gateway does not look at this.
   */
  alive: z.optional(raw),
});
export type AgentState = z.infer<typeof AgentState>;

/** Why the bridge did not publish a call. In every one of these the agent has certainly not run it. */
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

/** Of a dial: it takes the bridge's place only where nobody has it; else it is refused with 409. */
export const STANDBY = "x-edgecall-standby";

/** Why no agent is online while the bridge has no broker: one text for all, so that a client can tell it apart. */
export const BROKER_UNREACHABLE = "the broker is not reachable";

/** They are kept with the bridge's socket, which has little room. */
export const UPDATE_WORDS_MAX = 300;

export const BridgeFrame = z.discriminatedUnion("t", [
  z.object({
    t: z.literal("hello"),
    protocol: z.int(),
    bridge: z.string().check(z.minLength(1), z.maxLength(128)),
    version: z.string().check(z.maxLength(64)),
    /** `update`: it can be told to update itself. An older gateway does not look at this. */
    features: z.optional(z.array(z.string().check(z.maxLength(32))).check(z.maxLength(16))),
  }),
  z.object({
    t: z.literal("snapshot"),
    agents: z.array(AgentState).check(z.maxLength(256)),
    last: z.boolean(),
  }),
  z.object({ t: z.literal("agent"), agent: AgentState }),
  /** The agent took its retained advert back: it is no longer known. */
  z.object({ t: z.literal("gone"), agent: agentId }),
  z.object({ t: z.literal("taken"), id: CallId }),
  z.object({
    t: z.literal("refused"),
    id: CallId,
    code: z.enum(REFUSALS),
    message: z.string().check(z.maxLength(1_000)),
    /** Of `agent_busy`: after so long it may be asked again. */
    retry_after_ms: z.optional(z.int().check(z.minimum(0))),
  }),
  z.object({ t: z.literal("event"), id: CallId, agent: agentId, payload: raw }),
  z.object({ t: z.literal("report"), id: CallId, agent: agentId, payload: raw }),
  /** What came of the update that Home asked for under this id, in words. */
  z.object({
    t: z.literal("updated"),
    id: CallId,
    ok: z.boolean(),
    text: z.string().check(z.maxLength(UPDATE_WORDS_MAX)),
  }),
]);
export type BridgeFrame = z.infer<typeof BridgeFrame>;

/** An agent that is believed by its signature alone. */
export const AgentKey = z.object({
  id: agentId,
  /** Null: it was revoked, and nothing of it is believed. */
  key: z.nullable(z.string().check(z.maxLength(64))),
  /** The counter of the last presence that Home believed: no older one counts. */
  n: z.int().check(z.minimum(0)),
  /**
   * The hash of its password at a broker whose files the bridge keeps (core/broker/login.ts). Looked at where it is
   * written: a form that a later gateway takes must not cost an older bridge its welcome.
   */
  login: z.optional(z.string().check(z.maxLength(500))),
});
export type AgentKey = z.infer<typeof AgentKey>;

export const HomeFrame = z.discriminatedUnion("t", [
  z.object({
    t: z.literal("welcome"),
    protocol: z.int(),
    home: z.string(),
    version: z.string(),
    /** Public key of the gateway: what its devices obey. Not from an older gateway. */
    gateway_key: z.optional(z.string().check(z.maxLength(64))),
    keys: z.optional(z.array(AgentKey)),
    /** A bridge that was replaced may ask, with the header of STANDBY, whether its place is free again. */
    standby: z.optional(z.boolean()),
    /** Agents without a key that the home serves all the same; `*`: any. Not from an older gateway, which judges alone. */
    unsigned: z.optional(z.array(z.string().check(z.maxLength(64)))),
  }),
  /** All keys anew: one was added, replaced or revoked. */
  z.object({ t: z.literal("keys"), keys: z.array(AgentKey) }),
  /** A command that an agent answers with a report. */
  z.object({
    t: z.literal("call"),
    id: CallId,
    agent: agentId,
    /** Published verbatim. */
    payload: raw,
    /** Budget left when Home sent it; past it, counted from receipt, the bridge refuses. */
    expires_in_ms: z.int().check(z.minimum(0)),
  }),
  /** A command that nobody answers (`cancel`, `watch`): published verbatim if the agent is there. */
  z.object({ t: z.literal("publish"), agent: agentId, payload: raw }),
  /** The report is stored. `payload`: the `ack` command for the agent, to be published verbatim. */
  z.object({ t: z.literal("ack"), id: CallId, agent: z.optional(agentId), payload: z.optional(raw) }),
  /** The bridge is to take the gateway's program into use, as a service does it (docs/install.md). */
  z.object({ t: z.literal("update"), id: CallId }),
  z.object({ t: z.literal("error"), code: z.string(), message: z.string() }),
]);
export type HomeFrame = z.infer<typeof HomeFrame>;

/** Close codes of the bridge's socket. */
export const CLOSE = {
  /** A newer bridge took over; this one stays away for 5 minutes, or the two would duel. */
  replaced: 4001,
  /** The first frame was late, too large or not a hello. */
  badHello: 4002,
  /** The peer speaks another protocol version; the reason says which. */
  badProtocol: 4003,
  /** A frame that is not one of ours. */
  badFrame: 4004,
  /** Calls were not taken in time: dial again. */
  silent: 4005,
  /** The bridge's key was revoked, or another took its place. */
  revoked: 4006,
} as const;

export function encodeFrame(frame: BridgeFrame | HomeFrame): string {
  return JSON.stringify(frame);
}
