/**
 * Tools that a home's gateway runs: they list, read, ask and begin sessions, and list agents. The gateway's own model gets them, and
 * the models of devices. A session is a conversation of the API.
 */
import { z } from "../protocol/parse.ts";
import type { Aliases, Tool } from "./contract.ts";

/** Of `timeout_seconds`. */
const SESSION_WAIT_MAX_S = 900;
const SESSION_LABEL_MAX = 80;
const TASK_MAX = 20_000;
const MESSAGE_MAX = 8_000;
const LISTED_MAX = 50;
const WORDS_MAX = 200;
const AGENTS_MAX = 64;
const MINUTES_MAX = 525_600;

const words = z.string().check(z.minLength(1), z.maxLength(WORDS_MAX));
const session = z.string().check(z.regex(/^[A-Za-z0-9._:@-]{1,128}$/, "expected a session's id"));
const limit = z.optional(z.int().check(z.minimum(1), z.maximum(LISTED_MAX)));
const waits = z.optional(z.number().check(z.minimum(0), z.maximum(SESSION_WAIT_MAX_S)));

const AgentsList = z.strictObject({
  query: z.optional(words),
  group: z.optional(words),
  limit,
  after: z.optional(words),
});
const SessionStatus = z.strictObject({ session: z.optional(session), cancel: z.optional(z.boolean()) });
const SessionsHistory = z.strictObject({
  session,
  limit,
  before: z.optional(z.int().check(z.minimum(1))),
  tools: z.optional(z.boolean()),
});
const SessionsList = z.strictObject({
  limit,
  active_minutes: z.optional(z.number().check(z.minimum(1), z.maximum(MINUTES_MAX))),
  q: z.optional(words),
  all: z.optional(z.boolean()),
});
const SessionsSend = z.strictObject({
  session,
  message: z.string().check(z.minLength(1), z.maxLength(MESSAGE_MAX)),
  timeout_seconds: waits,
});
const SessionsSpawn = z.strictObject({
  task: z.string().check(z.minLength(1), z.maxLength(TASK_MAX)),
  label: z.optional(z.string().check(z.minLength(1), z.maxLength(SESSION_LABEL_MAX))),
  model: z.optional(words),
  agents: z.optional(z.array(words).check(z.maxLength(AGENTS_MAX))),
  reads_only: z.optional(z.boolean()),
  budget_tokens: z.optional(z.int().check(z.minimum(1))),
  timeout_seconds: waits,
});

export type SessionToolInputs = {
  agents_list: z.infer<typeof AgentsList>;
  session_status: z.infer<typeof SessionStatus>;
  sessions_history: z.infer<typeof SessionsHistory>;
  sessions_list: z.infer<typeof SessionsList>;
  sessions_send: z.infer<typeof SessionsSend>;
  sessions_spawn: z.infer<typeof SessionsSpawn>;
};
export type SessionToolName = keyof SessionToolInputs;

export type SessionTool = Pick<Tool, "name" | "description" | "input" | "aliases" | "prepare">;

/** OpenClaw's names of the parameters. */
const ALIASES: Aliases = {
  sessionKey: "session",
  session_key: "session",
  session_id: "session",
  activeMinutes: "active_minutes",
  includeTools: "tools",
  timeoutSeconds: "timeout_seconds",
  budgetTokens: "budget_tokens",
  readsOnly: "reads_only",
};

/** Models give an empty text or null for what they leave out. */
export function withoutEmpty(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== "" && value !== null));
}

function sessionTool(name: SessionToolName, description: string, input: Tool["input"]): SessionTool {
  return { name, description, input, aliases: aliasesFor(input), prepare: withoutEmpty };
}

/** Those of the tool's own parameters: another tool's alias is an unknown argument. */
function aliasesFor(input: Tool["input"]): Aliases {
  const own = Object.keys((input as typeof SessionsList).shape);
  return Object.fromEntries(Object.entries(ALIASES).filter(([, name]) => own.includes(String(name))));
}

/** Sorted by name. */
export const SESSION_TOOLS: Record<SessionToolName, SessionTool> = {
  agents_list: sessionTool("agents_list", "List agents.", AgentsList),
  session_status: sessionTool(
    "session_status",
    "Get status of this or another session; cancel ends its turn.",
    SessionStatus,
  ),
  sessions_history: sessionTool("sessions_history", "Get a session's history.", SessionsHistory),
  sessions_list: sessionTool("sessions_list", "List sessions.", SessionsList),
  sessions_send: sessionTool("sessions_send", "Send a session a message; wait for its answer.", SessionsSend),
  sessions_spawn: sessionTool(
    "sessions_spawn",
    "Spawn a subagent; its result comes as a message, or at once with timeout_seconds.",
    SessionsSpawn,
  ),
};

export const SESSION_TOOL_NAMES = Object.keys(SESSION_TOOLS) as SessionToolName[];

export function isSessionTool(name: string): name is SessionToolName {
  return Object.hasOwn(SESSION_TOOLS, name);
}
