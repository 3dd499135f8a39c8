/** The rows of a conversation, what the code reads from them, and the way from one to the other. */

import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { Call, CallRecord, Entry, Outcome, Usage } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import { splitByWords } from "@edgecall/core/tools/advice.ts";
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

/** A call with what the driver needs beside the loop's view of it. */
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

export type StoredQuestion = { question: TurnQuestion; askedSeq: number; closedSeq: number | null };

export function one<Row extends Record<string, SqlStorageValue>, T>(
  rows: SqlStorageCursor<Row>,
  read: (row: Row) => T,
): T | undefined {
  const row = rows.toArray()[0];
  return row && read(row);
}

export function toTurn(row: TurnRow): Turn {
  return {
    n: row.n,
    id: row.id,
    idempotency: row.idempotency,
    origin: JSON.parse(row.origin) as Origin,
    status: row.status,
    attempts: row.attempts,
    notBefore: row.not_before,
    answer: row.answer,
    error: row.error,
    model: row.model,
    usage: { input_tokens: row.input_tokens, output_tokens: row.output_tokens },
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    finishedSeq: row.finished_seq,
    notices: JSON.parse(row.notices) as Notice[],
    sources: JSON.parse(row.sources) as Source[],
  };
}

export function toEntry(row: MessageRow, calls: StoredCall[]): StoredEntry {
  const common = { seq: row.seq, turn: row.turn, text: row.text };
  if (row.role === "note") return { ...common, role: "note" };
  if (row.role === "assistant") return { ...common, role: "assistant", calls };
  return {
    ...common,
    role: "user",
    ...(row.images !== null && { images: JSON.parse(row.images) as string[] }),
  };
}

export function toCall(row: CallRow): StoredCall {
  return {
    id: row.id,
    turn: row.turn,
    modelCallId: row.model_call_id,
    name: row.name,
    args: JSON.parse(row.args) as Record<string, unknown>,
    ...(row.problem !== null && { problem: row.problem }),
    submittedAt: row.submitted_at,
    settledAt: row.settled_at,
    ...(row.outcome !== null && { outcome: readOutcome(row.outcome) }),
    settledSeq: row.settled_seq,
  };
}

/** A row of 0.2.0, which names no sources, has the model's advice in its text. */
function readOutcome(json: string): Outcome {
  const outcome = JSON.parse(json) as Outcome;
  const { status, sources, job, advice, text } = outcome;
  const isMixed = sources === undefined && advice === undefined && (status === "error" || job !== undefined);
  return isMixed ? { ...outcome, ...splitByWords(text) } : outcome;
}

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
