/** The rows of a conversation, and what the code has in their place (row-cache.ts converts them). */

import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { Call, CallRecord, Entry, Usage } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { TurnQuestion, TurnStatus } from "../../api/answers.ts";
import type { Origin } from "../../api/turns.ts";

/** A budget that is nearly used, as the person was told. */
export type Notice = { text: string; keys: BudgetKey[] };

export type Turn = {
  n: number;
  id: string;
  /** The caller's Idempotency-Key. */
  idempotency: string | null;
  origin: Origin;
  status: TurnStatus;
  attempts: number;
  notBefore: number;
  answer: string | null;
  error: string | null;
  model: string | null;
  usage: Usage;
  createdAt: number;
  finishedAt: number | null;
  finishedSeq: number | null;
  notices: Notice[];
  /** The sources of the texts that came into the conversation with it; while it runs, beside those of its entries. */
  sources: Source[];
};

/** A call of the tool loop with the columns that the turn's steps need. */
export type StoredCall = Call & {
  turn: number;
  submittedAt: number | null;
  settledAt: number | null;
  settledSeq: number | null;
};

export type StoredEntry = { seq: number; turn: number } & (
  | Extract<Entry, { role: "user" | "note" }>
  | { role: "assistant"; text: string; calls: StoredCall[] }
);

export type TurnRow = {
  n: number;
  id: string;
  idempotency: string | null;
  origin: string;
  status: TurnStatus;
  attempts: number;
  not_before: number;
  answer: string | null;
  error: string | null;
  model: string | null;
  input_tokens: number;
  output_tokens: number;
  created_at: number;
  finished_at: number | null;
  finished_seq: number | null;
  notices: string;
  sources: string;
};

export type MessageRow = {
  seq: number;
  turn: number;
  role: "user" | "assistant" | "note";
  text: string;
  images: string | null;
};

export type CallRow = {
  id: string;
  turn: number;
  message: number;
  position: number;
  model_call_id: string;
  name: string;
  args: string;
  problem: string | null;
  submitted_at: number | null;
  outcome: string | null;
  settled_at: number | null;
  settled_seq: number | null;
};

export type QuestionRow = {
  id: string;
  turn: number;
  call: string;
  asked: string;
  expires_at: number;
  asked_seq: number;
  answer: string | null;
  answered_by: string | null;
  closed_seq: number | null;
};

export type StoredQuestion = { question: TurnQuestion; askedSeq: number; closedSeq: number | null };

/** A call as it is shown beside an answer; an edge_call is named by what it asked of whom. */
export function shownCall(record: CallRecord): CallRecord {
  const { agent_id, action, query } = record.args ?? {};
  return {
    ...record,
    ...(typeof agent_id === "string" && { agent: agent_id }),
    ...(typeof action === "string" && { action }),
    ...(typeof query === "string" && { query }),
  };
}

/** The texts of a turn: the person's words, and what the model said in each step. */
export type TurnTexts = { turn: number; words: string | undefined; steps: string[] };
