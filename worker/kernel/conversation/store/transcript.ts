/**
 * The transcript of a conversation. Everything here is synchronous, so each method is atomic. What happens in a turn is a row
 * that is appended; no row is changed.
 */

import type { BudgetKey, Spent } from "@edgecall/core/loop/budget.ts";
import { leftOutNote } from "@edgecall/core/loop/fit.ts";
import {
  addUsage,
  type Entry,
  type Outcome,
  type Summary,
  tokensOf,
  type Usage,
} from "@edgecall/core/loop/history.ts";
import { joinSources, type Source } from "@edgecall/core/loop/taint.ts";
import { WITHOUT_MODEL } from "@edgecall/core/loop/without-model.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import type { AskedPerson, TurnQuestion, TurnStatus } from "../../api/answers.ts";
import type { PressedButton, RuleButton } from "../../api/notices.ts";
import type { AnsweredBy } from "../../api/questions.ts";
import type { ClientContext, NewOrigin, NewTurn, Origin } from "../../api/turns.ts";
import { SqlStore } from "../../sql-store.ts";
import { outlineOf, saysAll } from "./client-outline.ts";
import { filesOf } from "./media.ts";
import { gatherPast } from "./past.ts";
import {
  addText,
  dropBefore,
  findOlderCall,
  fold,
  type LateOutcome,
  loadRows,
  readOlder,
  readOlderBetween,
  releaseEnded,
  textsOfOlder,
} from "./row-cache.ts";
import type {
  Bodies,
  Kind,
  Meanwhile,
  Notice,
  RowCache,
  StoredCall,
  StoredEntry,
  StoredQuestion,
  StoredSummary,
  Turn,
  TurnTexts,
} from "./rows.ts";
import { outcomeSources, sourcesOf } from "./sources.ts";
import { Tables } from "./tables.ts";

/** Messages that a person sends in a row are joined up to this size. */
const MERGED_MAX_CHARS = 32_000;
const MERGED_MAX_IMAGES = 8;
/** Buttons of rules are looked for in so many of the newest turns. */
const PRESSED_WITHIN = 100;

/** A reply of the model, and what it was made of. */
export type ModelReply = {
  /** Seq of the last entry that the model was shown of the turn, without notes. */
  after: number | null;
  reply: Entry & { role: "assistant" };
  model: string;
  usage: Usage | undefined;
  /** Of the person's sentence, where the turn did not know it before: what its calls lead to is said in it. */
  language?: Language | undefined;
  /** Whose texts the model was shown beside the history. */
  shown?: readonly Source[];
  /** It was offered devices, and none was asked since the person's message. */
  unasked?: boolean;
  /** Its words were shown in the chat already, as those of the rules that it made. */
  told?: boolean;
};

export class Transcript extends SqlStore {
  readonly #storage: DurableObjectStorage;
  readonly #isShared: boolean;
  readonly #tables: Tables;
  #cache: RowCache | undefined;
  /** A result that is in memory, and is written with the next row. */
  #unwritten: { seq: number; turn: number; text: string } | undefined;

  /** @param isShared chats that know nothing of each other share the object (one-shot.ts) */
  constructor(storage: DurableObjectStorage, isShared = false, tables = new Tables(storage)) {
    super(storage);
    this.#storage = storage;
    this.#isShared = isShared;
    this.#tables = tables;
  }

