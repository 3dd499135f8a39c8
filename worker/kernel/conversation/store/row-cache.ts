/**
 * The turns and entries of a conversation in memory, as their rows say them. The loop wants the history at every step, so the
 * rows are read once, and each row that is appended is folded into what is here. So memory never says what a row does not, and
 * an object that is rebuilt reads the rows again.
 *
 * Entries of turns that a summary stands for are not held: a conversation may have thousands, with large results. Where chats
 * share the object, the turns of others are shown to no model: there, entries are held while their turn runs. There is no
 * index: the rows of an older turn lie between its first and its last seq.
 */

import { sharedOutcome } from "@edgecall/core/loop/bounded-calls.ts";
import type { Replay } from "@edgecall/core/loop/history.ts";
import { addUsage, type Outcome } from "@edgecall/core/loop/history.ts";
import { joinSources } from "@edgecall/core/loop/taint.ts";
import { WITHOUT_MODEL } from "@edgecall/core/loop/without-model.ts";
import { splitByWords } from "@edgecall/core/tools/advice.ts";
import { callRef } from "../../api/turns.ts";
import type { Sql } from "../../sql-store.ts";
import { loadPast } from "./past.ts";
import type {
  Bodies,
  Entries,
  EntryRow,
  Kind,
  RowCache,
  StoredCall,
  StoredEntry,
  StoredQuestion,
  StoredSummary,
  Turn,
  TurnTexts,
} from "./rows.ts";
import type { Tables } from "./tables.ts";

/** Of entries of older turns that a running one goes on from. What is more is read at each step. */
const OLDER_MAX_CHARS = 4_000_000;
const MESSAGE_MAX_IMAGES = 8;

type SqlRow = { seq: number; turn: number; kind: Kind; body: string };

/** @param isShared chats that know nothing of each other share the object (one-shot.ts) */
export function loadRows(sql: Sql, tables: Tables, isShared: boolean): RowCache {
  const summary = tables.has("summary") ? newestSummary(sql) : undefined;
  const cache: RowCache = {
    turns: new Map(),
    byId: new Map(),
    byKey: new Map(),
    byRef: new Map(),
    spans: new Map(),
    chars: new Map(),
    entries: new Map(),
    calls: new Map(),
    from: isShared ? Number.MAX_SAFE_INTEGER : (summary?.from?.turn ?? 0),
    older: new Map(),
    olderChars: 0,
    questions: new Map(),
    summary,
    seq: 0,
    past: 0,
  };
  if (tables.has("entry")) readRows(sql, tables, cache);
  if (isShared) {
    cache.from = firstRunning(cache);
    const first = cache.spans.get(cache.from)?.first;
    // The rest of the turns that run, from their beginning.
    if (first !== undefined)
      for (const row of sql.exec<SqlRow>`SELECT * FROM entry WHERE seq >= ${first} AND turn >= ${cache.from}`)
        foldRead(cache, row);
  }
  const current = cache.turns.get(firstRunning(cache));
  // The object was rebuilt. A first try has no row, and may be what ended the object before.
  if (current?.attempts === 0) cache.turns.set(current.n, { ...current, attempts: 1 });
  return cache;
}

/** The rows of all turns; of those whose entries are not held, what their turns need. */
function readRows(sql: Sql, tables: Tables, cache: RowCache): void {
  const upto = tables.has("past") ? loadPast(sql, cache) : 0;
  // Below 0 begin turns of an earlier version that had no message.
  for (const [after, before] of [
    [Number.MIN_SAFE_INTEGER, 0],
    [upto, Number.MAX_SAFE_INTEGER],
  ]) {
    const rows = sql.exec<{ seq: number; turn: number; kind: Kind; body: string | null }>`SELECT seq, turn,
      kind, CASE WHEN turn >= ${cache.from} THEN body
      WHEN kind = 'begin' THEN json_remove(body, '$.text', '$.note')
      WHEN kind = 'end' THEN json_remove(body, '$.settled')
      WHEN kind NOT IN ('reply', 'result', 'late', 'note') THEN body END AS body FROM entry
      WHERE seq > ${after} AND seq < ${before} ORDER BY seq`;
    for (const { body, ...row } of rows) {
      // It is in what was gathered.
      if (row.turn <= cache.past && row.seq <= (cache.spans.get(row.turn)?.last ?? 0)) continue;
      if (body === null) noteSeq(cache, row);
      else foldRead(cache, { ...row, body });
    }
  }
  // An earlier version gave a message another seq when it was joined to another.
  cache.turns = new Map([...cache.turns].sort(([a], [b]) => a - b));
}

