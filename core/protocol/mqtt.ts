/**
 * The payloads that cross the broker: EvoClaw's, byte-compatible, with our additions.
 *
 * Objects are loose on purpose, since an unknown field comes from a newer peer and is no error. The topic is the agent's
 * identity; an `agent_id` in a payload never overrides it.
 */

import { AuditBatch } from "./audit.ts";
import { ConditionList } from "./conditions.ts";
import { InlineMedia, MEDIA_MAX_ITEMS, StoredMedia, UploadRequest } from "./media.ts";
import { CallId, TRACEPARENT_MAX_CHARS, UUID } from "./names.ts";
import { check, checkJson, type Parsed, z } from "./parse.ts";
import { CheckSeconds, KnownState, RuleChange, Truths, WatchCondition } from "./rules.ts";

/** The most reports that one message acknowledges. */
export const ACKS_MAX = 64;

const text = (max: number) => z.string().check(z.maxLength(max));

/** Characters of the outcome that the notice `called` brings, and the calls that it lists. */
const CALLED_TEXT_MAX = 51_200;
const CALLED_CALLS_MAX = 50;

/** A gateway makes routes of some 500 characters. */
const ROUTE_MAX_CHARS = 2_000;

/** A tool that an agent advertises on `tools`; `edge_call` can name it as an action. */
export const ActionAdvert = z.looseObject({
  name: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/)),
  description: z._default(text(2_000), ""),
  /** JSON Schema of its parameters. */
  parameters: z._default(z.record(z.string(), z.unknown()), {}),
  /** Its default time-out; the gateway waits 10 s longer. */
  timeout_ms: z.optional(z.int().check(z.minimum(1), z.maximum(86_400_000))),
  /** `read` runs without asking; everything else may need an approval. */
  effect: z.optional(z.enum(["read", "write", "exec", "network", "device"])),
  /** It may run again when its outcome is unknown. */
  idempotent: z.optional(z.boolean()),
  /** It returns a stranger's text (a file, the web, a picture), which taints the conversation. */
  taints: z.optional(z.boolean()),
  /** How long (ms) a call may wait for the agent to come online; absent = it fails at once when the agent is offline. */
  queue_ms: z.optional(z.int().check(z.minimum(1), z.maximum(604_800_000))),
  /** Of a hosted device: a person is asked each time. */
  danger: z.optional(z.boolean()),
  /** The reason, for a person: `it moves a lock`. */
  danger_why: z.optional(text(200)),
  /** Of a hosted device: it changes a setting, and is offered only where a person wants that. */
  setting: z.optional(z.boolean()),
  /** Of a hosted device: the broker keeps the command, and repeats it when the device comes back. */
  retained: z.optional(z.boolean()),
});
export type ActionAdvert = z.infer<typeof ActionAdvert>;

/** `capabilities` (retained): the line about the agent that a model reads. We add type, version and features. */
export const Capabilities = z.looseObject({
  agent_id: z.optional(z.string()),
  capabilities: text(4_000),
  agent_type: z.optional(text(64)),
  version: z.optional(text(64)),
  /** What the agent understands beyond EvoClaw; an agent without this field is foreign. */
  features: z.optional(z.array(text(64)).check(z.maxLength(64))),
  /** Agents that do the same work share a group, by whose name any of them can be called. Its own claim. */
  group: z.optional(text(64)),
  /** What is wrong with it, as it sees it. Older agents do not say. */
  conditions: ConditionList,
});
export type Capabilities = z.infer<typeof Capabilities>;

/** `tools` (retained, ours): the agent's actions, and a hash that changes with them. */
export const ToolsAdvert = z.looseObject({
  hash: text(128),
  tools: z.array(ActionAdvert).check(z.maxLength(256)),
});
export type ToolsAdvert = z.infer<typeof ToolsAdvert>;

/** `presence` (retained, ours): birth, last will, goodbye. `boot_id` distinguishes a stale will from a new birth. */
export const Presence = z.looseObject({
  state: z.enum(["online", "offline"]),
  boot_id: z.optional(text(64)),
  reason: z.optional(text(200)),
  /** The agent's half of this run's session (core/protocol/session.ts). An agent without it signs everything. */
  session: z.optional(text(64)),
  /** The hash of the rules that the agent watches. */
  rules: z.optional(text(64)),
  /** Of the conditions that it was given with `acts`. */
  truths: z.optional(Truths),
});
export type Presence = z.infer<typeof Presence>;

