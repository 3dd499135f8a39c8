/**
 * What crosses the broker: EvoClaw's payloads, byte-compatible, and our additions to them.
 *
 * Objects are loose on purpose: a field that we do not know is a newer peer's, not an error. The agent's
 * identity is the topic; an `agent_id` in a payload is never believed over it.
 */
import { AuditBatch } from "./audit.ts";
import { UploadRequest } from "./media.ts";
import { CallId } from "./names.ts";
import { check, checkJson, type Parsed, z } from "./parse.ts";

const text = (max: number) => z.string().check(z.maxLength(max));

/** One tool of an agent, as it advertises it on `tools`: what `edge_call` can name as an action. */
export const ActionAdvert = z.looseObject({
  name: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/)),
  description: z._default(text(2_000), ""),
  /** JSON Schema of its parameters. */
  parameters: z._default(z.record(z.string(), z.unknown()), {}),
  /** Its default time-out; the gateway waits this and 10 s more. */
  timeout_ms: z.optional(z.int().check(z.minimum(1), z.maximum(86_400_000))),
  /** `read` runs unasked; anything else may need an approval. */
  effect: z.optional(z.enum(["read", "write", "exec", "network", "device"])),
  /** Safe to run again when its outcome is unknown. */
  idempotent: z.optional(z.boolean()),
  /** What it returns is a stranger's text (a file, the web, a picture): the conversation is tainted by it. */
  taints: z.optional(z.boolean()),
  /** It may wait this long (ms) for the agent to come online; absent = an offline agent is an error at once. */
  queue_ms: z.optional(z.int().check(z.minimum(1), z.maximum(604_800_000))),
});
export type ActionAdvert = z.infer<typeof ActionAdvert>;

/** `capabilities` (retained): the one line that a model reads. Ours adds type, version and features. */
export const Capabilities = z.looseObject({
  agent_id: z.optional(z.string()),
  capabilities: text(4_000),
  agent_type: z.optional(text(64)),
  version: z.optional(text(64)),
  /** What the agent understands beyond EvoClaw; its absence marks a foreign agent. */
  features: z.optional(z.array(text(64)).check(z.maxLength(64))),
});
export type Capabilities = z.infer<typeof Capabilities>;

/** `tools` (retained, ours): the agent's actions and a hash by which a change is seen. */
export const ToolsAdvert = z.looseObject({
  hash: text(128),
  tools: z.array(ActionAdvert).check(z.maxLength(256)),
});
export type ToolsAdvert = z.infer<typeof ToolsAdvert>;

/** `presence` (retained, ours): birth, last will, goodbye. `boot_id` tells a stale will from a new birth. */
export const Presence = z.looseObject({
  state: z.enum(["online", "offline"]),
  boot_id: z.optional(text(64)),
  reason: z.optional(text(200)),
});
export type Presence = z.infer<typeof Presence>;

export const Caller = z.looseObject({
  principal: text(200),
  role: z.enum(["owner", "member", "guest"]),
  channel: text(64),
  /** Its id, where the peer has conversations: a to-do list belongs to one. */
  conversation: z.optional(text(128)),
});
/** Who asked. The device's policy may look at it; a call that came over the LAN is no authority in itself. */
export type Caller = z.infer<typeof Caller>;

/** `commands`. `command`, `payload` and `request_id` are EvoClaw's, all required by its agent. */
export const Command = z.looseObject({
  command: z.string().check(z.minLength(1), z.maxLength(64)),
  payload: z.record(z.string(), z.unknown()),
  request_id: CallId,
  /** Budget left, from receipt, in ms: a Pi may have no clock. */
  expires_in_ms: z.optional(z.int().check(z.minimum(0))),
  /** The same as an instant (epoch ms), enforced when the clock is synchronised. */
  expires_at: z.optional(z.int()),
  caller: z.optional(Caller),
  /** Rises with every command to this agent, against replays. */
  n: z.optional(z.int()),
  /** The run of the agent that it is for; in what is signed. */
  boot_id: z.optional(text(64)),
  /** A person watches: output is wanted as `progress` while it comes. */
  watch: z.optional(z.boolean()),
  /** A stranger's text is in the conversation: whatever is not a read asks, whoever would be allowed it. */
  tainted: z.optional(z.boolean()),
});
export type Command = z.infer<typeof Command>;