function newestSummary(sql: Sql): StoredSummary | undefined {
  const [row] = sql.all<{ turns: number; text: string; from_turn: number | null; from_seq: number | null }>(
    "SELECT turns, text, from_turn, from_seq FROM summary ORDER BY turns DESC LIMIT 1",
  );
  if (!row) return undefined;
  const { turns, text, from_turn, from_seq } = row;
  const isKnown = from_turn !== null && from_seq !== null;
  return { turns, text, ...(isKnown && { from: { turn: from_turn, seq: from_seq } }) };
}

/** A row that is read. */
function foldRead(cache: RowCache, stored: SqlRow): void {
  for (const row of rowsIn(stored)) foldRow(cache, row, stored.body.length);
}

/** A row that has just been written, or is about to be. */
export function fold(cache: RowCache, { seq, turn, kind, body }: SqlRow): void {
  foldRow(cache, { seq, turn, kind, body: JSON.parse(body) } as EntryRow, body.length);
}

/** What a row says, the result that came before it first. */
function rowsIn({ seq, turn, kind, body }: SqlRow): EntryRow[] {
  // SAFETY: only Transcript and the migrations write them.
  const row = { seq, turn, kind, body: JSON.parse(body) } as EntryRow;
  const { settled } = row.kind === "reply" || row.kind === "end" ? row.body : {};
  return settled ? [{ seq: settled.seq, turn, kind: "result", body: settled }, row] : [row];
}

function foldRow(cache: RowCache, row: EntryRow, chars: number): void {
  const { turn } = row;
  noteSeq(cache, row);
  foldTurn(cache, row, chars);
  if (turn < cache.from) {
    cache.older.delete(turn);
    return;
  }
  foldEntry(cache.entries, row);
  if (row.kind === "reply") for (const { id } of row.body.calls) cache.calls.set(id, turn);
}

function noteSeq(cache: RowCache, { seq, turn }: { seq: number; turn: number }): void {
  cache.seq = Math.max(cache.seq, seq);
  if (seq < 0) return;
  const span = cache.spans.get(turn);
  cache.spans.set(turn, { first: span?.first ?? seq, last: seq });
}

function foldTurn(cache: RowCache, row: EntryRow, chars: number): void {
  const { turns, byId, byKey, byRef, questions } = cache;
  const n = row.turn;
  if (row.kind === "begin") {
    const { id, idempotency, text, joined = [] } = row.body;
    turns.set(n, toTurn(n, row.body));
    byId.set(id, n);
    for (const key of [...(idempotency === undefined ? [] : [idempotency]), ...joined]) byKey.set(key, n);
    cache.chars.set(n, chars - (text?.length ?? 0));
    return;
  }
  const turn = turns.get(n);
  if (!turn) return;
  if (row.kind === "question" || row.kind === "answer")
    questions.set(n, withQuestion(questions.get(n) ?? [], row));
  if (row.kind === "more" && row.body.idempotency !== undefined) byKey.set(row.body.idempotency, n);
  if (row.kind === "end") {
    for (const id of row.body.open ?? []) byRef.set(callRef(id), n);
    cache.chars.set(n, (cache.chars.get(n) ?? 0) + chars);
  }
  turns.set(n, { ...turn, ...changesOf(turn, row) });
}

