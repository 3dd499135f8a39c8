/** The rows of a Conversation, read and written. Everything here is synchronous, so each method is atomic. */
import type { Call, CallRecord, Entry, Outcome, Usage } from "@edgecall/core/loop/history.ts";

/** Who asked, over which channel, and where the answer goes if not to the waiting caller. */
export type Origin = {
  principal: string;
  role: "owner" | "member" | "guest";
  channel: string;
  reply?: Record<string, unknown>;
};

export type TurnStatus = "running" | "done" | "failed" | "cancelled";

export type Turn = {
  n: number;
  id: string;
  origin: Origin;
  status: TurnStatus;
  attempts: number;
  notBefore: number;
  answer: string | null;
  error: string | null;
  model: string | null;
  usage: Usage;
  createdAt: number;
  finishedSeq: number | null;
};

/** A call with what the driver needs beside the loop's view of it. */
export type StoredCall = Call & {
  turn: number;
  submitted: boolean;
  deadline: number | null;
  settledSeq: number | null;
};

export type StoredEntry = { seq: number; turn: number } & (
  | Extract<Entry, { role: "user" }>
  | { role: "assistant"; text: string; calls: StoredCall[] }
);

type TurnRow = {
  n: number;
  id: string;
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
  finished_seq: number | null;
};

type MessageRow = {
  seq: number;
  turn: number;
  role: "user" | "assistant";
  text: string;
  images: string | null;
};

type CallRow = {
  id: string;
  turn: number;
  message: number;
  position: number;
  model_call_id: string;
  name: string;
  args: string;
  problem: string | null;
  submitted_at: number | null;
  deadline: number | null;
  outcome: string | null;
  settled_seq: number | null;
};

export type NewTurn = {
  id: string;
  idempotency: string | undefined;
  text: string;
  images: string[];
  origin: Origin;
};

export class Transcript {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #seq: number | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
  }

  /** Stores a turn, or recognises it by its idempotency key. */
  begin(turn: NewTurn): Turn {
    return this.#storage.transactionSync(() => {
      const known =
        turn.idempotency === undefined ? undefined : this.#turnBy("idempotency", turn.idempotency);
      if (known) return known;
      const { n } = this.#sql
        .exec<{ n: number }>(
          "INSERT INTO turn (id, idempotency, origin, status, created_at) VALUES (?, ?, ?, 'running', ?) RETURNING n",
          turn.id,
          turn.idempotency ?? null,
          JSON.stringify(turn.origin),
          Date.now(),
        )
        .one();
      const images = turn.images.length > 0 ? JSON.stringify(turn.images) : null;
      this.#sql.exec(
        "INSERT INTO message (seq, turn, role, text, images) VALUES (?, ?, 'user', ?, ?)",
        this.#nextSeq(),
        n,
        turn.text,
        images,
      );
      return this.turn(turn.id) as Turn;
    });
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
    after: number,
    reply: Entry & { role: "assistant" },
    model: string,
    usage: Usage | undefined,
  ): number | undefined {
    return this.#storage.transactionSync(() => {
      const state = this.#sql
        .exec<{ status: TurnStatus; last: number }>(
          "SELECT status, (SELECT MAX(seq) FROM message WHERE turn = n) AS last FROM turn WHERE n = ?",
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

  submitted(callId: string, deadline: number): void {
    this.#sql.exec(
      "UPDATE call SET submitted_at = ?, deadline = ? WHERE id = ? AND outcome IS NULL",
      Date.now(),
      deadline,
      callId,
    );
  }

  /** Answers a call; the first answer counts. @returns whether this was it */
  settle(callId: string, outcome: Outcome): boolean {
    const rows = this.#sql.exec(
      "UPDATE call SET outcome = ?, settled_at = ?, settled_seq = ? WHERE id = ? AND outcome IS NULL RETURNING id",
      JSON.stringify(outcome),
      Date.now(),
      this.#nextSeq(),
      callId,
    );
    return rows.toArray().length > 0;
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
           (SELECT COALESCE(MAX(finished_seq), 0) FROM turn)) AS last`,
      )
      .one().last;
    this.#seq += 1;
    return this.#seq;
  }

  /** After everything was deleted. */
  forgetSeq(): void {
    this.#seq = undefined;
  }
}

function one<Row extends Record<string, SqlStorageValue>, T>(
  rows: SqlStorageCursor<Row>,
  read: (row: Row) => T,
): T | undefined {
  const row = rows.toArray()[0];
  return row && read(row);
}

function toTurn(row: TurnRow): Turn {
  return {
    n: row.n,
    id: row.id,
    origin: JSON.parse(row.origin) as Origin,
    status: row.status,
    attempts: row.attempts,
    notBefore: row.not_before,
    answer: row.answer,
    error: row.error,
    model: row.model,
    usage: { input_tokens: row.input_tokens, output_tokens: row.output_tokens },
    createdAt: row.created_at,
    finishedSeq: row.finished_seq,
  };
}

function toEntry(row: MessageRow, calls: StoredCall[]): StoredEntry {
  const common = { seq: row.seq, turn: row.turn, text: row.text };
  if (row.role === "assistant") return { ...common, role: "assistant", calls };
  return {
    ...common,
    role: "user",
    ...(row.images !== null && { images: JSON.parse(row.images) as string[] }),
  };
}

function toCall(row: CallRow): StoredCall {
  return {
    id: row.id,
    turn: row.turn,
    modelCallId: row.model_call_id,
    name: row.name,
    args: JSON.parse(row.args) as Record<string, unknown>,
    ...(row.problem !== null && { problem: row.problem }),
    submitted: row.submitted_at !== null,
    deadline: row.deadline,
    ...(row.outcome !== null && { outcome: JSON.parse(row.outcome) as Outcome }),
    settledSeq: row.settled_seq,
  };
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
