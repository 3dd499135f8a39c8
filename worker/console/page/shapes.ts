/** What the gateway's routes answer with, as far as the page looks at it (docs/protocol.md). */
import type { CallRecord } from "@edgecall/core/loop/history.ts";

export type Session = {
  signed_in: boolean;
  access: boolean;
  name?: string;
  home?: string;
  role?: string;
  scopes?: string[];
};

/** `id`: at `/v1/media/{id}`. A command's report may have a small picture in itself: `data`, in base64. */
export type Media = { id?: string; data?: string; media_type: string; bytes: number };

/** As the gateway words it, and a command's report too. */
export type Call = Omit<CallRecord, "media" | "calls"> & { media?: Media[]; calls?: Call[] };

export type Question = {
  id: string;
  call: string;
  agent: string;
  text: string;
  options: string[];
  approval?: { tool: string; parameters: Record<string, unknown>; cwd?: string; reason: string };
  expires_at: number;
  answer?: string;
  answered_by?: string;
};

export type TurnResult = {
  turn: string;
  status: "running" | "done" | "failed" | "cancelled";
  answer: string | null;
  model: string | null;
  calls: Call[];
  usage: { input_tokens: number; output_tokens: number };
  metrics?: { duration_ms: number };
  notices?: string[];
  questions?: Question[];
  error?: { code: string; message: string };
};

export type PastTurn = TurnResult & { text: string; created_at: number };

export type Agent = {
  id: string;
  online: boolean;
  reason?: string;
  last_seen: number | null;
  last_active: number | null;
  type: string | null;
  version: string | null;
  capabilities: string;
  foreign: boolean;
  features: string[];
  actions: string[];
  problem?: string;
  counts: { calls: number; success: number; error: number; open: number };
};

export type Schema = {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
};

export type Action = {
  name: string;
  description: string;
  parameters: Schema;
  timeout_ms?: number;
  effect?: string;
};

export type Reply = {
  request_id: string;
  status?: "running";
  report_type?: string;
  payload?: Record<string, unknown>;
  elapsed_ms?: number;
};

export type AuditLine = {
  timestamp: string;
  agent_id: string;
  tool: string;
  parameters: unknown;
  result: "success" | "error";
  error_type?: string;
  error?: string;
  elapsed_ms: number;
  call_id: string;
  caller: { principal: string; role: string; channel: string };
  approval?: { approved: boolean; by?: string; at: string };
};

export type Status = {
  home: string;
  version: string;
  bridge: {
    online: boolean;
    id: string | null;
    version: string | null;
    last_seen: number | null;
    problem?: string;
  };
  agents: { known: number; online: number };
  calls: Array<{ id: string; agent: string; command: string; state: string; since: number }>;
};

export type ConnectionView = {
  channel: string;
  connection: string;
  kept_in: "console" | "CHANNELS";
  webhook: string;
  /** Whether the platform can be asked from here. */
  checks: boolean;
  made_by?: string;
  made_at?: number;
};

/** `origin`: this gateway's address, as platforms are told it. */
export type Connections = { origin: string; connections: ConnectionView[] };

export type ConnectionState = ConnectionView & {
  account: string;
  link?: string;
  deliveries: {
    webhook?: string | null;
    here?: boolean;
    waiting?: number;
    last_error?: string;
    last_error_at?: number;
  };
};

/** `todo`: what is left for the person. */
export type Made = ConnectionView & { account: string; link?: string; todo: string[] };

export type DayUsage = {
  day: string;
  tokens: number;
  model_calls: number;
  models: Array<{ name: string; input_tokens: number; output_tokens: number; usd?: number }>;
};

export type Usage = {
  /** Whether days are counted at all. */
  counted: boolean;
  priced: boolean;
  /** The oldest first; the last one is today. */
  days: DayUsage[];
  budgets: Record<string, { tokens?: number; model_calls?: number }>;
  models: Array<{ name: string; failures: number }>;
};
