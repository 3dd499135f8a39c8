/**
 * The turns, messages and calls of a Conversation: rows, and the same rows in memory. What the model is shown is read
 * once, since the driver wants it at every step; then each write gives its row back (`RETURNING *`), and that is what
 * is kept. So memory never says what a row does not, and an object that is rebuilt reads them again. Messages and calls
 * of turns that a summary stands for are not kept: a conversation may have thousands, with large results.
 */
import {
  type CallRow,
  type MessageRow,
  type StoredEntry,
  type Turn,
  type TurnRow,
  toCall,
  toEntry,
  toTurn,
} from "./transcript-rows.ts";

type Kept = {
  /** By `n`, in its order. */
  turns: Map<number, Turn>;
  /** By their turn, in the order of `seq`. Replaced, never changed: the driver holds on to what it was given. */
  entries: Map<number, readonly StoredEntry[]>;
  /** Entries of turns from this one on are kept; older ones are read when they are wanted. */
  from: number;
  /** The number of a model's messages in all; counted when a budget asks for it. */
  replies?: number;
};

export class KeptRows {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #kept: Kept | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
  }

  /** One transaction. When it fails, memory is forgotten with it. */
  write<T>(work: () => T): T {
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** After everything was deleted. */
  forget(): void {
    this.#kept = undefined;
  }

  turns(): Turn[] {
    return [...this.#rows().turns.values()];
  }

  turn(n: number): Turn | undefined {
    return this.#rows().turns.get(n);
  }

  entriesOf(turn: number): StoredEntry[] {
    const { entries, from } = this.#rows();
    // Without a look at all turns: who goes through them asks for each.
    return turn < from ? this.entriesBetween(turn, turn) : [...(entries.get(turn) ?? [])];
  }

  /** Of all turns between two, both included, turn after turn: a later one may have been asked before an earlier one is over. */
  entriesBetween(first: number, last: number): StoredEntry[] {
    const { turns, entries, from } = this.#rows();
    const older = first < from ? this.#read(first, Math.min(last, from - 1)) : undefined;
    return [...turns.keys()]
      .filter((n) => n >= first && n <= last)
      .flatMap((n) => (n < from ? older : entries)?.get(n) ?? []);
  }

  /** A summary stands for what was said before this turn. */
  forgetBefore(turn: number): void {
    const kept = this.#rows();
    for (const n of kept.entries.keys()) if (n < turn) kept.entries.delete(n);
    kept.from = Math.max(kept.from, turn);
  }

  /** The newest seq among them. */
  lastSeq(): number {
    const { turns, entries } = this.#rows();
    const { last } = this.#sql.exec<{ last: number | null }>("SELECT MAX(seq) AS last FROM message").one();
    const ends = [...turns.values()].map((turn) => turn.finishedSeq ?? 0);
    // A late result of an older turn brings a note, which is the later one of the two.
    const settled = [...entries.values()]
      .flat()
      .flatMap((entry) =>
        entry.role === "assistant" ? entry.calls.map(({ settledSeq }) => settledSeq ?? 0) : [],
      );
    return [...ends, ...settled].reduce((most, seq) => Math.max(most, seq), last ?? 0);
  }

  /** The number of a model's replies in all. */
  replies(): number {
    const kept = this.#rows();
    kept.replies ??=
      kept.from > 0
        ? this.#sql
            .exec<{ count: number }>("SELECT COUNT(*) AS count FROM message WHERE role = 'assistant'")
            .one().count
        : [...kept.entries.values()].flat().filter(({ role }) => role === "assistant").length;
    return kept.replies;
  }

  insertTurn(id: string, idempotency: string | null, origin: string, sources = "[]"): Turn {
    const rows = this.#sql.exec<TurnRow>(
      "INSERT INTO turn (id, idempotency, origin, status, created_at, sources) VALUES (?, ?, ?, 'running', ?, ?) RETURNING *",
      id,
      idempotency,
      origin,
      Date.now(),
      sources,
    );
    return keepTurn(this.#rows(), rows.one());
  }

  /** @param set assignments in SQL, with `?` for the values @returns the turn as it is now */
  updateTurn(n: number, set: string, ...values: SqlStorageValue[]): Turn | undefined {
    const rows = this.#sql.exec<TurnRow>(`UPDATE turn SET ${set} WHERE n = ? RETURNING *`, ...values, n);
    const [row] = rows.toArray();
    return row && keepTurn(this.#rows(), row);
  }

  insertMessage({ seq, turn, role, text, images }: MessageRow): void {
    const rows = this.#sql.exec<MessageRow>(
      "INSERT INTO message (seq, turn, role, text, images) VALUES (?, ?, ?, ?, ?) RETURNING *",
      seq,
      turn,
      role,
      text,
      images,
    );
    const kept = this.#rows();
    keepMessage(kept, rows.one());
    if (role === "assistant" && kept.replies !== undefined) kept.replies += 1;
  }

  /** Says it anew, and later than it was said. */
  replaceMessage(was: number, { seq, text, images }: Pick<MessageRow, "seq" | "text" | "images">): void {
    const rows = this.#sql.exec<MessageRow>(
      "UPDATE message SET seq = ?, text = ?, images = ? WHERE seq = ? RETURNING *",
      seq,
      text,
      images,
      was,
    );
    keepMessage(this.#rows(), rows.one(), was);
  }

  insertCall(
    call: Pick<
      CallRow,
      "id" | "turn" | "message" | "position" | "model_call_id" | "name" | "args" | "problem"
    >,
  ): void {
    const rows = this.#sql.exec<CallRow>(
      "INSERT INTO call (id, turn, message, position, model_call_id, name, args, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
      call.id,
      call.turn,
      call.message,
      call.position,
      call.model_call_id,
      call.name,
      call.args,
      call.problem,
    );
    keepCall(this.#rows(), rows.one());
  }

  /**
   * @param set assignments in SQL, with `?` for the values
   * @param only a condition in SQL beside the id
   * @returns the call as it is now, or undefined: `only` did not hold, or there is none
   */
  updateCall(id: string, set: string, only: string, ...values: SqlStorageValue[]): CallRow | undefined {
    const rows = this.#sql.exec<CallRow>(
      `UPDATE call SET ${set} WHERE ${only} AND id = ? RETURNING *`,
      ...values,
      id,
    );
    const [row] = rows.toArray();
    if (row) keepCall(this.#rows(), row);
    return row;
  }

  #rows(): Kept {
    if (this.#kept) return this.#kept;
    const [summary] = this.#sql
      .exec<{ from_turn: number | null }>("SELECT from_turn FROM summary ORDER BY turns DESC LIMIT 1")
      .toArray();
    const from = summary?.from_turn ?? 0;
    const kept: Kept = { turns: new Map(), entries: this.#read(from, Number.MAX_SAFE_INTEGER), from };
    for (const row of this.#sql.exec<TurnRow>("SELECT * FROM turn ORDER BY n")) keepTurn(kept, row);
    this.#kept = kept;
    return kept;
  }

  #read(first: number, last: number): Kept["entries"] {
    const read: Kept = { turns: new Map(), entries: new Map(), from: first };
    const messages = "SELECT * FROM message WHERE turn BETWEEN ? AND ? ORDER BY seq";
    for (const row of this.#sql.exec<MessageRow>(messages, first, last)) keepMessage(read, row);
    // In no order: each has its place, and to sort them is billed as reading them twice.
    const calls = "SELECT * FROM call WHERE turn BETWEEN ? AND ?";
    for (const row of this.#sql.exec<CallRow>(calls, first, last)) keepCall(read, row);
    return read.entries;
  }
}

function keepTurn({ turns }: Kept, row: TurnRow): Turn {
  const turn = toTurn(row);
  turns.set(row.n, turn);
  return turn;
}

/** @param was the seq that it had before */
function keepMessage({ entries, from }: Kept, row: MessageRow, was = row.seq): void {
  if (row.turn < from) return;
  const others = (entries.get(row.turn) ?? []).filter(({ seq }) => seq !== was);
  entries.set(row.turn, [...others, toEntry(row, [])]);
}

/** A call that is new, or was answered. */
function keepCall({ entries, from }: Kept, row: CallRow): void {
  if (row.turn < from) return;
  const before = entries.get(row.turn) ?? [];
  const after = before.map((entry) => {
    if (entry.role !== "assistant" || entry.seq !== row.message) return entry;
    const calls = [...entry.calls];
    calls[row.position] = toCall(row);
    return { ...entry, calls };
  });
  entries.set(row.turn, after);
}