function toTurn(n: number, { id, idempotency, origin, at, sources, carries, before }: Bodies["begin"]): Turn {
  return {
    n,
    id,
    idempotency: idempotency ?? null,
    origin,
    status: "running",
    attempts: 0,
    notBefore: 0,
    answer: null,
    error: null,
    model: null,
    usage: { input_tokens: 0, output_tokens: 0 },
    agentsUsage: { input_tokens: 0, output_tokens: 0 },
    replies: 0,
    createdAt: at,
    finishedAt: null,
    finishedSeq: null,
    notices: [],
    sources,
    ...(carries && { carries }),
    ...before,
  };
}

/** What a row changes in its turn. What gets a step further begins its tries anew. */
function changesOf(turn: Turn, row: EntryRow): Partial<Turn> {
  const further = { attempts: 0, notBefore: 0 };
  switch (row.kind) {
    case "more":
      return { ...further, sources: joinSources(turn.sources, row.body.sources) };
    case "reply": {
      const { model, usage, sources = [], language } = row.body;
      return {
        ...further,
        ...(language && { origin: { ...turn.origin, language } }),
        model: model ?? turn.model,
        usage: addUsage(turn.usage, usage),
        replies: turn.replies + (model === WITHOUT_MODEL ? 0 : 1),
        sources: joinSources(turn.sources, sources),
      };
    }
    case "result":
      return { ...further, agentsUsage: addUsage(turn.agentsUsage, row.body.outcome.usage) };
    case "late":
      return { agentsUsage: addUsage(turn.agentsUsage, row.body.outcome?.usage ?? row.body.usage) };
    case "note":
    case "sources":
      return { sources: joinSources(turn.sources, row.body.sources ?? []) };
    case "notice":
      return { notices: [...turn.notices, row.body] };
    case "pressed":
      return { pressed: [...(turn.pressed ?? []), row.body] };
    case "try":
      return { attempts: row.body.attempts, notBefore: row.body.notBefore ?? 0 };
    case "spent":
      return { usage: addUsage(turn.usage, row.body.usage) };
    case "cancelling":
      return { error: "cancelled" };
    case "meanwhile":
      return { meanwhile: row.body };
    case "told":
      return { told: true };
    case "lost": {
      const { client, ...origin } = turn.origin;
      return { origin: { ...origin, ...(client && { client: { ...client, lost: row.body.lost } }) } };
    }
    case "end": {
      const { status, answer, error, at, unasked, cut, replies, model, usage, agentsUsage, sources } =
        row.body;
      return {
        status,
        answer,
        error: error ?? null,
        finishedAt: at,
        finishedSeq: row.seq,
        replies,
        ...(unasked && { unasked }),
        ...(cut && { cut }),
        ...(model !== undefined && { model }),
        ...(usage && { usage }),
        ...(agentsUsage && { agentsUsage }),
        ...(sources && { sources }),
      };
    }
    default:
      return {};
  }
}

function withQuestion(
  questions: readonly StoredQuestion[],
  row: EntryRow & { kind: "question" | "answer" },
): StoredQuestion[] {
  if (row.kind === "question") {
    const others = questions.filter(({ question }) => question.id !== row.body.id);
    return [...others, { question: row.body, askedSeq: row.seq, closedSeq: null }];
  }
  const { question: id, answer, by, name, how } = row.body;
  return questions.map((one) => {
    if (one.question.id !== id) return one;
    const question = {
      ...one.question,
      answer,
      ...(by !== null && { answered_by: by }),
      ...(name !== undefined && { answered_by_name: name }),
      ...(how !== undefined && { answered_how: how }),
    };
    return { ...one, question, closedSeq: row.seq };
  });
}

