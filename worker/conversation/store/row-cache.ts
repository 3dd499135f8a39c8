/**
 * The turns, messages and calls of a conversation in memory, as their rows say them. The loop wants the history at every
 * step, so it is read once; each write returns its row (`RETURNING *`), and that row replaces the one in memory. So memory
 * never says what a row does not, and an object that is rebuilt reads the rows again.
 *
 * Messages and calls of turns that a summary stands for are not held: a conversation may have thousands, with large
 * results. Where chats share the object, the turns of others are shown to no model: there, messages and calls are held while
 * their turn runs.
 */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import { splitByWords } from "@edgecall/core/tools/advice.ts";
import type { TurnQuestion } from "../../api/answers.ts";
import type { Origin } from "../../api/turns.ts";
import type {
  CallRow,
  MessageRow,
  Notice,
  QuestionRow,
  StoredCall,
  StoredEntry,
  StoredQuestion,
  Turn,
  TurnRow,
  TurnTexts,
} from "./rows.ts";

/** Of messages and calls of older turns that a running one goes on from. What is more is read at each step. */
const OLDER_MAX_CHARS = 4_000_000;

type Entries = Map<number, readonly StoredEntry[]>;

export type RowCache = {
  /** By `n`, in its order. */
  turns: Map<number, Turn>;
  byId: Map<string, number>;
  /** Characters in the rows of the turns, by `n`. */
  chars: Map<number, number>;
  /** By their turn, in the order of `seq`. An array is replaced, never changed: the loop holds on to what it was given. */
  entries: Entries;
  /** Entries of this turn and later ones are in `entries`; older ones are read when they are needed. */
  from: number;
  /** Of the older ones: what the running turn goes on from, where chats share the object. */
  older: Entries;
  olderChars: number;
  /** By their turn. The person is shown them; Home decides who may answer. */
  questions: Map<number, StoredQuestion[]>;
  /** The number of the model's replies in all. Counted when a budget needs it. */
  replies?: number;
  /** The number of the model's replies before a turn, in its chat alone. */
  repliesBefore?: { turn: number; count: number };
};

/** @param isShared chats that know nothing of each other share the object (one-shot.ts) */
export function loadRows(sql: SqlStorage, isShared: boolean): RowCache {
  const [summary] = sql
    .exec<{ from_turn: number | null }>("SELECT from_turn FROM summary ORDER BY turns DESC LIMIT 1")
    .toArray();
  const cache: RowCache = {
    turns: new Map(),
    byId: new Map(),
    chars: new Map(),
    entries: new Map(),
    from: summary?.from_turn ?? 0,
    older: new Map(),
    olderChars: 0,
    questions: new Map(),
  };
  for (const row of sql.exec<TurnRow>("SELECT * FROM turn ORDER BY n")) cacheTurn(cache, row);
  if (isShared) cache.from = firstRunning(cache);
  if (!isShared || cache.turns.has(cache.from))
    cache.entries = readEntries(sql, BETWEEN, cache.from, Number.MAX_SAFE_INTEGER).entries;
  for (const row of sql.exec<QuestionRow>("SELECT * FROM question")) cacheQuestion(cache, row);
  return cache;
}

const BETWEEN = "turn BETWEEN ? AND ?";

/** @param where in SQL, with `?` for the values */
function readEntries(
  sql: SqlStorage,
  where: string,
  ...values: SqlStorageValue[]
): { entries: Entries; chars: number } {
  const entries: Entries = new Map();
  let chars = 0;
  const messages = `SELECT * FROM message WHERE ${where} ORDER BY seq`;
  for (const row of sql.exec<MessageRow>(messages, ...values)) {
    addMessage(entries, row);
    chars += row.text.length + (row.images?.length ?? 0);
  }
  // In no order: each call has its place in its message, and to sort them is billed as reading them twice.
  const calls = `SELECT * FROM call WHERE ${where}`;
  for (const row of sql.exec<CallRow>(calls, ...values)) {
    addCall(entries, row);
    chars += row.args.length + (row.outcome?.length ?? 0);
  }
  return { entries, chars };
}

/** The entries of turns that are not in memory, read in one go. Where chats share the object they are held as far as there is room. */
export function readOlder(
  sql: SqlStorage,
  cache: RowCache,
  turns: readonly number[],
  isShared: boolean,
): Entries {
  const missing = turns.filter((n) => !cache.older.has(n));
  if (missing.length === 0) return cache.older;
  const read = readEntries(sql, "turn IN (SELECT value FROM json_each(?))", JSON.stringify(missing));
  const all = new Map([...cache.older, ...read.entries]);
  if (isShared && cache.olderChars + read.chars <= OLDER_MAX_CHARS) {
    cache.olderChars += read.chars;
    for (const n of missing) cache.older.set(n, read.entries.get(n) ?? []);
  }
  return all;
}

