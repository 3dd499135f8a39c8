/** The transcript of a conversation. Everything here is synchronous, so each method is atomic. */

import type { BudgetKey, Spent } from "@edgecall/core/loop/budget.ts";
import { leftOutNote } from "@edgecall/core/loop/fit.ts";
import type { Entry, Outcome, Summary, Usage } from "@edgecall/core/loop/history.ts";
import { joinSources, type Source } from "@edgecall/core/loop/taint.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import type { TurnQuestion, TurnStatus } from "../../api/answers.ts";
import type { ClientContext, NewOrigin, NewTurn, Origin } from "../../api/turns.ts";
import { FROM_BACKUP } from "../texts.ts";
import { outlineOf, saysAll } from "./client-outline.ts";
import { filesOf } from "./media.ts";
import {
  addText,
  cacheCall,
  cacheMessage,
  cacheQuestion,
  cacheTurn,
  dropBefore,
  loadRows,
  type RowCache,
  readOlder,
  readOlderBetween,
  releaseEnded,
  textsOfOlder,
  toCall,
} from "./row-cache.ts";
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
import { outcomeSources, sourcesOf } from "./sources.ts";

/** Messages that a person sends in a row are joined up to this size. */
const MERGED_MAX_CHARS = 32_000;
const MERGED_MAX_IMAGES = 8;

/** @property from the first entry that it does not tell of; absent in rows of an earlier version */
export type StoredSummary = Summary & { from?: { turn: number; seq: number } };
type SummaryRow = Summary & { from_turn: number | null; from_seq: number | null };

export class Transcript {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #isShared: boolean;
  #cache: RowCache | undefined;
  #seq: number | undefined;