function foldEntry(entries: Entries, row: EntryRow): void {
  const { seq, turn } = row;
  const before = entries.get(turn) ?? [];
  switch (row.kind) {
    case "begin": {
      const { text = "", images = [], note } = row.body;
      if (text !== "" || images.length > 0)
        entries.set(turn, [...before, userEntry(seq, turn, text, images)]);
      else if (note !== undefined) entries.set(turn, [...before, { seq, turn, role: "note", text: note }]);
      return;
    }
    case "more": {
      const message = before.find((entry) => entry.role === "user");
      if (message?.role !== "user") return;
      const text = joinedText(message.text, row.body.text);
      const images = [...(message.images ?? []), ...row.body.images].slice(0, MESSAGE_MAX_IMAGES);
      // It is a later message: a reply of the model to the shorter one is dropped, and the model is asked again.
      const others = before.filter((entry) => entry !== message);
      entries.set(turn, [...others, userEntry(seq, turn, text, images)]);
      return;
    }
    case "reply": {
      // One that is beyond the bound of a reply was answered with the reply.
      const calls = row.body.calls.map((call) => ({
        ...call,
        turn,
        submittedAt: null,
        settledAt: null,
        settledSeq: call.outcome ? seq : null,
      }));
      entries.set(turn, [
        ...before,
        { seq, turn, role: "assistant", text: row.body.text, calls, ...replayIn(row) },
      ]);
      return;
    }
    case "result":
    case "late":
      entries.set(
        turn,
        before.map((entry) =>
          entry.role === "assistant" && entry.calls.some(({ id }) => id === row.body.call)
            ? { ...entry, calls: withResultOfEqual(entry.calls, row) }
            : entry,
        ),
      );
      return;
    case "note":
      entries.set(turn, [...before, { seq, turn, role: "note", text: row.body.text }]);
      return;
    case "end":
      if (row.body.says)
        entries.set(turn, [
          ...before,
          { seq, turn, role: "assistant", text: row.body.answer, calls: [], ...replayIn(row) },
        ]);
  }
}

function replayIn({ body: { replay } }: EntryRow & { kind: "reply" | "end" }): { replay?: Replay } {
  return replay ? { replay } : {};
}

function userEntry(seq: number, turn: number, text: string, images: string[]): StoredEntry {
  return { seq, turn, role: "user", text, ...(images.length > 0 && { images }) };
}

function joinedText(text: string, more: string): string {
  return [text, more].filter((one) => one !== "").join("\n\n");
}

/** @property lateBy the ids under which other results of the call were reported after its first one */
export type LateOutcome = Outcome & { lateBy?: string[] };

export function withResult(call: StoredCall, row: EntryRow & { kind: "result" | "late" }): StoredCall {
  if (call.id !== row.body.call) return call;
  if (row.kind === "result") {
    const { outcome, at, submittedAt } = row.body;
    const settled = { submittedAt: submittedAt ?? null, settledAt: at, settledSeq: row.seq };
    return { ...call, ...settled, outcome: readOutcome(outcome) };
  }
  const before: LateOutcome | undefined = call.outcome;
  if (!before) return call;
  const { outcome, by } = row.body;
  const after: LateOutcome = {
    ...(outcome ? { ...outcome, late: true } : before),
    lateBy: [...(before.lateBy ?? []), by],
  };
  return { ...call, outcome: after, settledSeq: row.seq };
}

/** The result of a call is that of the equal ones of its reply too, which have no rows of their own. */
function withResultOfEqual(calls: StoredCall[], row: EntryRow & { kind: "result" | "late" }): StoredCall[] {
  const all = calls.map((call) => withResult(call, row));
  const answered = all.find(({ id }) => id === row.body.call);
  const { outcome } = answered ?? {};
  if (!answered || !outcome) return all;
  const { submittedAt, settledAt, settledSeq } = answered;
  return all.map((call) =>
    call.same === answered.id
      ? { ...call, submittedAt, settledAt, settledSeq, outcome: sharedOutcome(answered, outcome) }
      : call,
  );
}

/** A row of 0.2.0, which names no sources, has the model's advice in its text. */
function readOutcome(outcome: Outcome): Outcome {
  const { status, sources, job, advice, text } = outcome;
  const isMixed = sources === undefined && advice === undefined && (status === "error" || job !== undefined);
  return isMixed ? { ...outcome, ...splitByWords(text) } : outcome;
}

