/**
 * What the routes answer with, in JSON (docs/protocol.md). Types alone, and of core's words: so the console's page, which
 * has none of the Worker's code and runs in a browser, takes them from here as well.
 */
import type { CallRecord, Usage } from "@edgecall/core/loop/history.ts";
import type { TurnMetrics } from "@edgecall/core/loop/metrics.ts";

export type TurnStatus = "running" | "done" | "failed" | "cancelled";

/** The body of `POST …/messages` and `GET …/turns/{turn}`. */
export type TurnResult = {
  turn: string;
  status: TurnStatus;
  /** Words for the person, whatever the turn came to; null while it runs. */
  answer: string | null;
  model: string | null;
  /** Calls of the caller's own tools, with which the turn ended: the caller runs them, and brings their results. */
  requested?: CallRecord[];
  /** Every call that was made and what it came to: a claim can be held against it. */
  calls: CallRecord[];
  usage: Usage;
  /** What the turn took: calls, batches, time. */
  metrics: TurnMetrics;
  /** Budgets that are nearly used. */
  notices?: string[];
  /** What a person is asked right now, and what was answered. */
  questions?: TurnQuestion[];
  error?: { code: string; message: string };
};

/** A turn of `GET /v1/conversations/{id}`. */
export type PastTurn = TurnResult & {
  text: string;
  created_at: number;
  /** The pictures that the person sent with it: `media:` and the id of a kept one, or an address. */
  images?: string[];
};

/** A question as the person is shown it. */
export type TurnQuestion = {
  id: string;
  call: string;
  agent: string;
  text: string;
  options: string[];
  /** Present when it is an approval: what exactly would be run. */
  approval?: { tool: string; parameters: Record<string, unknown>; cwd?: string; reason: string };
  expires_at: number;
  answer?: string;
  answered_by?: string;
};

/** A question of `GET /v1/questions`. `channel` and `conversation`: where it is asked; `title`: of that, where it is listed. */
export type OpenQuestion = TurnQuestion & { channel: string; conversation: string; title?: string };

/** An agent of `GET /v1/agents`. */
export type AgentView = {
  id: string;
  online: boolean;
  status: "online" | "offline";
  reason?: string;
  last_seen: number | null;
  last_active: number | null;
  type: string | null;
  version: string | null;
  capabilities: string;
  foreign: boolean;
  /** It has a key that counts. */
  paired: boolean;
  features: string[];
  actions: string[];
  problem?: string;
  /** Its words about itself that nobody has accepted yet: they taint the calls to others until then. `was`: the line before. */
  new_text?: { line?: string; was?: string; actions: string[] };
  counts: { calls: number; success: number; error: number; open: number };
};

/** `GET /v1/status`, but for the home's name. */
export type HomeStatus = {
  version: string;
  bridge: {
    online: boolean;
    id: string | null;
    version: string | null;
    connected_at: number | null;
    last_seen: number | null;
    /** Whether it can be told to update itself; null while it is away. */
    updates: boolean | null;
    /** The last update that it was told to make. */
    update: BridgeUpdate | null;
    /** Why it is not served, in words. */
    problem?: string;
  };
  agents: { known: number; online: number };
  /** The record's outside store; absent where there is none. */
  audit?: OutletState;
  calls: Array<{
    id: string;
    agent: string;
    command: string;
    state: string;
    since: number;
    deadline: number;
  }>;
};

/** The last update that this bridge was told to make, or told of; `ok` null: it is under way. */
export type BridgeUpdate = { id: string; ok: boolean | null; text: string };

/** `waiting`: bytes that it does not have. `since`: when the oldest of them came. `lost`: lines that it never got. */
export type OutletState = { waiting: number; since: number | null; problem: string | null; lost: number };

/** `/v1/console/session`. */
export type SessionView = {
  signed_in: boolean;
  /** Whether people sign in over Cloudflare Access. */
  access: boolean;
  name?: string;
  home?: string;
  role?: string;
  scopes?: string[];
};

/** A connection of a chat app. */
export type ConnectionView = {
  channel: string;
  connection: string;
  kept_in: "console" | "CHANNELS";
  webhook: string;
  /** Whether the console can look at it: the others are set up by hand. */
  checks: boolean;
  made_by?: string;
  made_at?: number;
};

/** `GET /v1/connections`. `origin`: this gateway's address, as platforms are told it. */
export type Connections = { origin: string; connections: ConnectionView[] };

type AccountView = { account: string; link?: string };

/** … and of one of them. `here`: it delivers to this gateway. */
export type ConnectionState = ConnectionView & AccountView & { deliveries: Deliveries & { here?: boolean } };

/** … and of `POST`. `todo`: what is left for the person. */
export type MadeConnection = ConnectionView & AccountView & { todo: string[] };

/** How deliveries stand, as the platform tells it. */
export type Deliveries = {
  /** Where it delivers to; null: nowhere yet; absent: it does not tell. */
  webhook?: string | null;
  /** Updates that wait to be delivered. */
  waiting?: number;
  last_error?: string;
  /** Epoch ms. */
  last_error_at?: number;
};

/** `GET /v1/console/usage`. */
export type UsageView = {
  /** Whether days are counted at all. */
  counted: boolean;
  priced: boolean;
  /** The oldest first; the last one is today. */
  days: DayView[];
  budgets: Record<string, { tokens?: number; model_calls?: number }>;
  models: Array<{ name: string; failures: number }>;
};

export type DayView = {
  day: string;
  tokens: number;
  model_calls: number;
  models: Array<{ name: string; usd?: number } & Usage>;
};

/** A token of `GET /v1/tokens`. Times: epoch ms. */
export type TokenView = {
  id: string;
  name: string;
  role: "owner" | "member" | "guest";
  scopes: Array<"ask" | "command" | "approve" | "admin" | "metrics">;
  expires_at: number | null;
  created_at: number | null;
  last_used_at: number | null;
  made_by: string | null;
  /** `secret`: it stands in API_TOKENS, and is taken away there. */
  source: "secret" | "home";
};