  #rows(): RowCache {
    this.#cache ??= loadRows(this.sql, this.#tables, this.#isShared);
    return this.#cache;
  }

  /** Writes a row, then folds it into memory. @returns its seq */
  #append<K extends Kind>(turn: number, kind: K, body: Bodies[K]): number {
    const cache = this.#rows();
    const takes = kind === "reply" || kind === "end";
    if (!takes || this.#unwritten?.turn !== turn) this.writeAll();
    const row = { seq: cache.seq + 1, turn, kind, body: JSON.stringify(body) };
    const { seq, text } = this.#unwritten ?? {};
    this.#insert(text === undefined ? row : { ...row, body: withSettled(row.body, seq, text) });
    this.#unwritten = undefined;
    fold(cache, row);
    return row.seq;
  }

  #insert({ seq, turn, kind, body }: { seq: number; turn: number; kind: Kind; body: string }): void {
    this.#tables.need("entry");
    this.sql.insert("INTO entry", { seq, turn, kind, body });
  }

  /** Writes what is in memory alone. */
  writeAll(): void {
    const result = this.#unwritten;
    if (!result) return;
    this.#insert({ seq: result.seq, turn: result.turn, kind: "result", body: result.text });
    this.#unwritten = undefined;
  }

  /**
   * One transaction. If it fails, the rows in memory are dropped, and read again.
   * @param isSingle it writes one row at most, which needs no savepoint
   */
  #write<T>(work: () => T, isSingle = false): T {
    try {
      return isSingle ? work() : this.#storage.transactionSync(work);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /**
   * Stores a turn, or recognises it by its idempotency key.
   * @param carries the numbers of earlier turns whose answers a new turn's client gets with its own
   * @returns `as`: what was said is a turn of its own, was joined to the one that waits, or is known
   */
  begin(turn: NewTurn, carries: number[] = []): { turn: Turn; as: "new" | "joined" | "known" } {
    const isSingle = this.#tables.has("entry") && turn.origin.brought === undefined;
    return this.#write(() => {
      const known = turn.idempotency === undefined ? undefined : this.turnByKey(turn.idempotency);
      if (known) return { turn: known, as: "known" };
      const waiting = turn.merge ? this.#unanswered(turn) : undefined;
      if (waiting) {
        const { text, images, idempotency, sources = [] } = turn;
        this.#append(waiting.turn, "more", { text, images, sources, ...(idempotency && { idempotency }) });
        return { turn: this.#turnAt(waiting.turn), as: "joined" };
      }
      return { turn: this.#beginTurn(turn, carries), as: "new" };
    }, isSingle);
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

  /** Adds the pictures of a turn's message, which are here now. @param words in place of those that are missing @param sources of the words */
  addPictures(turn: number, images: string[], words: string, sources: Source[] = []): void {
    this.#append(turn, "more", { text: words, images, sources });
  }

  /** The turn that was begun, or joined, with this Idempotency-Key. */
  turnByKey(idempotency: string): Turn | undefined {
    return this.turnAt(this.#rows().byKey.get(idempotency) ?? -1);
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

  /** A turn that is there. */
  #turnAt(n: number): Turn {
    const turn = this.turnAt(n);
    if (!turn) throw new Error(`no turn ${n}`);
    return turn;
  }

  /** The turn that handed a call over to its caller. @param ref as `callRef` makes it */
  turnOfCall(ref: string): number | undefined {
    return this.#rows().byRef.get(ref);
  }

  /** The context that the client of a turn sent, with its texts. */
  clientContextOf({ n, origin }: Turn): ClientContext {
    const outline = origin.brought;
    if (!outline) return {};
    const { clientTools, results, history, answers: _, ...rest } = outline;
    const [row] = this.#tables.has("brought")
      ? this.sql.all<{ what: string }>("SELECT what FROM brought WHERE turn = ?", n)
      : [];
    if (row) return JSON.parse(row.what) as ClientContext;
    // Without a row of its own, the outline says it all.
    return { ...rest, ...(history && { history: history.map((turn) => ({ turn })) }) };
  }

  /** The texts of each turn, in no order. */
  *texts(): Generator<TurnTexts> {
    const cache = this.#rows();
    const { turns, entries, from } = cache;
    const [first = from] = turns.keys();
    if (first < from) yield* textsOfOlder(this.sql, cache);
    for (const turn of turns.keys()) {
      if (turn < from) continue;
      const texts: TurnTexts = { turn, words: undefined, steps: [] };
      for (const entry of entries.get(turn) ?? []) addText(texts, entry);
      yield texts;
    }
  }

  /** The characters that are held in memory for the turns. */
  heldChars(): number {
    return [...this.#rows().chars.values()].reduce((sum, chars) => sum + chars, 0);
  }

  /** No turn runs: what is shown to no model is held no longer, and ended turns are gathered. */
  release(): void {
    const cache = this.#cache;
    if (!cache) return;
    if (this.#isShared) releaseEnded(cache);
    this.#write(() => gatherPast(this.sql, this.#tables, cache));
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
    const older = first < from ? readOlderBetween(this.sql, cache, first, last) : undefined;
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
    const read = older.length > 0 ? readOlder(this.sql, cache, older, this.#isShared) : undefined;
    return new Map(wanted.map((n) => [n, (n < from ? read : entries)?.get(n) ?? []]));
  }

  call(id: string): StoredCall | undefined {
    const turn = this.heldTurnOf(id) ?? findOlderCall(this.sql, this.#rows(), id);
    if (turn === undefined) return undefined;
    for (const entry of this.entriesOf(turn)) {
      const found = entry.role === "assistant" && entry.calls.find((call) => call.id === id);
      if (found) return found;
    }
    return undefined;
  }

  /** The turn of a call whose entries are in memory, as those of a turn that runs are. */
  heldTurnOf(callId: string): number | undefined {
    return this.#rows().calls.get(callId);
  }

  /** @returns false when the question was here before */
  addQuestion(question: TurnQuestion, turn: number): boolean {
    if (this.#questionAt(question.id)) return false;
    this.#append(turn, "question", question);
    return true;
  }

  /** More people were asked. @returns the turn of the question; undefined: it has its answer, or there is none */
  noteAsked(id: string, people: readonly AskedPerson[]): Turn | undefined {
    const found = this.#questionAt(id);
    if (!found || found.question.answer !== undefined) return undefined;
    this.#append(found.turn, "question", { ...found.question, asked: [...people] });
    return this.turnAt(found.turn);
  }

  /** @returns the turn of the question; undefined: it has its answer, or there is none */
  closeQuestion(id: string, answer: string, { by, name, how }: AnsweredBy): Turn | undefined {
    const asked = this.#questionAt(id);
    if (!asked || asked.question.answer !== undefined) return undefined;
    this.#append(asked.turn, "answer", {
      question: id,
      answer,
      by,
      ...(name !== undefined && { name }),
      ...(how !== undefined && { how }),
    });
    return this.turnAt(asked.turn);
  }

  #questionAt(id: string): { turn: number; question: TurnQuestion } | undefined {
    for (const [turn, questions] of this.#rows().questions) {
      const found = questions.find(({ question }) => question.id === id);
      if (found) return { turn, question: found.question };
    }
    return undefined;
  }

  /** The calls of the turns that began after a time (epoch ms). */
  callsSince(time: number): StoredCall[] {
    const turns = this.turns().filter(({ createdAt }) => createdAt >= time);
    return [...this.entriesOfAll(turns.map(({ n }) => n)).values()]
      .flat()
      .flatMap((entry) => (entry.role === "assistant" ? entry.calls : []));
  }

  /** The ids of the calls that began sessions of their own. */
  spawned(): string[] {
    if (!this.#tables.has("entry")) return [];
    return this.sql
      .all<{ id: string }>(`SELECT call.value ->> '$.id' AS id FROM entry, json_each(body, '$.calls') AS call
         WHERE kind = 'reply' AND call.value ->> '$.name' = 'sessions_spawn'`)
      .map(({ id }) => id);
  }

  /** Turns that ended and that a tool began, and whoever used it does not know it yet. */
  endsToNotify(): Turn[] {
    return this.turns().filter(({ status, told, origin }) => status !== "running" && !told && origin.session);
  }

  /** Whoever began turns here is forgotten. */
  forgetParents(): void {
    for (const { n, origin } of this.turns()) if (origin.session) this.markNotified(n);
  }

  markNotified(n: number): void {
    const turn = this.turnAt(n);
    if (turn && !turn.told) this.#append(n, "told", {});
  }

  questionsOf(turn: number): StoredQuestion[] {
    return this.#rows().questions.get(turn) ?? [];
  }

  /** A question, and the principal that began its turn. */
  question(id: string): { question: TurnQuestion; principal: string } | undefined {
    const found = this.#questionAt(id);
    return found && { question: found.question, principal: this.#turnAt(found.turn).origin.principal };
  }

  /**
   * Counts a try at the current step, before it is made. A first try has no row: an object that was rebuilt takes it for
   * made. Each later one has, so a step that ends the object each time is not tried for ever.
   * @returns tries of the step, with this one
   */
  countAttempt(n: number): number {
    const turn = this.#turnAt(n);
    const attempts = turn.attempts + 1;
    if (attempts > 1) this.#append(n, "try", { attempts });
    else this.#rows().turns.set(n, { ...turn, attempts });
    return attempts;
  }

  /** The next try waits until then (epoch ms). */
  postpone(n: number, notBefore: number): void {
    this.#append(n, "try", { attempts: this.#turnAt(n).attempts, notBefore });
  }

  /** The sources of the texts that came into the conversation with a turn, as far as it has come. */
  sourcesOf(turn: Turn): Source[] {
    // The end of a turn has its sources: its entries need not be read.
    if (turn.status !== "running") return turn.sources;
    return joinSources(turn.sources, sourcesOf(this.entriesOf(turn.n)));
  }

  /** Somebody's text came into a turn otherwise than by its entries. */
  #addSources(n: number, sources: readonly Source[]): void {
    const turn = this.turnAt(n);
    if (turn && !sources.every((source) => turn.sources.includes(source)))
      this.#append(n, "sources", { sources: [...sources] });
  }

  /**
   * Ends a model step: the reply and its calls, in one row.
   * @returns its seq, or undefined when the turn has moved on meanwhile (a cancel, a longer message): then it is dropped
   */
  addReply(
    turn: number,
    { after, reply, model, usage, language, shown = [] }: ModelReply,
  ): number | undefined {
    if (!this.#goesOnFrom(turn, after)) return undefined;
    return this.#append(turn, "reply", {
      text: reply.text,
      calls: reply.calls,
      model,
      ...(language && { language }),
      ...(usage && { usage }),
      ...(shown.length > 0 && { sources: [...shown] }),
      ...(reply.replay && { replay: reply.replay }),
    });
  }

  /** True if a turn runs, and nothing but notes came after this seq. */
  #goesOnFrom(turn: number, after: number | null): boolean {
    const last = this.entriesOf(turn).findLast((entry) => entry.role !== "note")?.seq ?? null;
    return this.turnAt(turn)?.status === "running" && last === after;
  }

  /**
   * Answers a call; the first answer counts.
   * @param submittedAt when it went out (epoch ms), where that is known
   * @param isHeld whoever brought it keeps it until it is stored, so it may wait for the next row of its turn
   * @returns n of its turn, or undefined: it was answered before
   */
  settle(callId: string, outcome: Outcome, submittedAt?: number, isHeld = false): number | undefined {
    const call = this.call(callId);
    if (!call || call.outcome) return undefined;
    const isRunning = this.turnAt(call.turn)?.status === "running";
    return this.#write(() => {
      if (!isRunning) this.#addSources(call.turn, outcomeSources(call, outcome));
      const at = Date.now();
      const result = { call: callId, outcome, at, ...(submittedAt !== undefined && { submittedAt }) };
      if (isHeld && isRunning) this.#appendLater(call.turn, result);
      else this.#append(call.turn, "result", result);
      return call.turn;
    }, isRunning);
  }

  #appendLater(turn: number, result: Bodies["result"]): void {
    this.writeAll();
    const cache = this.#rows();
    const row = { seq: cache.seq + 1, turn, text: JSON.stringify(result) };
    fold(cache, { seq: row.seq, turn, kind: "result", body: row.text });
    this.#unwritten = row;
  }

  /**
   * A result that comes after the call had an answer. It takes the place of one that was only accepted, is unknown or is
   * corrected by it; beside any other (a device's own loop began a job) it stands alone. The model is told by a note, in
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
      const before: LateOutcome | undefined = call?.outcome;
      if (!call || !before || before.lateBy?.includes(by)) return false;
      const isUnsure = before.errorType === "outcome_unknown" || before.errorType === "timeout";
      const stands = before.job === undefined && !isUnsure && outcome.corrects !== true;
      const { usage } = outcome;
      this.#append(call.turn, "late", { call: callId, by, ...(stands ? usage && { usage } : { outcome }) });
      const asked = this.turnAt(call.turn);
      // It is read in both: in the note, and where it took the place of the first answer.
      const sources = outcomeSources(call, outcome);
      this.#addSources(call.turn, sources);
      if (ownTurn && asked) {
        const origin = jobOrigin(asked, this.clientContextOf(asked), outcome, ownTurn === "apart");
        this.#beginTurn({ id: crypto.randomUUID(), text: "", images: [], note, origin, sources });
      } else {
        const turn = this.currentTurn()?.n ?? this.turns().at(-1)?.n ?? 0;
        this.#append(turn, "note", { text: note, sources });
      }
      return true;
    });
  }

  #beginTurn(
    turn: Omit<NewTurn, "idempotency"> & { idempotency?: string | undefined },
    carries: number[] = [],
  ): Turn {
    const { id, idempotency, text, images, note, sources = [] } = turn;
    const { brought, ...rest } = turn.origin;
    const origin: Origin = { ...rest, ...(brought && { brought: outlineOf(brought) }) };
    const n = (this.turns().at(-1)?.n ?? 0) + 1;
    this.#append(n, "begin", {
      id,
      ...(idempotency !== undefined && { idempotency }),
      origin,
      at: Date.now(),
      sources: [...sources],
      ...(text !== "" && { text }),
      ...(images.length > 0 && { images }),
      ...(note !== undefined && { note }),
      ...(carries.length > 0 && { carries }),
    });
    if (brought && !saysAll(brought)) {
      this.#tables.need("brought");
      this.sql.exec("INSERT INTO brought (turn, what) VALUES (?, ?)", n, JSON.stringify(brought));
    }
    return this.#turnAt(n);
  }

  /** The tokens, with those of agents, and the model calls of a turn and of its conversation. @param chat the turns of the conversation, where others are in the object */
  spent(n: number, chat?: readonly Turn[]): { turn: Spent; conversation: Spent } {
    const spentIn = (turns: readonly Turn[]) => ({
      tokens: turns.reduce((sum, { usage, agentsUsage }) => sum + tokensOf(usage) + tokensOf(agentsUsage), 0),
      modelCalls: turns.reduce((sum, { replies }) => sum + replies, 0),
    });
    return { turn: spentIn([this.#turnAt(n)]), conversation: spentIn(chat ?? this.turns()) };
  }

  /** Budgets that the person was told of, in this turn or, for the conversation's, in any. @param chat as for `spent` */
  notices(turn: number, chat: readonly Turn[] = this.turns()): BudgetKey[] {
    return chat.flatMap(({ n, notices }) =>
      notices.flatMap(({ keys }) => keys.filter((key) => n === turn || !key.startsWith("turn."))),
    );
  }

  notify(turn: number, text: string, keys: BudgetKey[]): void {
    this.#append(turn, "notice", { text, keys } satisfies Notice);
  }

  /**
   * A button of a rule was pressed.
   * @param text what came of it
   * @returns the turns that show the button, which is gone from them now
   */
  pressRule(press: PressedButton, text: string): Turn[] {
    const turns = this.turns().slice(-PRESSED_WITHIN);
    // A rule that was stopped has no button that does anything.
    const isMeant = ({ rule, occurrence }: RuleButton) =>
      rule === press.rule && (press.do === "stop" || occurrence === press.occurrence);
    const shows = turns.filter(
      (turn) =>
        !turn.pressed?.some(({ rule }) => rule === press.rule) &&
        (turn.origin.notice
          ? turn.origin.notice.buttons.some(isMeant)
          : press.do === "stop" && this.#made(turn.n, press.rule)),
    );
    this.#write(() => {
      for (const { n } of shows) this.#append(n, "pressed", { rule: press.rule, text });
    });
    return shows.map(({ n }) => this.#turnAt(n));
  }

  /** The turn made this rule, and shows its button "Undo". */
  #made(turn: number, rule: string): boolean {
    return this.entriesOf(turn).some(
      (entry) =>
        entry.role === "assistant" && entry.calls.some(({ outcome }) => outcome?.shown?.undo === rule),
    );
  }

  /** The newest summary of what no longer fits. */
  summary(): StoredSummary | undefined {
    return this.#rows().summary;
  }

  /** Notes where a summary of an earlier version ends. @param from the first entry that it does not tell of */
  summaryEnds(summary: Summary, from: StoredEntry): void {
    this.sql.exec`UPDATE summary SET from_turn = ${from.turn}, from_seq = ${from.seq}
      WHERE turns = ${summary.turns}`;
    this.#summaryIs(summary, from);
  }

  /**
   * @param turn that the summary was made for, and that pays for it
   * @param from the first entry that it does not tell of
   */
  summarise(summary: Summary, turn: number, from: StoredEntry, usage: Usage | undefined): void {
    this.#write(() => {
      this.#tables.need("summary");
      this.sql.insert("OR REPLACE INTO summary", {
        turns: summary.turns,
        text: summary.text,
        created_at: Date.now(),
        from_turn: from.turn,
        from_seq: from.seq,
      });
      if (usage) this.#append(turn, "spent", { usage });
    });
    this.#summaryIs(summary, from);
  }

  #summaryIs({ turns, text }: Summary, { turn, seq }: StoredEntry): void {
    const cache = this.#rows();
    cache.summary = { turns, text, from: { turn, seq } };
    dropBefore(cache, turn);
  }

  /**
   * Notes that a turn is to be cancelled: a running turn that has its `error` already ends with that, whatever
   * becomes of the object that is about to end it.
   */
  cancelling(turn: number): void {
    const { status, error } = this.#turnAt(turn);
    if (status === "running" && error === null) this.#append(turn, "cancelling", {});
  }

  /** The client of a turn that runs was told this in place of the answer. */
  leaveMeanwhile(turn: number, meanwhile: Meanwhile): void {
    this.#append(turn, "meanwhile", meanwhile);
  }

  /** True if the client of a turn left without its answer. */
  clientLost(turn: number, lost: boolean): void {
    if ((this.#turnAt(turn).origin.client?.lost ?? false) !== lost) this.#append(turn, "lost", { lost });
  }

  /**
   * Ends a turn that is running; the reply that has to be sent is stored in the same transaction.
   * @param last the model's last reply, whose text is the answer
   * @returns false when it has ended before, or has moved on since the model was asked
   */
  finish(
    { n, origin }: Turn,
    status: Exclude<TurnStatus, "running">,
    answer: string,
    error?: string,
    last?: ModelReply,
  ): boolean {
    return this.#write(() => {
      const turn = this.turnAt(n);
      if (turn?.status !== "running" || (last && !this.#goesOnFrom(n, last.after))) return false;
      // The person has read it, so it belongs to the history; many endpoints also refuse two user messages in a row.
      const says = last !== undefined || status !== "done";
      const open = status === "done" ? this.#openCalls(n) : [];
      const model = last?.model ?? turn.model;
      this.#append(n, "end", {
        status,
        answer,
        ...(error !== undefined && { error }),
        at: Date.now(),
        says,
        ...(last?.reply.replay && { replay: last.reply.replay }),
        ...(open.length > 0 && { open }),
        ...(last?.unasked && { unasked: true as const }),
        ...(last?.reply.cut && { cut: last.reply.cut }),
        replies: turn.replies + (says && last?.model !== WITHOUT_MODEL ? 1 : 0),
        ...(model !== null && { model }),
        usage: addUsage(turn.usage, last?.usage),
        ...(tokensOf(turn.agentsUsage) > 0 && { agentsUsage: turn.agentsUsage }),
        sources: joinSources(this.sourcesOf(turn), last?.shown ?? []),
      });
      if (origin.reply && !last?.told) {
        this.#tables.need("reply");
        this.sql.insert("INTO reply", { turn: n, address: JSON.stringify(origin.reply), text: answer });
      }
      return true;
    }, !origin.reply);
  }

  /**
   * Stores words that nobody asked for, as a turn that has ended.
   * @returns undefined: they were here before
   */
  speak(turn: NewTurn, words: string): Turn | undefined {
    return this.#write(() => {
      if (turn.idempotency !== undefined && this.turnByKey(turn.idempotency)) return undefined;
      const { n, createdAt: at, sources } = this.#beginTurn(turn);
      this.#append(n, "end", { status: "done", answer: words, at, says: true, replies: 0, sources });
      return this.#turnAt(n);
    });
  }

  /** The ids of the calls of a turn without an outcome. */
  #openCalls(turn: number): string[] {
    return this.entriesOf(turn).flatMap((entry) =>
      entry.role === "assistant" ? entry.calls.flatMap(({ id, outcome }) => (outcome ? [] : [id])) : [],
    );
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
    const { spans } = this.#rows();
    this.#write(() => {
      for (const { n } of old) {
        const { first, last } = spans.get(n) ?? { first: 0, last: 0 };
        this.sql.exec("DELETE FROM entry WHERE seq BETWEEN ? AND ? AND turn = ?", first, last, n);
        // A turn of an earlier version without a message begins there.
        this.sql.exec("DELETE FROM entry WHERE seq = ? AND turn = ?", -n, n);
        if (this.#tables.has("brought")) this.sql.exec("DELETE FROM brought WHERE turn = ?", n);
      }
      // The rest is gathered anew.
      if (this.#tables.has("past")) this.sql.exec("DELETE FROM past");
    });
    this.forget();
  }

  /** Of a back-up: what became of its turns was said long ago, and their calls may have been made. */
  giveUpAll(): void {
    const words = errorText.outcomeUnknown("this call, which was under way when the back-up was made,");
    for (const turn of this.turns().filter(({ status }) => status === "running")) {
      for (const id of this.#openCalls(turn.n))
        this.settle(id, { status: "error", errorType: "outcome_unknown", ...words, elapsedMs: 0 });
      this.finish(turn, "failed", FROM_BACKUP, "restored");
    }
    // The calls that began them are as old as they are.
    for (const { n } of this.endsToNotify()) this.markNotified(n);
  }

  /** The newest seq. */
  lastSeq(): number {
    return this.#rows().seq;
  }

  /** After a write was undone, or everything was deleted. */
  forget(): void {
    this.#cache = undefined;
    this.#unwritten = undefined;
    this.#tables.forget();
  }
}

/** @param row the JSON of `reply` or `end` @param result that of a result */
function withSettled(row: string, seq: number | undefined, result: string): string {
  return `${row.slice(0, -1)},"settled":{"seq":${seq},${result.slice(1)}}`;
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

const FROM_BACKUP =
  "This was under way when the back-up was made. What was done for it since then is unknown; please check before you ask again.";
