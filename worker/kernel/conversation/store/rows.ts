/** The rows of a conversation, and what the code has in their place (row-cache.ts converts them). */

import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type {
  Call,
  CallRecord,
  Cut,
  Entry,
  Outcome,
  Replay,
  Summary,
  Usage,
} from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { TurnQuestion, TurnStatus } from "../../api/answers.ts";
import type { Origin } from "../../api/turns.ts";

/** A budget that is nearly used, as the person was told. */
export type Notice = { text: string; keys: BudgetKey[] };

/** @property text what came of it, for everybody who reads the conversation */
type RulePressed = { rule: string; text: string };

export type Meanwhile = { text: string; told?: true };

export type Turn = {
  n: number;
  id: string;
  /** The caller's Idempotency-Key. */
  idempotency: string | null;
  origin: Origin;
  status: TurnStatus;
  /** Tries of the current step, as far as they are known (Transcript.countAttempt). */
  attempts: number;
  notBefore: number;
  answer: string | null;
  error: string | null;
  model: string | null;
  usage: Usage;
  /** Tokens of the called agents' own models, by their word. */
  agentsUsage: Usage;
  /** The number of the model's replies, with what the person was told in place of one. What needed no model does not count. */
  replies: number;
  createdAt: number;
  finishedAt: number | null;
  finishedSeq: number | null;
  notices: Notice[];
  /** Buttons of rules that were pressed below it. */
  pressed?: RulePressed[];
  /** The model was offered devices and asked none. */
  unasked?: true;
  /** The answer is not whole. */
  cut?: Cut;
  /** What its client was told in place of the answer. `told`: with the answers of the turns that it carries. */
  meanwhile?: Meanwhile;
  /** The numbers of earlier turns whose answers its client gets with its own. */
  carries?: number[];
  /** Whoever began it by a tool knows of its end. */
  told?: true;
  /** The sources of the texts that came into the conversation with it; while it runs, beside those of its entries. */
  sources: Source[];
};

/** A call of the tool loop, with what its rows say. */
export type StoredCall = Call & {
  turn: number;
  submittedAt: number | null;
  settledAt: number | null;
  settledSeq: number | null;
};

export type StoredEntry = { seq: number; turn: number } & (
  | Extract<Entry, { role: "user" | "note" }>
  | { role: "assistant"; text: string; calls: StoredCall[]; replay?: Replay }
);

