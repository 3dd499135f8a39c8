/** What the gateway's routes answer with, as far as the page looks at it (docs/protocol.md). */

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

export type Call = {
  id: string;
  name: string;
  agent?: string;
  action?: string;
  query?: string;
  args?: Record<string, unknown>;
  status: "pending" | "success" | "error";
  error_type?: string;
  error?: string;
  result?: string;
  elapsed_ms?: number;
  media?: Media[];
  calls?: Call[];
};

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
  bridge: { online: boolean; id: string | null; version: string | null; last_seen: number | null };
  agents: { known: number; online: number };
  calls: Array<{ id: string; agent: string; command: string; state: string; since: number }>;
  /** Chat apps, where the gateway tells of them. */
  channels?: unknown;
};

export type Usage = {
  day: { counted: boolean; tokens: number; model_calls: number };
  budgets: Record<string, { tokens?: number; model_calls?: number }>;
  models: Array<{ name: string; failures: number }>;
};