/** The entries between two turns, both included, that are not in memory. */
export function readOlderBetween(sql: SqlStorage, cache: RowCache, first: number, last: number): Entries {
  return readEntries(sql, BETWEEN, first, Math.min(last, cache.from - 1)).entries;
}

/** The texts of the turns whose entries are not in memory, one turn at a time: all of them may be more than memory holds. */
export function* textsOfOlder(sql: SqlStorage, { turns, from }: RowCache): Generator<TurnTexts> {
  const open = new Map<number, TurnTexts>();
  const messages = "SELECT seq, turn, role, text FROM message WHERE turn < ? ORDER BY seq";
  for (const row of sql.exec<Pick<MessageRow, "seq" | "turn" | "role" | "text">>(messages, from)) {
    const texts = open.get(row.turn) ?? { turn: row.turn, words: undefined, steps: [] };
    addText(texts, row);
    open.set(row.turn, texts);
    // The last text of a turn that failed has the seq after its end.
    for (const [n, one] of open)
      if (n !== row.turn && (turns.get(n)?.finishedSeq ?? row.seq) + 1 < row.seq) {
        open.delete(n);
        yield one;
      }
  }
  yield* open.values();
}

/** A summary stands for everything before this turn. */
export function dropBefore(cache: RowCache, turn: number): void {
  for (const n of cache.entries.keys()) if (n < turn) cache.entries.delete(n);
  cache.from = Math.max(cache.from, turn);
}

/** No turn runs: where chats share the object, no model is shown the texts of ended turns. */
export function releaseEnded(cache: RowCache): void {
  dropBefore(cache, firstRunning(cache));
  cache.older.clear();
  cache.olderChars = 0;
}

/** The number of the first turn that runs; without one, of the next that begins. */
function firstRunning({ turns }: RowCache): number {
  let next = 1;
  for (const { n, status } of turns.values()) {
    if (status === "running") return n;
    next = n + 1;
  }
  return next;
}

export function cacheTurn({ turns, byId, chars }: RowCache, row: TurnRow): Turn {
  const turn = toTurn(row);
  turns.set(row.n, turn);
  byId.set(row.id, row.n);
  const texts = [row.id, row.idempotency, row.origin, row.answer, row.notices, row.sources];
  chars.set(
    row.n,
    texts.reduce((sum, text) => sum + (text?.length ?? 0), 0),
  );
  return turn;
}

/** @param was the seq that it had before */
export function cacheMessage(cache: RowCache, row: MessageRow, was = row.seq): void {
  if (row.turn >= cache.from) addMessage(cache.entries, row, was);
  else cache.older.delete(row.turn);
}

/** A call that is new, or was answered. */
export function cacheCall(cache: RowCache, row: CallRow): void {
  if (row.turn >= cache.from) addCall(cache.entries, row);
  else cache.older.delete(row.turn);
}

/** A question that is new, or was closed. */
export function cacheQuestion({ questions }: RowCache, row: QuestionRow): void {
  const others = (questions.get(row.turn) ?? []).filter(({ question }) => question.id !== row.id);
  const all = [...others, toQuestion(row)].sort((a, b) => a.askedSeq - b.askedSeq);
  questions.set(row.turn, all);
}

function addMessage(entries: Entries, row: MessageRow, was = row.seq): void {
  const others = (entries.get(row.turn) ?? []).filter(({ seq }) => seq !== was);
  entries.set(row.turn, [...others, toEntry(row, [])]);
}

function addCall(entries: Entries, row: CallRow): void {
  const before = entries.get(row.turn) ?? [];
  const after = before.map((entry) => {
    if (entry.role !== "assistant" || entry.seq !== row.message) return entry;
    const calls = [...entry.calls];
    calls[row.position] = toCall(row);
    return { ...entry, calls };
  });
  entries.set(row.turn, after);
}

export function addText(texts: TurnTexts, { role, text }: { role: StoredEntry["role"]; text: string }): void {
  if (role === "user") texts.words ??= text;
  if (role === "assistant") texts.steps.push(text);
}

function toTurn(row: TurnRow): Turn {
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

function toEntry(row: MessageRow, calls: StoredCall[]): StoredEntry {
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

function toQuestion(row: QuestionRow): StoredQuestion {
  return {
    question: {
      id: row.id,
      call: row.call,
      ...(JSON.parse(row.asked) as Omit<TurnQuestion, "id" | "call" | "expires_at">),
      expires_at: row.expires_at,
      ...(row.answer !== null && { answer: row.answer }),
      ...(row.answered_by !== null && { answered_by: row.answered_by }),
    },
    askedSeq: row.asked_seq,
    closedSeq: row.closed_seq,
  };
}