/** The word by which agents, bridges and gateways say that they know the event `call`. */
export const CALL_FEATURE = "call";
/** The word by which a gateway says that it offers session tools over that event. */
export const SESSIONS_FEATURE = "sessions";

/** The word by which an agent says that it checks the standing permission in a command, and runs the call without a question. */
export const PERMISSIONS_FEATURE = "permissions";

/** The word by which agents, bridges and gateways say that they know rules. */
export const RULES_FEATURE = "rules";

/** The word by which an agent says that its presence tells whether the conditions of rules that act are so. */
export const TRUTHS_FEATURE = "truths";

/** The steps of a chain of calls: A→B→C→D may be, a fifth agent not. */
export const CHAIN_MAX = 3;

/** The chain of calls that led to a call which an agent asked for. */
export const Chain = z.looseObject({
  /** The call of a model or a client with which the chain began. */
  id: CallId,
  /** The agents before this one, in order. One that another home lent is `home/agent`. */
  via: z.array(text(129)).check(z.maxLength(CHAIN_MAX)),
});
export type Chain = z.infer<typeof Chain>;

export const Caller = z.looseObject({
  principal: text(200),
  role: z.enum(["owner", "member", "guest"]),
  channel: text(64),
  /** The conversation's id, where the peer has conversations. A to-do list belongs to one. */
  conversation: z.optional(text(128)),
  /** Absent: no agent asked for this call. */
  chain: z.optional(Chain),
});
/** Who asked. The device's policy may use it; arriving over the LAN alone gives a call no rights. */
export type Caller = z.infer<typeof Caller>;

/** `commands`. `command`, `payload` and `request_id` are EvoClaw's, all required by its agent. */
export const Command = z.looseObject({
  command: z.string().check(z.minLength(1), z.maxLength(64)),
  payload: z.record(z.string(), z.unknown()),
  request_id: CallId,
  /** Time left in ms, counted from receipt, because a Pi may have no correct clock. */
  expires_in_ms: z.optional(z.int().check(z.minimum(0))),
  /** The same deadline in epoch ms, enforced when the clock is synchronised. */
  expires_at: z.optional(z.int()),
  caller: z.optional(Caller),
  /** Rises with every command to this agent, which prevents replays. */
  n: z.optional(z.int()),
  /** The run of the agent that the command is for. Signed commands have it. */
  boot_id: z.optional(text(64)),
  /** The gateway's half of that run's session, in signed commands until the agent has used it. */
  session: z.optional(text(64)),
  /** Reports that the gateway has stored, to an agent with the feature `acks`: they are not sent again. */
  acks: z.optional(z.array(CallId).check(z.maxLength(ACKS_MAX))),
  /** A person watches, so the agent sends output as `progress` while it appears. */
  watch: z.optional(z.boolean()),
  /** The conversation holds a stranger's text, so everything but a read asks, whoever is calling. */
  tainted: z.optional(z.boolean()),
  /** A standing permission that covers the call (core/permissions), to an agent with the feature `permissions`: it checks it once more. */
  permission: z.optional(z.unknown()),
  /** Opaque. The agent puts it in each report of this command, so that the gateway knows where they belong. */
  route: z.optional(text(ROUTE_MAX_CHARS)),
  /** Of a call that is traced (core/trace/context.ts). A wrong one is none. */
  traceparent: z.catch(z.optional(text(TRACEPARENT_MAX_CHARS)), undefined),
});
export type Command = z.infer<typeof Command>;

/** Payload of a `tool` command. */
export const ToolCommand = z.looseObject({
  tool: z.string(),
  /** EvoClaw's orchestrator leaves them out when a tool takes none. */
  parameters: z._default(z.record(z.string(), z.unknown()), {}),
  timeout_ms: z._default(z.int().check(z.minimum(1), z.maximum(86_400_000)), 30_000),
});
export type ToolCommand = z.infer<typeof ToolCommand>;

/** Payload of a `prompt` command. */
export const PromptCommand = z.looseObject({
  prompt: z.string().check(z.minLength(1)),
  system_prompt: z.optional(z.string()),
  enable_tools: z._default(z.boolean(), true),
  max_tokens: z._default(z.int().check(z.minimum(1)), 4_096),
});
export type PromptCommand = z.infer<typeof PromptCommand>;