/** Payload of a `tool` command. */
export const ToolCommand = z.looseObject({
  tool: z.string(),
  /** EvoClaw's orchestrator leaves them out where a tool takes none. */
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
 * The only report types on `reports`: an EvoClaw orchestrator takes any other for a user's message
 * (its mqtt.go, handleMessage). Acks and progress go on `events`.
 */
const REPORT_TYPES = ["result", "error", "heartbeat"] as const;

export const Report = z.looseObject({
  // What nobody reads may not cost a result: some peers write the time as text.
  agent_id: z.catch(z.optional(z.string()), undefined),
  agent_type: z.catch(z.optional(z.string()), undefined),
  report_type: z.string(),
  payload: z.record(z.string(), z.unknown()),
  timestamp: z.catch(z.optional(z.number()), undefined),
});
export type Report = z.infer<typeof Report>;

/** A report of either of EvoClaw's shapes, brought to one. */
export type ReadReport = {
  type: (typeof REPORT_TYPES)[number] | "other";
  requestId: string | undefined;
  payload: Record<string, unknown>;
};

const AnyObject = z.record(z.string(), z.unknown());

/**
 * Reads a report: EvoClaw's AgentReport, or one of the bare forms that its orchestrator also accepts:
 * `{request_id, content, …}` and `{tool, status, …}` are results; `{agent_id, content}` and `{status}`
 * without a request are a device's own message and its heartbeat, hence `other`.
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
  const { report_type, payload } = report.value;
  const type = REPORT_TYPES.find((known) => known === report_type) ?? "other";
  return { ok: true, value: { type, requestId: asId(payload.request_id), payload } };
}

function asId(value: unknown): string | undefined {
  return typeof value === "string" && value.length > 0 && value.length <= 128 ? value : undefined;
}

/** What an approval is for; its hash binds it to exactly this. */
export const ApprovalRequest = z.looseObject({
  tool: text(64),
  parameters: z.record(z.string(), z.unknown()),
  /** The working directory, where there is one. */
  cwd: z.optional(text(4_096)),
  /** Why it is asked: `the policy says ask`, `the conversation holds a stranger's text`. */
  reason: text(300),
  /** approvalHash of agent, tool, parameters and cwd, hex. */
  hash: text(64),
});
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;

/** `events` (ours, not retained): what an agent says before a call's result. */
export const AgentEvent = z.discriminatedUnion("type", [
  /** Durably taken. A sign of life. */
  z.looseObject({ type: z.literal("accepted"), request_id: CallId }),
  /** A sign of life; `text` is output since the last one, and comes only while a person watches. */
  z.looseObject({
    type: z.literal("progress"),
    request_id: CallId,
    tool: z.optional(text(64)),
    text: z.optional(text(16_384)),
  }),
  /** The call waits for the person's `answer` command. `approval`: yes or no, from a person who may. */
  z.looseObject({
    type: z.literal("question"),
    request_id: CallId,
    question_id: text(64),
    text: text(4_000),
    options: z.optional(z.array(text(200)).check(z.maxLength(20))),
    approval: z.optional(ApprovalRequest),
    expires_in_ms: z.int().check(z.minimum(1), z.maximum(604_800_000)),
  }),
  UploadRequest,
  AuditBatch,
  /** The device speaks first. */
  z.looseObject({ type: z.literal("event"), text: text(4_000) }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;

/** Payload of an `answer` command. For an approval `answer` is `approve` or `deny`, and the hash has to be the question's. */
export const AnswerCommand = z.looseObject({
  question_id: text(64),
  answer: text(4_000),
  hash: z.optional(text(64)),
  /** Who answered; the command's caller is who asked for the call. */
  by: z.optional(text(200)),
  /** Nobody was asked, and why. A device that does not know the field takes `answer` for a person's. */
  refused: z.optional(text(1_000)),
});
export type AnswerCommand = z.infer<typeof AnswerCommand>;