/** What a row of the transcript says, by its kind. Rows are appended and never changed. */
export type Bodies = {
  /** A turn, with the person's message, or the gateway's note in its place. */
  begin: {
    id: string;
    idempotency?: string;
    origin: Origin;
    /** Epoch ms. */
    at: number;
    sources: Source[];
    text?: string;
    images?: string[];
    note?: string;
    carries?: number[];
    /** Of a turn that an earlier version began (schema.ts): its state at the conversion. */
    before?: Partial<Pick<Turn, "error" | "model" | "usage" | "notices">>;
    /** Of the same: the Idempotency-Keys of messages that were joined to it. */
    joined?: string[];
  };
  /** Joined to the person's message: another message, or pictures that have been fetched. */
  more: { text: string; images: string[]; sources: Source[]; idempotency?: string };
  /** The model's, with its calls. The reply that ends a turn stands in `end`. */
  reply: {
    text: string;
    calls: Call[];
    model?: string;
    usage?: Usage;
    sources?: Source[];
    /** Of the person's sentence, where the turn did not know it before. */
    language?: Language;
    /** For the model's endpoint alone: it is never shown. */
    replay?: Replay;
    settled?: Settled;
  };
  /** Of a call. @property at when it came @property submittedAt when the call went out (both epoch ms) */
  result: { call: string; outcome: Outcome; at: number; submittedAt?: number };
  /** Another result of a call that had one. Without an outcome the first one stands, and this one's tokens count. @property by the id under which it was reported */
  late: { call: string; by: string; outcome?: Outcome; usage?: Usage };
  note: { text: string; sources?: Source[] };
  /** Of texts that came into the turn otherwise. */
  sources: { sources: Source[] };
  question: TurnQuestion;
  /** @property name as in `TurnQuestion` */
  answer: { question: string; answer: string; by: string | null; name?: string; how?: string };
  notice: Notice;
  pressed: RulePressed;
  /** A try of the current step that is about to be made, or after which the next one waits (epoch ms). */
  try: { attempts: number; notBefore?: number };
  /** The tokens of a summary that the turn pays for. */
  spent: { usage: Usage };
  cancelling: Record<string, never>;
  meanwhile: Meanwhile;
  /** Whether the client left without the answer. */
  lost: { lost: boolean };
  /** Whoever began the turn by a tool knows of its end. */
  told: Record<string, never>;
  end: {
    status: Exclude<TurnStatus, "running">;
    answer: string;
    error?: string;
    at: number;
    /** The answer is the last reply too. */
    says: boolean;
    /** Of the last reply, as in `reply`. */
    replay?: Replay;
    /** The calls that the caller has to make. */
    open?: string[];
    /** The model was offered devices and asked none. */
    unasked?: true;
    /** The answer is not whole. */
    cut?: Cut;
    // Of the whole turn, so that its other rows need not be read. Absent in turns of an earlier version.
    replies: number;
    model?: string;
    usage?: Usage;
    /** Absent: none. */
    agentsUsage?: Usage;
    sources?: Source[];
    settled?: Settled;
  };
};
/** The result that came before the row, and has none of its own. */
type Settled = Bodies["result"] & { seq: number };
export type Kind = keyof Bodies;
export type EntryRow = { [K in Kind]: { seq: number; turn: number; kind: K; body: Bodies[K] } }[Kind];

export type StoredQuestion = { question: TurnQuestion; askedSeq: number; closedSeq: number | null };

/** @property from the first entry that it does not tell of; absent in rows of an earlier version */
export type StoredSummary = Summary & { from?: { turn: number; seq: number } };

/** By their turn, in the order of `seq`. */
export type Entries = Map<number, readonly StoredEntry[]>;

/** What is in memory of a conversation (row-cache.ts). */
export type RowCache = {
  /** By `n`, in its order. */
  turns: Map<number, Turn>;
  byId: Map<string, number>;
  /** The turn that was begun, or joined, with an Idempotency-Key. */
  byKey: Map<string, number>;
  /** The turn that handed a call over to its caller, by `callRef`. */
  byRef: Map<string, number>;
  /** The first and the last seq of the turns, by `n`. */
  spans: Map<number, { first: number; last: number }>;
  /** Characters that are held for the turns, by `n`. */
  chars: Map<number, number>;
  /** By their turn, in the order of `seq`. An array is replaced, never changed: the loop holds on to what it was given. */
  entries: Entries;
  /** The turns of the calls in `entries`, by the calls' ids. */
  calls: Map<string, number>;
  /** Entries of this turn and later ones are in `entries`; older ones are read when they are needed. */
  from: number;
  /** Of the older ones: what the running turn goes on from, where chats share the object. */
  older: Entries;
  olderChars: number;
  /** By their turn. The person is shown them; Home decides who may answer. */
  questions: Map<number, StoredQuestion[]>;
  /** The newest. */
  summary: StoredSummary | undefined;
  /** The newest seq. */
  seq: number;
  /** The newest turn that is gathered (past.ts); 0: none. */
  past: number;
};

/** A call as it is shown beside an answer; an edge_call is named by what it asked of whom. */
export function shownCall(record: CallRecord): CallRecord {
  const { agent_id, action, query } = record.args ?? {};
  return {
    ...record,
    ...(typeof agent_id === "string" && { agent: record.agent ?? agent_id }),
    ...(typeof action === "string" && { action }),
    ...(typeof query === "string" && { query }),
  };
}

/** The texts of a turn: the person's words, and what the model said in each step. */
export type TurnTexts = { turn: number; words: string | undefined; steps: string[] };