/**
 * The only report types on `reports`: an EvoClaw orchestrator treats any other type as a user's message
 * (mqtt.go, handleMessage). Acks and progress use `events`.
 */
const REPORT_TYPES = ["result", "error", "heartbeat"] as const;

const Report = z.looseObject({
  // Nothing reads this field, so a wrong type must not lose the result: some peers write the time as text.
  agent_id: z.catch(z.optional(z.string()), undefined),
  agent_type: z.catch(z.optional(z.string()), undefined),
  report_type: z.string(),
  payload: z.record(z.string(), z.unknown()),
  timestamp: z.catch(z.optional(z.number()), undefined),
  /** The command's. A wrong one is none: the report itself is still read. */
  route: z.catch(z.optional(text(ROUTE_MAX_CHARS)), undefined),
});

/** A report of either EvoClaw shape, converted to one shape. */
export type ReadReport = {
  type: (typeof REPORT_TYPES)[number] | "other";
  requestId: string | undefined;
  payload: Record<string, unknown>;
  /** As the command carried it. */
  route?: string;
};

const AnyObject = z.record(z.string(), z.unknown());

/**
 * Reads a report: EvoClaw's AgentReport, or one of the bare forms that its orchestrator also accepts.
 * `{request_id, content, …}` and `{tool, status, …}` are results. `{agent_id, content}` and `{status}` without a request are
 * a device's own message and its heartbeat, hence `other`.
 */
export function readReport(text: string): Parsed<ReadReport> {
  const object = checkJson(AnyObject, text);
  if (!object.ok) return object;
  if (!("report_type" in object.value)) {
    const { request_id, content, tool, status } = object.value;
    if (typeof content === "string" || typeof tool === "string" || typeof status === "string") {
      const requestId = asId(request_id);
      const type = requestId !== undefined || typeof tool === "string" ? "result" : "other";
      return { ok: true, value: { type, requestId, payload: object.value } };
    }
    return { ok: false, error: "report_type: missing, and neither content, tool nor status is there" };
  }
  const report = check(Report, object.value);
  if (!report.ok) return report;
  const { report_type, payload, route } = report.value;
  const type = REPORT_TYPES.find((known) => known === report_type) ?? "other";
  const requestId = asId(payload.request_id);
  return { ok: true, value: { type, requestId, payload, ...(route !== undefined && { route }) } };
}

function asId(value: unknown): string | undefined {
  return typeof value === "string" && value.length > 0 && value.length <= 128 ? value : undefined;
}

/** The call that needs an approval; the hash binds the approval to exactly this call. */
export const ApprovalRequest = z.looseObject({
  tool: text(64),
  parameters: z.record(z.string(), z.unknown()),
  /** The working directory, where there is one. */
  cwd: z.optional(text(4_096)),
  /** Why an approval is needed: `the policy says ask`, `the conversation holds a stranger's text`. */
  reason: text(300),
  /** approvalHash of agent, tool, parameters and cwd, hex. */
  hash: text(64),
  /** It may do harm, as the tool itself says of this very call. */
  danger: z.optional(z.boolean()),
});
/** An agent's words about itself that no person has accepted: a new line with the one before, names of new actions, a group. */
export type UnreadText = { agent: string; line?: string; was?: string; actions: string[]; group?: string };
/**
 * `unread`, `tainted`: of the gateway alone. `unread`: such words are a reason of the question; the answer `accept` accepts them and
 * approves. `tainted`: others' words may have led to a call that is in no ledger.
 */
export type ApprovalRequest = z.infer<typeof ApprovalRequest> & { unread?: UnreadText[]; tainted?: true };