  /** @param isShared chats that know nothing of each other share the object (one-shot.ts) */
  constructor(storage: DurableObjectStorage, isShared = false) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#isShared = isShared;
  }

  #rows(): RowCache {
    this.#cache ??= loadRows(this.#sql, this.#isShared);
    return this.#cache;
  }

  /** One transaction. If it fails, the rows in memory are dropped, and read again. */
  #write<T>(work: () => T): T {
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.#cache = undefined;
      throw error;
    }
  }

  /**
   * Stores a turn, or recognises it by its idempotency key.
   * @returns `as`: what was said is a turn of its own, was joined to the one that waits, or is known
   */
  begin(turn: NewTurn): { turn: Turn; as: "new" | "joined" | "known" } {
    return this.#write(() => {
      const known = turn.idempotency === undefined ? undefined : this.turnByKey(turn.idempotency);
      if (known) return { turn: known, as: "known" };
      const waiting = turn.merge ? this.#unanswered(turn) : undefined;
      if (waiting) {
        this.#addSources(waiting.turn, turn.sources ?? []);
        return { turn: this.#join(waiting, turn), as: "joined" };
      }
      const begun = this.#insertTurn(turn.origin, turn.id, turn.idempotency, turn.sources);
      if (turn.text !== "" || turn.images.length > 0)
        this.#addMessage(begun.n, "user", turn.text, turn.images);
      else if (turn.note !== undefined) this.#addMessage(begun.n, "note", turn.note);
      return { turn: begun, as: "new" };
    });
  }

  /** The newest turn's message, while the model has not answered it and the same person goes on writing. */
  #unanswered({ origin, text, images }: NewTurn): (StoredEntry & { role: "user" }) | undefined {
    const turn = this.turns().at(-1);
    if (turn?.status !== "running" || turn.error !== null) return undefined;
    const entries = this.entriesOf(turn.n);
    const message = entries.find((entry) => entry.role === "user");
    if (!message || entries.some((entry) => entry.role === "assistant")) return undefined;
    const shown = message.images?.length ?? 0;
    const fits =
      message.text.length + text.length < MERGED_MAX_CHARS && shown + images.length <= MERGED_MAX_IMAGES;
    const same = turn.origin.principal === origin.principal && turn.origin.channel === origin.channel;
    return fits && same ? message : undefined;
  }

  /** The message gets a new seq: so a reply of the model to the shorter one is dropped, and the model is asked again. */
  #join(message: StoredEntry & { role: "user" }, more: NewTurn): Turn {
    this.#replaceMessage(message.seq, {
      seq: this.#nextSeq(),
      text: `${message.text}\n\n${more.text}`,
      images: imagesText([...(message.images ?? []), ...more.images]),
    });
    const turn = this.#updateTurn(message.turn, "attempts = 0, not_before = 0");
    if (!turn) throw new Error("a message is of a turn");
    if (more.idempotency !== undefined)
      this.#sql.exec("INSERT INTO merged (idempotency, turn) VALUES (?, ?)", more.idempotency, turn.n);
    return turn;
  }

  /** Adds the pictures of a turn's message, which are here now. @param words in place of those that are missing @param sources of the words */
  addPictures(turn: number, images: readonly string[], words: string, sources: readonly Source[] = []): void {
    this.#write(() => {
      this.#addSources(turn, sources);
      const message = this.entriesOf(turn).find((entry) => entry.role === "user");
      if (message?.role !== "user") return;
      this.#replaceMessage(message.seq, {
        seq: this.#nextSeq(),
        text: [message.text, words].filter((text) => text !== "").join("\n\n"),
        images: imagesText([...(message.images ?? []), ...images].slice(0, MERGED_MAX_IMAGES)),
      });
    });
  }

  /** The turn that was begun, or joined, with this Idempotency-Key. */
  turnByKey(idempotency: string): Turn | undefined {
    const own = this.turns().find((turn) => turn.idempotency === idempotency);
    if (own) return own;
    const [joined] = this.#sql
      .exec<{ turn: number }>("SELECT turn FROM merged WHERE idempotency = ?", idempotency)
      .toArray();
    return joined && this.turnAt(joined.turn);
  }

  /** The principal of the first turn, whose conversation this is. */
  beganBy(): string | undefined {
    return this.turns()[0]?.origin.principal;
  }

  turn(id: string): Turn | undefined {
    const { turns, byId } = this.#rows();
    return turns.get(byId.get(id) ?? -1);
  }

  /** The turn whose step is due: the oldest that is not finished. */
  currentTurn(): Turn | undefined {
    for (const turn of this.#rows().turns.values()) if (turn.status === "running") return turn;
    return undefined;
  }

  turns(): Turn[] {
    return [...this.#rows().turns.values()];
  }

  turnAt(n: number): Turn | undefined {
    return this.#rows().turns.get(n);
  }

  /** The turn of a call. @param ref as `callRef` makes it */
  turnOfCall(ref: string): number | undefined {
    const id = `${ref.slice(0, 8)}-${ref.slice(8)}`;
    const [row] = this.#sql
      .exec<{ turn: number }>(
        "SELECT turn FROM call WHERE id BETWEEN ? AND ? ORDER BY turn DESC LIMIT 1",
        id,
        `${id}~`,
      )
      .toArray();
    return row?.turn;
  }

  /** The context that the client of a turn sent, with its texts. */
  clientContextOf({ n, origin }: Turn): ClientContext {
    const outline = origin.brought;
    if (!outline) return {};
    const { clientTools, results, history, answers: _, ...rest } = outline;
    const [row] = this.#sql.exec<{ what: string }>("SELECT what FROM brought WHERE turn = ?", n).toArray();
    if (row) return JSON.parse(row.what) as ClientContext;
    // Without a row of its own, the outline says it all.
    return { ...rest, ...(history && { history: history.map((turn) => ({ turn })) }) };
  }

  /** The texts of each turn, in no order. */
  *texts(): Generator<TurnTexts> {
    const cache = this.#rows();
    const { turns, entries, from } = cache;
    const [first = from] = turns.keys();
    if (first < from) yield* textsOfOlder(this.#sql, cache);
    for (const turn of turns.keys()) {
      if (turn < from) continue;
      const texts: TurnTexts = { turn, words: undefined, steps: [] };
      for (const entry of entries.get(turn) ?? []) addText(texts, entry);
      yield texts;
    }
  }

  /** The characters in the rows of the turns, which are held in memory. */
  heldChars(): number {
    return [...this.#rows().chars.values()].reduce((sum, chars) => sum + chars, 0);
  }

  /** No turn runs: what is shown to no model is held no longer. */
  release(): void {
    if (this.#cache && this.#isShared) releaseEnded(this.#cache);
  }

  /**
   * The conversation up to and with a turn, as the model is shown it: the first entries, a note in place of what the
   * summary tells of, and the rest. Later turns that wait are not in the history yet.
   */
  shownUpTo(turn: number, keepFirst: number): StoredEntry[] {
    const summary = this.summary();
    const from = summary?.from;
    if (!summary || !from) return this.entriesBetween(0, turn);
    const first: StoredEntry[] = [];
    for (const { n } of this.turns()) {
      if (n >= from.turn || first.length >= keepFirst) break;
      first.push(...this.entriesOf(n));
    }
    const rest = this.entriesBetween(from.turn, turn).filter(
      (entry) => entry.turn > from.turn || entry.seq >= from.seq,
    );
    const note = leftOutNote({ turns: summary.turns, summary: { turns: summary.turns, text: summary.text } });
    return [...first.slice(0, keepFirst), { ...note, seq: 0, turn: 0 }, ...rest];
  }

  /** Of all turns between two, both included, turn after turn: a later one may have been asked before an earlier one is over. */
  entriesBetween(first: number, last: number): StoredEntry[] {
    const cache = this.#rows();
    const { turns, entries, from } = cache;
    const older = first < from ? readOlderBetween(this.#sql, cache, first, last) : undefined;
    const all: StoredEntry[] = [];
    for (const n of turns.keys())
      if (n >= first && n <= last) all.push(...((n < from ? older : entries)?.get(n) ?? []));
    return all;
  }

  entriesOf(turn: number): StoredEntry[] {
    const { entries, from } = this.#rows();
    return [...((turn >= from ? entries : this.entriesOfAll([turn])).get(turn) ?? [])];
  }

  /** By the numbers of their turns. */
  entriesOfAll(wanted: readonly number[]): Map<number, readonly StoredEntry[]> {
    const cache = this.#rows();
    const { turns, entries, from } = cache;
    const older = wanted.filter((n) => n < from && turns.has(n));
    const read = older.length > 0 ? readOlder(this.#sql, cache, older, this.#isShared) : undefined;
    return new Map(wanted.map((n) => [n, (n < from ? read : entries)?.get(n) ?? []]));
  }

  call(id: string): StoredCall | undefined {
    const [row] = this.#sql.exec<CallRow>("SELECT * FROM call WHERE id = ?", id).toArray();
    return row && toCall(row);
  }

  /** @returns false when the question was here before */
  addQuestion(question: TurnQuestion, turn: number): boolean {
    const { id, call, expires_at, ...asked } = question;
    return (
      this.#writeQuestion(
        `INSERT INTO question (id, turn, call, asked, expires_at, asked_seq) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING *`,
        id,
        turn,
        call,
        JSON.stringify(asked),
        expires_at,
        this.#nextSeq(),
      ) !== undefined
    );
  }

  /** @returns the turn of the question; undefined: it has its answer, or there is none */
  closeQuestion(id: string, answer: string, by: string | null): Turn | undefined {
    const closed = this.#writeQuestion(
      "UPDATE question SET answer = ?, answered_by = ?, closed_seq = ? WHERE id = ? AND answer IS NULL RETURNING *",
      answer,
      by,
      this.#nextSeq(),
      id,
    );
    return closed && this.turnAt(closed.turn);
  }

  #writeQuestion(sql: string, ...values: SqlStorageValue[]): QuestionRow | undefined {
    const [row] = this.#sql.exec<QuestionRow>(sql, ...values).toArray();
    if (row) cacheQuestion(this.#rows(), row);
    return row;
  }

  questionsOf(turn: number): StoredQuestion[] {
    return this.#rows().questions.get(turn) ?? [];
  }

  /** A question, and the principal that began its turn. */
  question(id: string): { question: TurnQuestion; principal: string } | undefined {
    for (const turn of this.turns().toReversed()) {
      const found = this.questionsOf(turn.n).find(({ question }) => question.id === id);
      if (found) return { question: found.question, principal: turn.origin.principal };
    }
    return undefined;
  }

  /** Counts a try at the current step, before it is made, so that a crash cannot hide it. */
  countAttempt(turn: number): number {
    const counted = this.#updateTurn(turn, "attempts = attempts + 1, not_before = 0");
    if (!counted) throw new Error(`no turn ${turn}`);
    return counted.attempts;
  }

  /** A step got somewhere without an answer of the model: the next one starts with all its tries. */
  progressed(turn: number): void {
    this.#updateTurn(turn, "attempts = 0");
  }

  /** The next try waits until then. */
  postpone(turn: number, notBefore: number): void {
    this.#updateTurn(turn, "not_before = ?", notBefore);
  }

  /** The sources of the texts that came into the conversation with a turn, as far as it has come. */
  sourcesOf(turn: Turn): Source[] {
    // The row of a finished turn has its sources: its entries need not be read.
    if (turn.status !== "running") return turn.sources;
    return joinSources(turn.sources, sourcesOf(this.entriesOf(turn.n)));
  }

  /** Somebody's text came into a turn otherwise than by its entries. */
  #addSources(n: number, sources: readonly Source[]): void {
    const turn = this.turnAt(n);
    if (!turn || sources.every((source) => turn.sources.includes(source))) return;
    this.#updateTurn(n, "sources = ?", JSON.stringify(joinSources(turn.sources, sources)));
  }

  /**
   * Ends a model step: the reply and its calls, in one transaction.
   * @param shown whose texts the model was shown beside the history
   * @returns the seq of the message, or undefined when the turn has moved on meanwhile (a cancel): then it is dropped
   */
  addReply(
    turn: number,
    after: number | null,
    reply: Entry & { role: "assistant" },
    model: string,
    usage: Usage | undefined,
    shown: readonly Source[] = [],
  ): number | undefined {
    return this.#write(() => {
      const last = this.entriesOf(turn).findLast((entry) => entry.role !== "note")?.seq ?? null;
      const before = this.turnAt(turn);
      if (before?.status !== "running" || last !== after) return undefined;
      const seq = this.#addMessage(turn, "assistant", reply.text);
      for (const [position, call] of reply.calls.entries()) {
        const rows = this.#sql.exec<CallRow>(
          "INSERT INTO call (id, turn, message, position, model_call_id, name, args, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
          call.id,
          turn,
          seq,
          position,
          call.modelCallId,
          call.name,
          JSON.stringify(call.args),
          call.problem ?? null,
        );
        cacheCall(this.#rows(), rows.one());
      }
      this.#updateTurn(
        turn,
        "attempts = 0, model = ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, sources = ?",
        model,
        usage?.input_tokens ?? 0,
        usage?.output_tokens ?? 0,
        JSON.stringify(joinSources(before.sources, shown)),
      );
      return seq;
    });
  }

  /**
   * Answers a call; the first answer counts.
   * @param submittedAt when it went out (epoch ms), where that is known
   * @returns n of its turn, or undefined: it was answered before
   */
  settle(callId: string, outcome: Outcome, submittedAt?: number): number | undefined {
    const settled = this.#updateCall(
      callId,
      "outcome = ?, submitted_at = ?, settled_at = ?, settled_seq = ?",
      "outcome IS NULL",
      JSON.stringify(outcome),
      submittedAt ?? null,
      Date.now(),
      this.#nextSeq(),
    );
    if (settled && this.turnAt(settled.turn)?.status !== "running")
      this.#addSources(settled.turn, outcomeSources(toCall(settled), outcome));
    return settled?.turn;
  }

  /**
   * A result that comes after the call had an answer. It takes the place of one that was only accepted or is
   * unknown; beside any other (a device's own loop began a job) it stands alone. The model is told by a note, in
   * the turn that runs (or the last one), or as a turn of its own.
   * @param by the id under which it was reported
   * @param ownTurn `apart`: the turn goes on from the one that asked, whatever came between them
   * @returns false when it was here before
   */
  settleLate(
    callId: string,
    by: string,
    outcome: Outcome,
    note: string,
    ownTurn: "next" | "apart" | undefined,
  ): boolean {
    return this.#write(() => {
      const call = this.call(callId);
      const before: (Outcome & { lateBy?: string[] }) | undefined = call?.outcome;
      if (!call || !before || before.lateBy?.includes(by)) return false;
      const lateBy = [...(before.lateBy ?? []), by];
      const stands =
        before.job === undefined && before.errorType !== "outcome_unknown" && before.errorType !== "timeout";
      this.#updateCall(
        callId,
        "outcome = ?, settled_seq = ?",
        "TRUE",
        JSON.stringify({ ...(stands ? before : { ...outcome, late: true }), lateBy }),
        this.#nextSeq(),
      );
      const asked = this.turnAt(call.turn);
      const turn =
        ownTurn && asked
          ? this.#insertTurn(jobOrigin(asked, this.clientContextOf(asked), outcome, ownTurn === "apart")).n
          : (this.currentTurn()?.n ?? this.turns().at(-1)?.n ?? 0);
      this.#addMessage(turn, "note", note);
      // It is read in both: in the note, and where it took the place of the first answer.
      const sources = outcomeSources(call, outcome);
      for (const n of new Set([turn, call.turn])) this.#addSources(n, sources);
      return true;
    });
  }

  #insertTurn(
    { brought, ...origin }: NewOrigin,
    id: string = crypto.randomUUID(),
    idempotency?: string,
    sources: Source[] = [],
  ): Turn {
    const stored: Origin = { ...origin, ...(brought && { brought: outlineOf(brought) }) };
    const rows = this.#sql.exec<TurnRow>(
      "INSERT INTO turn (id, idempotency, origin, status, created_at, sources) VALUES (?, ?, ?, 'running', ?, ?) RETURNING *",
      id,
      idempotency ?? null,
      JSON.stringify(stored),
      Date.now(),
      JSON.stringify(sources),
    );
    const turn = cacheTurn(this.#rows(), rows.one());
    if (brought && !saysAll(brought))
      this.#sql.exec("INSERT INTO brought (turn, what) VALUES (?, ?)", turn.n, JSON.stringify(brought));
    return turn;
  }

  /** @param set assignments in SQL, with `?` for the values @returns the turn as it is now */
  #updateTurn(n: number, set: string, ...values: SqlStorageValue[]): Turn | undefined {
    const rows = this.#sql.exec<TurnRow>(`UPDATE turn SET ${set} WHERE n = ? RETURNING *`, ...values, n);
    const [row] = rows.toArray();
    return row && cacheTurn(this.#rows(), row);
  }

  /** The message says something else, and later than before. */
  #replaceMessage(was: number, { seq, text, images }: Pick<MessageRow, "seq" | "text" | "images">): void {
    const rows = this.#sql.exec<MessageRow>(
      "UPDATE message SET seq = ?, text = ?, images = ? WHERE seq = ? RETURNING *",
      seq,
      text,
      images,
      was,
    );
    cacheMessage(this.#rows(), rows.one(), was);
  }

  /**
   * @param set assignments in SQL, with `?` for the values
   * @param only a condition in SQL beside the id
   * @returns the call as it is now, or undefined: `only` did not hold, or there is none
   */
  #updateCall(id: string, set: string, only: string, ...values: SqlStorageValue[]): CallRow | undefined {
    const rows = this.#sql.exec<CallRow>(
      `UPDATE call SET ${set} WHERE ${only} AND id = ? RETURNING *`,
      ...values,
      id,
    );
    const [row] = rows.toArray();
    if (row) cacheCall(this.#rows(), row);
    return row;
  }

  /** @returns its seq */
  #addMessage(turn: number, role: MessageRow["role"], text: string, images: string[] = []): number {
    const seq = this.#nextSeq();
    const rows = this.#sql.exec<MessageRow>(
      "INSERT INTO message (seq, turn, role, text, images) VALUES (?, ?, ?, ?, ?) RETURNING *",
      seq,
      turn,
      role,
      text,
      imagesText(images),
    );
    const cache = this.#rows();
    cacheMessage(cache, rows.one());
    if (role === "assistant" && cache.replies !== undefined) cache.replies += 1;
    return seq;
  }

  /** The tokens and model calls of a turn and of its conversation. @param chat the turns of the conversation, where others are in the object */
  spent(turn: number, chat?: readonly Turn[]): { turn: Spent; conversation: Spent } {
    const tokens = (turns: readonly Turn[]) =>
      turns.reduce((total, { usage }) => total + usage.input_tokens + usage.output_tokens, 0);
    const replies = this.entriesOf(turn).filter(({ role }) => role === "assistant").length;
    const others = chat?.flatMap(({ n }) => (n === turn ? [] : [n]));
    return {
      turn: { tokens: tokens(this.turns().filter(({ n }) => n === turn)), modelCalls: replies },
      conversation: {
        tokens: tokens(chat ?? this.turns()),
        modelCalls: others ? replies + this.#repliesBefore(turn, others) : this.#replies(),
      },
    };
  }

  /** The number of the model's replies in all. */
  #replies(): number {
    const cache = this.#rows();
    cache.replies ??=
      cache.from > 0
        ? this.#sql
            .exec<{ count: number }>("SELECT COUNT(*) AS count FROM message WHERE role = 'assistant'")
            .one().count
        : [...cache.entries.values()].flat().filter(({ role }) => role === "assistant").length;
    return cache.replies;
  }

  /** The number of the model's replies in the turns that a turn goes on from. They have ended, so they are counted once. */
  #repliesBefore(turn: number, turns: readonly number[]): number {
    const cache = this.#rows();
    if (cache.repliesBefore?.turn === turn) return cache.repliesBefore.count;
    const { count } = this.#sql
      .exec<{ count: number }>(
        "SELECT COUNT(*) AS count FROM message WHERE role = 'assistant' AND turn IN (SELECT value FROM json_each(?))",
        JSON.stringify(turns),
      )
      .one();
    cache.repliesBefore = { turn, count };
    return count;
  }

  /** Budgets that the person was told of, in this turn or, for the conversation's, in any. @param chat as for `spent` */
  notices(turn: number, chat: readonly Turn[] = this.turns()): BudgetKey[] {
    return chat.flatMap(({ n, notices }) =>
      notices.flatMap(({ keys }) => keys.filter((key) => n === turn || !key.startsWith("turn."))),
    );
  }

  notify(turn: number, text: string, keys: BudgetKey[]): void {
    const notice = JSON.stringify({ text, keys } satisfies Notice);
    this.#updateTurn(turn, "notices = json_insert(notices, '$[#]', json(?))", notice);
  }

  /** The newest summary of what no longer fits. */
  summary(): StoredSummary | undefined {
    const [row] = this.#sql
      .exec<SummaryRow>("SELECT turns, text, from_turn, from_seq FROM summary ORDER BY turns DESC LIMIT 1")
      .toArray();
    if (!row) return undefined;
    const { turns, text, from_turn, from_seq } = row;
    const isKnown = from_turn !== null && from_seq !== null;
    return { turns, text, ...(isKnown && { from: { turn: from_turn, seq: from_seq } }) };
  }

  /** Notes where a summary of an earlier version ends. @param from the first entry that it does not tell of */
  summaryEnds({ turns }: Summary, from: StoredEntry): void {
    this.#sql.exec(
      "UPDATE summary SET from_turn = ?, from_seq = ? WHERE turns = ?",
      from.turn,
      from.seq,
      turns,
    );
    dropBefore(this.#rows(), from.turn);
  }

  /**
   * @param turn that the summary was made for, and that pays for it
   * @param from the first entry that it does not tell of
   */
  summarise(summary: Summary, turn: number, from: StoredEntry, usage: Usage | undefined): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO summary (turns, text, created_at, from_turn, from_seq) VALUES (?, ?, ?, ?, ?)",
      summary.turns,
      summary.text,
      Date.now(),
      from.turn,
      from.seq,
    );
    dropBefore(this.#rows(), from.turn);
    this.#updateTurn(
      turn,
      "input_tokens = input_tokens + ?, output_tokens = output_tokens + ?",
      usage?.input_tokens ?? 0,
      usage?.output_tokens ?? 0,
    );
  }

  /**
   * Notes that a turn is to be cancelled: a running turn that has its `error` already ends with that, whatever
   * becomes of the object that is about to end it.
   */
  cancelling(turn: number): void {
    if (this.turnAt(turn)?.status === "running") this.#updateTurn(turn, "error = 'cancelled'");
  }

  /** True if the client of a turn left without its answer. */
  clientLost(turn: number, lost: boolean): void {
    this.#updateTurn(turn, "origin = json_set(origin, '$.client.lost', json(?))", String(lost));
  }

  /** Ends a turn that is running; the reply that has to be sent is stored in the same transaction. */
  finish(turn: Turn, status: Exclude<TurnStatus, "running">, answer: string, error?: string): boolean {
    return this.#write(() => {
      const before = this.turnAt(turn.n);
      if (before?.status !== "running") return false;
      this.#updateTurn(
        turn.n,
        "status = ?, answer = ?, error = ?, finished_at = ?, finished_seq = ?, sources = ?",
        status,
        answer,
        error ?? null,
        Date.now(),
        this.#nextSeq(),
        JSON.stringify(this.sourcesOf(before)),
      );
      // The person has read it, so it belongs to the history; many endpoints also refuse two user messages in a row.
      if (status !== "done") this.#addMessage(turn.n, "assistant", answer);
      if (turn.origin.reply) {
        this.#sql.exec(
          "INSERT INTO reply (turn, address, text) VALUES (?, ?, ?)",
          turn.n,
          JSON.stringify(turn.origin.reply),
          answer,
        );
      }
      return true;
    });
  }

  /**
   * Deletes turns that ended before a time (epoch ms) and that no later turn goes on from. What a chat still goes on from stays: its
   * sources are the chat's.
   */
  dropEnded(before: number): void {
    const turns = this.turns();
    const inUse = new Set<string>();
    const old = turns.toReversed().filter((turn) => {
      const stays = turn.finishedAt === null || turn.finishedAt > before || inUse.has(turn.id);
      const { after, history = [] } = turn.origin.brought ?? {};
      if (!stays) return true;
      if (after !== undefined) inUse.add(after);
      for (const id of history) inUse.add(id);
      return false;
    });
    if (old.length === 0) return;
    this.#write(() => {
      for (const { n } of old) {
        this.#sql.exec("DELETE FROM turn WHERE n = ?", n);
        for (const table of ["message", "call", "question", "merged", "brought"])
          this.#sql.exec(`DELETE FROM ${table} WHERE turn = ?`, n);
      }
    });
    this.forget();
  }

  /** Of a back-up: what became of its turns was said long ago, and their calls may have been made. */
  giveUpAll(): void {
    const words = errorText.outcomeUnknown("this call, which was under way when the back-up was made,");
    for (const turn of this.turns().filter(({ status }) => status === "running")) {
      for (const entry of this.entriesOf(turn.n)) {
        if (entry.role !== "assistant") continue;
        for (const { id, outcome } of entry.calls)
          if (!outcome)
            this.settle(id, { status: "error", errorType: "outcome_unknown", ...words, elapsedMs: 0 });
      }
      this.finish(turn, "failed", FROM_BACKUP, "restored");
    }
  }

  /** One instance writes, so the counter may live in memory; a rebuilt object reads where it stood. */
  #nextSeq(): number {
    this.#seq ??= this.#lastStoredSeq();
    this.#seq += 1;
    return this.#seq;
  }

  #lastStoredSeq(): number {
    const { turns, entries, questions } = this.#rows();
    const { last } = this.#sql.exec<{ last: number | null }>("SELECT MAX(seq) AS last FROM message").one();
    const ends = [...turns.values()].map((turn) => turn.finishedSeq ?? 0);
    // A late result of an older turn brings a note, which is the later one of the two.
    const settled = [...entries.values()]
      .flat()
      .flatMap((entry) =>
        entry.role === "assistant" ? entry.calls.map(({ settledSeq }) => settledSeq ?? 0) : [],
      );
    const asked = [...questions.values()]
      .flat()
      .map(({ askedSeq, closedSeq }) => Math.max(askedSeq, closedSeq ?? 0));
    return [...ends, ...settled, ...asked].reduce((most, seq) => Math.max(most, seq), last ?? 0);
  }

  /** The newest seq. */
  lastSeq(): number {
    const next = this.#nextSeq();
    this.#seq = next - 1;
    return next - 1;
  }

  /** After everything was deleted. */
  forget(): void {
    this.#seq = undefined;
    this.#cache = undefined;
  }
}

function imagesText(images: readonly string[]): string | null {
  return images.length > 0 ? JSON.stringify(images) : null;
}

/**
 * The origin of a turn that a job's result sets off. `late`: its first answer was said long ago, this is another message.
 * No client waits for this turn, so it has none of the client's request: no tools, no choice among them, no history.
 */
function jobOrigin(
  asked: Turn,
  { instructions }: ClientContext,
  outcome: Outcome,
  isApart: boolean,
): NewOrigin {
  const { reply, client: _, brought: __, ...origin } = asked.origin;
  const brought = {
    ...(instructions !== undefined && { instructions }),
    ...(isApart && { after: asked.id }),
  };
  return {
    ...origin,
    ...(Object.keys(brought).length > 0 && { brought }),
    event: "job",
    files: filesOf(outcome),
    ...(reply && { reply: { ...reply, late: true } }),
  };
}