/** The entries of turns that are not in memory, read in one go. Where chats share the object they are held as far as there is room. */
export function readOlder(sql: Sql, cache: RowCache, turns: readonly number[], isShared: boolean): Entries {
  const missing = turns.filter((n) => !cache.older.has(n));
  if (missing.length === 0) return cache.older;
  const { entries, chars } = readEntries(sql, cache, missing);
  const all = new Map([...cache.older, ...entries]);
  if (isShared && cache.olderChars + chars <= OLDER_MAX_CHARS) {
    cache.olderChars += chars;
    for (const n of missing) cache.older.set(n, entries.get(n) ?? []);
  }
  return all;
}

/** The entries between two turns, both included, that are not in memory. */
export function readOlderBetween(sql: Sql, cache: RowCache, first: number, last: number): Entries {
  const turns = [...cache.turns.keys()].filter((n) => n >= first && n <= last && n < cache.from);
  return readEntries(sql, cache, turns).entries;
}

function readEntries(
  sql: Sql,
  { spans }: RowCache,
  turns: readonly number[],
): { entries: Entries; chars: number } {
  const entries: Entries = new Map();
  let chars = 0;
  const places = turns.flatMap((n) => {
    const span = spans.get(n);
    return span ? [[n, span.first, span.last]] : [];
  });
  // The join reads the rows between the two numbers alone.
  const rows = sql.exec<SqlRow>`SELECT entry.* FROM json_each(${JSON.stringify(places)}) AS place
    CROSS JOIN entry WHERE entry.seq BETWEEN place.value ->> 1 AND place.value ->> 2
    AND entry.turn = place.value ->> 0`;
  for (const row of rows) {
    for (const one of rowsIn(row)) foldEntry(entries, one);
    chars += row.body.length;
  }
  return { entries, chars };
}

/** The turn of a call that is not in memory. */
export function findOlderCall(sql: Sql, { from }: RowCache, id: string): number | undefined {
  const rows = sql.exec<{ turn: number; body: string }>`SELECT turn, body FROM entry
    WHERE turn < ${from} AND kind = 'reply' AND instr(body, ${JSON.stringify(id)}) > 0 ORDER BY seq DESC`;
  for (const { turn, body } of rows)
    if ((JSON.parse(body) as Bodies["reply"]).calls.some((call) => call.id === id)) return turn;
  return undefined;
}

/** The texts of the turns whose entries are not in memory, one turn at a time: all of them may be more than memory holds. */
export function* textsOfOlder(sql: Sql, { from }: RowCache): Generator<TurnTexts> {
  const open = new Map<number, TurnTexts>();
  const rows = sql.exec<{ turn: number; kind: Kind; text: string | null }>`SELECT turn, kind, CASE
    WHEN kind IN ('begin', 'more', 'reply') THEN body ->> '$.text'
    WHEN kind = 'end' AND body ->> '$.says' THEN body ->> '$.answer' END AS text FROM entry
    WHERE turn < ${from} AND kind IN ('begin', 'more', 'reply', 'end') ORDER BY seq`;
  for (const { turn, kind, text } of rows) {
    const texts = open.get(turn) ?? { turn, words: undefined, steps: [] };
    if (text !== null && kind === "begin" && text !== "") texts.words = text;
    if (text !== null && kind === "more") texts.words = joinedText(texts.words ?? "", text);
    if (text !== null && (kind === "reply" || kind === "end")) texts.steps.push(text);
    if (kind === "end") {
      open.delete(turn);
      yield texts;
    } else open.set(turn, texts);
  }
  yield* open.values();
}

/** A summary stands for everything before this turn. */
export function dropBefore(cache: RowCache, turn: number): void {
  for (const [n, entries] of cache.entries) {
    if (n >= turn) continue;
    for (const entry of entries)
      if (entry.role === "assistant") for (const { id } of entry.calls) cache.calls.delete(id);
    cache.entries.delete(n);
  }
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

export function addText(texts: TurnTexts, { role, text }: { role: StoredEntry["role"]; text: string }): void {
  if (role === "user") texts.words ??= text;
  if (role === "assistant") texts.steps.push(text);
}
