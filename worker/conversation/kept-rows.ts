/**
 * The turns, messages and calls of a Conversation: rows, and the same rows in memory. They are read once, since the
 * driver wants all of them at every step; then each write gives its row back (`RETURNING *`), and that is what is
 * kept. So memory never says what a row does not, and an object that is rebuilt reads them again.
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
    return [...(this.#rows().entries.get(turn) ?? [])];
  }

  /** Turn after turn: a later one may have been asked before an earlier one is over. */
  entriesUpTo(turn: number): StoredEntry[] {
    const { turns, entries } = this.#rows();
    return [...turns.keys()].filter((n) => n <= turn).flatMap((n) => entries.get(n) ?? []);
  }

  /** The newest seq among them. */
  lastSeq(): number {
    const { turns, entries } = this.#rows();
    const seqs = [...entries.values()]
      .flat()
      .flatMap((entry) => [
        entry.seq,
        ...(entry.role === "assistant" ? entry.calls.map((call) => call.settledSeq ?? 0) : []),
      ]);
    const ends = [...turns.values()].map((turn) => turn.finishedSeq ?? 0);
    return [...seqs, ...ends].reduce((last, seq) => Math.max(last, seq), 0);
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
    keepMessage(this.#rows(), rows.one());
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
    const kept: Kept = { turns: new Map(), entries: new Map() };
    for (const row of this.#sql.exec<TurnRow>("SELECT * FROM turn ORDER BY n")) keepTurn(kept, row);
    for (const row of this.#sql.exec<MessageRow>("SELECT * FROM message ORDER BY seq"))
      keepMessage(kept, row);
    // In no order: each has its place, and to sort them is billed as reading them twice.
    for (const row of this.#sql.exec<CallRow>("SELECT * FROM call")) keepCall(kept, row);
    this.#kept = kept;
    return kept;
  }
}

function keepTurn({ turns }: Kept, row: TurnRow): Turn {
  const turn = toTurn(row);
  turns.set(row.n, turn);
  return turn;
}

/** @param was the seq that it had before */
function keepMessage({ entries }: Kept, row: MessageRow, was = row.seq): void {
  const others = (entries.get(row.turn) ?? []).filter(({ seq }) => seq !== was);
  entries.set(row.turn, [...others, toEntry(row, [])]);
}

/** A call that is new, or was answered. */
function keepCall({ entries }: Kept, row: CallRow): void {
  const before = entries.get(row.turn) ?? [];
  const after = before.map((entry) => {
    if (entry.role !== "assistant" || entry.seq !== row.message) return entry;
    const calls = [...entry.calls];
    calls[row.position] = toCall(row);
    return { ...entry, calls };
  });
  entries.set(row.turn, after);
}
