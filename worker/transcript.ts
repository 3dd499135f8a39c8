/** The transcript of a Conversation, read and written. Everything here is synchronous, so each method is atomic. */
import type { BudgetKey, Spent } from "@edgecall/core/loop/budget.ts";
import type { Entry, Outcome, Summary, Usage } from "@edgecall/core/loop/history.ts";
import {
  type CallRow,
  type MessageRow,
  type NewTurn,
  type Notice,
  type Origin,
  one,
  type StoredCall,
  type StoredEntry,
  type Turn,
  type TurnRow,
  type TurnStatus,
  toCall,
  toEntry,
  toTurn,
} from "./transcript-rows.ts";
import { TurnQuestions } from "./turn-questions.ts";

/** Of what a person says in one breath: as much as one message may hold. */
const MERGED_MAX_CHARS = 32_000;
const MERGED_MAX_IMAGES = 8;

export class Transcript {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly questions: TurnQuestions;
  #seq: number | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.questions = new TurnQuestions(storage, () => this.#nextSeq());
  }

  /**
   * Stores a turn, or recognises it by its idempotency key.
   * @returns `as`: what was said is a turn of its own, was joined to the one that waits, or is known
   */
  begin(turn: NewTurn): { turn: Turn; as: "new" | "joined" | "known" } {
    return this.#storage.transactionSync(() => {
      const known = turn.idempotency === undefined ? undefined : this.#turnByKey(turn.idempotency);
      if (known) return { turn: known, as: "known" };
      const waiting = turn.merge ? this.#unanswered(turn) : undefined;
      if (waiting) return { turn: this.#join(waiting, turn), as: "joined" };
      const n = this.#insertTurn(turn.origin, turn.id, turn.idempotency);
      const images = turn.images.length > 0 ? JSON.stringify(turn.images) : null;
      this.#sql.exec(
        "INSERT INTO message (seq, turn, role, text, images) VALUES (?, ?, 'user', ?, ?)",
        this.#nextSeq(),
        n,
        turn.text,
        images,
      );
      return { turn: this.turn(turn.id) as Turn, as: "new" };
    });
  }

  /** The newest turn, while the model has said nothing in it and the same person goes on speaking. */
  #unanswered({ origin, text, images }: NewTurn): (Turn & { message: number }) | undefined {
    const [row] = this.#sql
      .exec<TurnRow & { message: number; said: string; shown: string | null }>(
        `SELECT turn.*, m.seq AS message, m.text AS said, m.images AS shown FROM turn
         JOIN message m ON m.turn = turn.n AND m.role = 'user'
         WHERE turn.n = (SELECT MAX(n) FROM turn) AND turn.status = 'running' AND turn.error IS NULL
           AND NOT EXISTS (SELECT 1 FROM message WHERE turn = turn.n AND role = 'assistant')`,
      )
      .toArray();
    if (!row) return undefined;
    const turn = toTurn(row);
    const shown = row.shown === null ? 0 : (JSON.parse(row.shown) as string[]).length;
    const fits =
      row.said.length + text.length < MERGED_MAX_CHARS && shown + images.length <= MERGED_MAX_IMAGES;
    const same = turn.origin.principal === origin.principal && turn.origin.channel === origin.channel;
    return fits && same ? { ...turn, message: row.message } : undefined;
  }

  /** A new seq: a reply of the model to what was said before is dropped then, and it is asked again. */
  #join(turn: Turn & { message: number }, more: NewTurn): Turn {
    this.#sql.exec(
      `UPDATE message SET seq = ?, text = text || char(10, 10) || ?,
         images = CASE WHEN ?3 = '[]' THEN images ELSE
           (SELECT json_group_array(value) FROM (SELECT value FROM json_each(COALESCE(images, '[]'))
            UNION ALL SELECT value FROM json_each(?3))) END
       WHERE seq = ?4`,
      this.#nextSeq(),
      more.text,
      JSON.stringify(more.images),
      turn.message,
    );
    this.#sql.exec("UPDATE turn SET attempts = 0, not_before = 0 WHERE n = ?", turn.n);
    if (more.idempotency !== undefined)
      this.#sql.exec("INSERT INTO merged (idempotency, turn) VALUES (?, ?)", more.idempotency, turn.n);
    return this.turnAt(turn.n) as Turn;
  }

  #turnByKey(idempotency: string): Turn | undefined {
    const own = this.#turnBy("idempotency", idempotency);
    if (own) return own;
    const [merged] = this.#sql
      .exec<{ turn: number }>("SELECT turn FROM merged WHERE idempotency = ?", idempotency)
      .toArray();
    return merged && this.turnAt(merged.turn);
  }

  turn(id: string): Turn | undefined {
    return this.#turnBy("id", id);
  }

  /** The turn whose step is due: the oldest that is not finished. */
  currentTurn(): Turn | undefined {
    return one(
      this.#sql.exec<TurnRow>("SELECT * FROM turn WHERE status = 'running' ORDER BY n LIMIT 1"),
      toTurn,
    );
  }

  turns(): Turn[] {
    return this.#sql.exec<TurnRow>("SELECT * FROM turn ORDER BY n").toArray().map(toTurn);
  }

  turnAt(n: number): Turn | undefined {
    return one(this.#sql.exec<TurnRow>("SELECT * FROM turn WHERE n = ?", n), toTurn);
  }

  #turnBy(column: "id" | "idempotency", value: string): Turn | undefined {
    return one(this.#sql.exec<TurnRow>(`SELECT * FROM turn WHERE ${column} = ?`, value), toTurn);
  }

  /** Entries of the conversation up to and with a turn; later turns that wait are not in the history yet. */
  entries(upToTurn: number): StoredEntry[] {
    return this.#entries(0, upToTurn);
  }

  entriesOf(turn: number): StoredEntry[] {
    return this.#entries(turn, turn);
  }

  #entries(from: number, to: number): StoredEntry[] {
    const messages = this.#sql
      .exec<MessageRow>("SELECT * FROM message WHERE turn BETWEEN ? AND ? ORDER BY turn, seq", from, to)
      .toArray();
    const calls = new Map<number, StoredCall[]>();
    const rows = this.#sql.exec<CallRow>(
      "SELECT * FROM call WHERE turn BETWEEN ? AND ? ORDER BY message, position",
      from,
      to,
    );
    for (const row of rows) {
      const list = calls.get(row.message);
      if (list) list.push(toCall(row));
      else calls.set(row.message, [toCall(row)]);
    }
    return messages.map((row) => toEntry(row, calls.get(row.seq) ?? []));
  }

  call(id: string): StoredCall | undefined {
    return one(this.#sql.exec<CallRow>("SELECT * FROM call WHERE id = ?", id), toCall);
  }

  /** Counts a try at the current step, before it is made, so that a crash cannot hide it. */
  countAttempt(turn: number): number {
    return this.#sql
      .exec<{ attempts: number }>(
        "UPDATE turn SET attempts = attempts + 1, not_before = 0 WHERE n = ? RETURNING attempts",
        turn,
      )
      .one().attempts;
  }

  /** A step got somewhere without an answer of the model: the next one starts with all its tries. */
  progressed(turn: number): void {
    this.#sql.exec("UPDATE turn SET attempts = 0 WHERE n = ?", turn);
  }

  /** The next try waits until then. */
  postpone(turn: number, notBefore: number): void {
    this.#sql.exec("UPDATE turn SET not_before = ? WHERE n = ?", notBefore, turn);
  }

  /**
   * Ends a model step: the reply and its calls, in one transaction.
   * @returns the seq of the message, or undefined when the turn has moved on meanwhile (a cancel): then it is dropped
   */
  addReply(
    turn: number,
    after: number | null,
    reply: Entry & { role: "assistant" },
    model: string,
    usage: Usage | undefined,
  ): number | undefined {
    return this.#storage.transactionSync(() => {
      const state = this.#sql
        .exec<{ status: TurnStatus; last: number | null }>(
          "SELECT status, (SELECT MAX(seq) FROM message WHERE turn = n AND role <> 'note') AS last FROM turn WHERE n = ?",
          turn,
        )
        .one();
      if (state.status !== "running" || state.last !== after) return undefined;
      const seq = this.#nextSeq();
      this.#sql.exec(
        "INSERT INTO message (seq, turn, role, text) VALUES (?, ?, 'assistant', ?)",
        seq,
        turn,
        reply.text,
      );
      for (const [position, call] of reply.calls.entries()) {
        this.#sql.exec(
          "INSERT INTO call (id, turn, message, position, model_call_id, name, args, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          call.id,
          turn,
          seq,
          position,
          call.modelCallId,
          call.name,
          JSON.stringify(call.args),
          call.problem ?? null,
        );
      }
      this.#sql.exec(
        "UPDATE turn SET attempts = 0, model = ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ? WHERE n = ?",
        model,
        usage?.input_tokens ?? 0,
        usage?.output_tokens ?? 0,
        turn,
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
    const rows = this.#sql.exec<{ turn: number }>(
      "UPDATE call SET outcome = ?, submitted_at = ?, settled_at = ?, settled_seq = ? WHERE id = ? AND outcome IS NULL RETURNING turn",
      JSON.stringify(outcome),
      submittedAt ?? null,
      Date.now(),
      this.#nextSeq(),
      callId,
    );
    return rows.toArray()[0]?.turn;
  }

  /**
   * A result that comes after the call had an answer. It takes the place of one that was only accepted or is
   * unknown; beside any other (a device's own loop began a job) it stands alone. The model is told by a note, in
   * the turn that runs (or the last one), or as a turn of its own.
   * @param by the id under which it was reported
   * @returns false when it was here before
   */
  settleLate(callId: string, by: string, outcome: Outcome, note: string, ownTurn: boolean): boolean {
    return this.#storage.transactionSync(() => {
      const call = this.call(callId);
      const before: (Outcome & { lateBy?: string[] }) | undefined = call?.outcome;
      if (!call || !before || before.lateBy?.includes(by)) return false;
      const lateBy = [...(before.lateBy ?? []), by];
      const stands =
        before.job === undefined && before.errorType !== "outcome_unknown" && before.errorType !== "timeout";
      this.#sql.exec(
        "UPDATE call SET outcome = ?, settled_seq = ? WHERE id = ?",
        JSON.stringify({ ...(stands ? before : { ...outcome, late: true }), lateBy }),
        this.#nextSeq(),
        callId,
      );
      const asked = this.turnAt(call.turn);
      const turn =
        ownTurn && asked
          ? this.#insertTurn({ ...asked.origin, event: "job" })
          : (this.currentTurn()?.n ?? this.#lastTurn());
      this.#sql.exec(
        "INSERT INTO message (seq, turn, role, text) VALUES (?, ?, 'note', ?)",
        this.#nextSeq(),
        turn,
        note,
      );
      return true;
    });
  }

  #lastTurn(): number {
    return this.#sql.exec<{ n: number }>("SELECT COALESCE(MAX(n), 0) AS n FROM turn").one().n;
  }

  #insertTurn(origin: Origin, id: string = crypto.randomUUID(), idempotency?: string): number {
    return this.#sql
      .exec<{ n: number }>(
        "INSERT INTO turn (id, idempotency, origin, status, created_at) VALUES (?, ?, ?, 'running', ?) RETURNING n",
        id,
        idempotency ?? null,
        JSON.stringify(origin),
        Date.now(),
      )
      .one().n;
  }

  /** What a turn and its conversation have spent on models. */
  spent(turn: number): { turn: Spent; conversation: Spent } {
    const rows = this.#sql
      .exec<{ n: number; tokens: number; calls: number }>(
        `SELECT n, input_tokens + output_tokens AS tokens,
                (SELECT COUNT(*) FROM message WHERE message.turn = turn.n AND role = 'assistant') AS calls
         FROM turn`,
      )
      .toArray();
    const sum = (some: typeof rows): Spent => ({
      tokens: some.reduce((total, row) => total + row.tokens, 0),
      modelCalls: some.reduce((total, row) => total + row.calls, 0),
    });
    return { turn: sum(rows.filter(({ n }) => n === turn)), conversation: sum(rows) };
  }

  /** Budgets that the person was told of, in this turn or, for the conversation's, in any. */
  notices(turn: number): BudgetKey[] {
    return this.#sql
      .exec<{ n: number; notices: string }>("SELECT n, notices FROM turn WHERE notices <> '[]'")
      .toArray()
      .flatMap(({ n, notices }) =>
        (JSON.parse(notices) as Notice[]).flatMap(({ keys }) =>
          keys.filter((key) => n === turn || !key.startsWith("turn.")),
        ),
      );
  }

  notify(turn: number, text: string, keys: BudgetKey[]): void {
    this.#sql.exec(
      "UPDATE turn SET notices = json_insert(notices, '$[#]', json(?)) WHERE n = ?",
      JSON.stringify({ text, keys } satisfies Notice),
      turn,
    );
  }

  /** The newest summary of what no longer fits. */
  summary(): Summary | undefined {
    return this.#sql
      .exec<Summary>("SELECT turns, text FROM summary ORDER BY turns DESC LIMIT 1")
      .toArray()[0];
  }

  /** @param turn that the summary was made for, and that pays for it */
  summarise(summary: Summary, turn: number, usage: Usage | undefined): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO summary (turns, text, created_at) VALUES (?, ?, ?)",
      summary.turns,
      summary.text,
      Date.now(),
    );
    this.#sql.exec(
      "UPDATE turn SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ? WHERE n = ?",
      usage?.input_tokens ?? 0,
      usage?.output_tokens ?? 0,
      turn,
    );
  }

  /**
   * Notes that a turn is to be cancelled: a running turn that has its `error` already ends with that, whatever
   * becomes of the object that is about to end it.
   */
  cancelling(turn: number): void {
    this.#sql.exec("UPDATE turn SET error = 'cancelled' WHERE n = ? AND status = 'running'", turn);
  }

  /** Ends a turn that is running; the reply that has to be sent is stored in the same transaction. */
  finish(turn: Turn, status: Exclude<TurnStatus, "running">, answer: string, error?: string): boolean {
    return this.#storage.transactionSync(() => {
      const ended = this.#sql
        .exec(
          "UPDATE turn SET status = ?, answer = ?, error = ?, finished_at = ?, finished_seq = ? WHERE n = ? AND status = 'running' RETURNING n",
          status,
          answer,
          error ?? null,
          Date.now(),
          this.#nextSeq(),
          turn.n,
        )
        .toArray();
      if (ended.length === 0) return false;
      if (status !== "done") {
        // What the person was told belongs to the history; many endpoints also refuse two user messages in a row.
        this.#sql.exec(
          "INSERT INTO message (seq, turn, role, text) VALUES (?, ?, 'assistant', ?)",
          this.#nextSeq(),
          turn.n,
          answer,
        );
      }
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

  /** One instance writes, so the counter may live in memory; a rebuilt object reads where it stood. */
  #nextSeq(): number {
    this.#seq ??= this.#sql
      .exec<{ last: number }>(
        `SELECT MAX(
           (SELECT COALESCE(MAX(seq), 0) FROM message),
           (SELECT COALESCE(MAX(settled_seq), 0) FROM call),
           (SELECT COALESCE(MAX(finished_seq), 0) FROM turn),
           (SELECT COALESCE(MAX(MAX(asked_seq, COALESCE(closed_seq, 0))), 0) FROM question)) AS last`,
      )
      .one().last;
    this.#seq += 1;
    return this.#seq;
  }

  /** The newest seq. */
  lastSeq(): number {
    const next = this.#nextSeq();
    this.#seq = next - 1;
    return next - 1;
  }

  /** After everything was deleted. */
  forgetSeq(): void {
    this.#seq = undefined;
  }
}