/** `events` (ours, not retained): messages that an agent sends before a call's result. */
export const AgentEvent = z.discriminatedUnion("type", [
  /** The agent has stored the command durably. A sign of life. */
  z.looseObject({ type: z.literal("accepted"), request_id: CallId }),
  /** A sign of life; `text` is the output since the last one, sent only while a person watches. */
  z.looseObject({
    type: z.literal("progress"),
    request_id: CallId,
    tool: z.optional(text(64)),
    text: z.optional(text(16_384)),
  }),
  /** The call waits for the person's `answer` command. `approval`: yes or no, by a person with that right. */
  z.looseObject({
    type: z.literal("question"),
    request_id: CallId,
    question_id: text(64),
    text: text(4_000),
    options: z.optional(z.array(text(200)).check(z.maxLength(20))),
    approval: z.optional(ApprovalRequest),
    expires_in_ms: z.int().check(z.minimum(1), z.maximum(604_800_000)),
  }),
  /**
   * The call needs another agent, or something of the gateway: `name` is the tool. Repeated, under the same `call_id`, until
   * the notice `called` brings the outcome.
   */
  z.looseObject({
    type: z.literal("call"),
    request_id: CallId,
    call_id: z.string().check(z.regex(UUID)),
    name: text(64),
    args: z.record(z.string(), z.unknown()),
    /** Of the agent's tool that makes the call. */
    traceparent: z.catch(z.optional(text(TRACEPARENT_MAX_CHARS)), undefined),
  }),
  UploadRequest,
  AuditBatch,
  /** A message that the device sends unasked. */
  z.looseObject({
    type: z.literal("event"),
    request_id: CallId,
    change: z.optional(RuleChange),
    name: z.optional(text(128)),
    value: z.optional(z.union([z.number(), text(200), z.boolean()])),
    text: z.optional(text(4_000)),
  }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;

/** Payload of `watch_set`. */
export const WatchSetCommand = z.looseObject({
  set: z.optional(
    z
      .array(
        z.looseObject({
          condition: WatchCondition,
          check_s: z.optional(CheckSeconds),
          known: z.optional(KnownState),
          /** Of a rule that acts: whether it is so is said in the presence, and no change leaves. */
          acts: z.optional(z.boolean()),
        }),
      )
      .check(z.maxLength(16)),
  ),
  drop: z.optional(z.array(text(32)).check(z.maxLength(100))),
  all: z.optional(z.boolean()),
});
export type WatchSetCommand = z.infer<typeof WatchSetCommand>;

/** Payload of an `answer` command. For an approval, `answer` is `approve` or `deny` and the hash must match the question's. */
export const AnswerCommand = z.looseObject({
  question_id: text(64),
  answer: text(4_000),
  hash: z.optional(text(64)),
  /** Who answered; the command's caller is the one who asked for the call. */
  by: z.optional(text(200)),
  /** How it was answered: `passkey`, `tap in Telegram`. */
  how: z.optional(text(40)),
  /** Why nobody was asked. A device that does not know the field treats `answer` as a person's. */
  refused: z.optional(text(1_000)),
});
export type AnswerCommand = z.infer<typeof AnswerCommand>;

/** A chain's tokens are a device's claim, and count no further than this. */
const TOKENS_CLAIMED_MAX = 10_000_000;
const tokens = z.int().check(z.minimum(0), z.maximum(TOKENS_CLAIMED_MAX));
export const ClaimedUsage = z.looseObject({ input_tokens: tokens, output_tokens: tokens });

/** The outcome of a call that an agent asked for. */
export const CalledOutcome = z.looseObject({
  status: z.enum(["success", "error"]),
  text: text(CALLED_TEXT_MAX),
  /** For the model alone. */
  advice: z.optional(text(2_000)),
  error_type: z.optional(text(64)),
  elapsed_ms: z.int().check(z.minimum(0)),
  /** The agent that was called; `routed`: how it was chosen. */
  agent: z.optional(text(129)),
  routed: z.optional(z.looseObject({ agent: text(129), why: text(500) })),
  /** The calls of that agent's own loop, as in its report. */
  calls: z.optional(z.array(z.record(z.string(), z.unknown())).check(z.maxLength(CALLED_CALLS_MAX))),
  /** false: that agent's own model called no tool for its answer. */
  asked: z.optional(z.boolean()),
  media: z.optional(z.array(z.union([StoredMedia, InlineMedia])).check(z.maxLength(MEDIA_MAX_ITEMS))),
  usage: z.optional(ClaimedUsage),
  /** The call was only accepted: its result comes to the conversation with which the chain began. */
  job: z.optional(text(128)),
  /** The session that it began or asked. */
  session: z.optional(text(200)),
});
export type CalledOutcome = z.infer<typeof CalledOutcome>;

/** Payload of the notice `called`, which answers the event `call`. */
export const CalledCommand = z.looseObject({
  call_id: z.string().check(z.regex(UUID)),
  outcome: CalledOutcome,
});
export type CalledCommand = z.infer<typeof CalledCommand>;
