/** Types of the gateway's answers, as far as the page uses them (docs/protocol.md). */
import type { HomeStatus } from "../../../api/answers.ts";

export type { CallRecord as Call } from "@edgecall/core/loop/history.ts";
export type { AuditLine } from "@edgecall/core/protocol/audit.ts";
export type { AgentPage } from "../../../api/agent-list.ts";
export type {
  AgentView as Agent,
  BorrowedView,
  ConnectionState,
  Connections,
  ConnectionView,
  DayView as DayUsage,
  LendingView,
  LentView,
  MadeConnection as Made,
  OauthClientView,
  OauthGrantView,
  OpenQuestion,
  PastTurn,
  SessionView as Session,
  TokenView,
  TurnQuestion as Question,
  TurnResult,
  UsageView as Usage,
} from "../../../api/answers.ts";

export type Status = HomeStatus & { home: string };

/** `id`: served at `/v1/media/{id}`. A command's report may contain a small picture: `data`, in base64. */
export type Media = { id?: string; data?: string; media_type: string; bytes: number };

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
