/**
 * The turns, messages and calls of a Conversation: rows, and the same rows in memory. What the model is shown is read
 * once, since the driver wants it at every step; then each write gives its row back (`RETURNING *`), and that is what
 * is kept. So memory never says what a row does not, and an object that is rebuilt reads them again. Messages and calls
 * of turns that a summary stands for are not kept: a conversation may have thousands, with large results. Where chats share an
 * object, the turns of others are shown to nobody: there messages and calls are kept while their turn runs.
 */

import type { ClientContext } from "../../api/turns.ts";
import type { SaidInTurn } from "./transcript-rows.ts";
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

/** Of messages and calls of older turns that a running one goes on from; what is more is read at each step. */
const OLDER_MAX_CHARS = 4_000_000;

type Kept = {
  /** By `n`, in its order. */
  turns: Map<number, Turn>;
  byId: Map<string, number>;
  /** Characters in the rows of the turns, by `n`. */
  chars: Map<number, number>;
  /** By their turn, in the order of `seq`. Replaced, never changed: the driver holds on to what it was given. */
  entries: Map<number, readonly StoredEntry[]>;
  /** Entries of turns from this one on are kept; older ones are read when they are wanted. */
  from: number;
  /** Of those: what the turn that runs goes on from, where chats share the object. */
  older: Map<number, readonly StoredEntry[]>;
  olderChars: number;
  /** The number of a model's messages in all; counted when a budget asks for it. */
  replies?: number;
  /** … and of those in the chat of a turn, before it. */
  repliesBefore?: { turn: number; count: number };
};

export class KeptRows {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #isShared: boolean;
  #kept: Kept | undefined;

  /** @param isShared chats that know nothing of each other share the object */
  constructor(storage: DurableObjectStorage, isShared: boolean) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#isShared = isShared;
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

  turnById(id: string): Turn | undefined {
    const { turns, byId } = this.#rows();
    return turns.get(byId.get(id) ?? -1);
  }

  /** The characters in the rows of the turns that are held in memory. */
  heldChars(): number {
    return [...this.#rows().chars.values()].reduce((sum, chars) => sum + chars, 0);
  }

  /** What the caller of a turn brought, where its outline does not say it all. */
  broughtBy(turn: number): ClientContext | undefined {
    const [row] = this.#sql.exec<{ what: string }>("SELECT what FROM brought WHERE turn = ?", turn).toArray();
    return row && (JSON.parse(row.what) as ClientContext);
  }

  entriesOf(turn: number): StoredEntry[] {
    return [...(this.entriesOfAll([turn]).get(turn) ?? [])];
  }

  /** Of some turns; what is not in memory is read in one go. */
  entriesOfAll(wanted: readonly number[]): Map<number, readonly StoredEntry[]> {
    const kept = this.#rows();
    const { entries, older, from } = kept;
    const missing = wanted.filter((n) => n < from && !older.has(n) && kept.turns.has(n));
    const where = "turn IN (SELECT value FROM json_each(?))";
    const read =
      missing.length > 0 ? this.#read(where, JSON.stringify(missing)) : { entries: new Map(), chars: 0 };
    const found = new Map(
      wanted.map((n) => [n, (n >= from ? entries : read.entries.has(n) ? read.entries : older).get(n) ?? []]),
    );
    if (this.#isShared && kept.olderChars + read.chars <= OLDER_MAX_CHARS) {
      kept.olderChars += read.chars;
      for (const n of missing) older.set(n, read.entries.get(n) ?? []);
    }
    return found;
  }

  /** Of all turns between two, both included, turn after turn: a later one may have been asked before an earlier one is over. */
  entriesBetween(first: number, last: number): StoredEntry[] {
    const { turns, entries, from } = this.#rows();
    const older = first < from ? this.#read(BETWEEN, first, Math.min(last, from - 1)).entries : undefined;
    return [...turns.keys()]
      .filter((n) => n >= first && n <= last)
      .flatMap((n) => (n < from ? older : entries)?.get(n) ?? []);
  }

  /** What was said in each turn, one turn at a time: all of it may be more than memory holds. In no order. */
  *said(): Generator<SaidInTurn> {
    const { turns, entries, from } = this.#rows();
    const [first = from] = turns.keys();
    if (first < from) yield* this.#saidBefore(from, turns);
    for (const turn of turns.keys()) {
      if (turn < from) continue;
      const one: SaidInTurn = { turn, words: undefined, steps: [] };
      for (const entry of entries.get(turn) ?? []) addSaid(one, entry);
      yield one;
    }
  }

  *#saidBefore(from: number, turns: Kept["turns"]): Generator<SaidInTurn> {
    const open = new Map<number, SaidInTurn>();
    const messages = "SELECT seq, turn, role, text FROM message WHERE turn < ? ORDER BY seq";
    for (const row of this.#sql.exec<Pick<MessageRow, "seq" | "turn" | "role" | "text">>(messages, from)) {
      const one = open.get(row.turn) ?? { turn: row.turn, words: undefined, steps: [] };
      addSaid(one, row);
      open.set(row.turn, one);
      // The last word of a turn that failed has the seq after its end.
      for (const [n, said] of open)
        if (n !== row.turn && (turns.get(n)?.finishedSeq ?? row.seq) + 1 < row.seq) {
          open.delete(n);
          yield said;
        }
    }
    yield* open.values();
  }

  /** A summary stands for what was said before this turn. */
  forgetBefore(turn: number): void {
    const kept = this.#rows();
    for (const n of kept.entries.keys()) if (n < turn) kept.entries.delete(n);
    kept.from = Math.max(kept.from, turn);
  }

  /** No turn runs: where chats share the object, nobody is shown what was said in them. */
  release(): void {
    const kept = this.#kept;
    if (!kept || !this.#isShared) return;
    this.forgetBefore(firstRunning(kept));
    kept.older.clear();
    kept.olderChars = 0;
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

  /** … in some turns that a turn goes on from. They have ended, so they are counted once. */
  repliesBefore(turn: number, turns: readonly number[]): number {
    const kept = this.#rows();
    if (kept.repliesBefore?.turn === turn) return kept.repliesBefore.count;
    const { count } = this.#sql
      .exec<{ count: number }>(
        "SELECT COUNT(*) AS count FROM message WHERE role = 'assistant' AND turn IN (SELECT value FROM json_each(?))",
        JSON.stringify(turns),
      )
      .one();
    kept.repliesBefore = { turn, count };
    return count;
  }

  /** @param brought what the origin's outline leaves out */
  insertTurn(
    id: string,
    idempotency: string | null,
    origin: string,
    sources: string,
    brought: string | undefined,
  ): Turn {
    const rows = this.#sql.exec<TurnRow>(
      "INSERT INTO turn (id, idempotency, origin, status, created_at, sources) VALUES (?, ?, ?, 'running', ?, ?) RETURNING *",
      id,
      idempotency,
      origin,
      Date.now(),
      sources,
    );
    const turn = keepTurn(this.#rows(), rows.one());
    if (brought !== undefined)
      this.#sql.exec("INSERT INTO brought (turn, what) VALUES (?, ?)", turn.n, brought);
    return turn;
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
    const kept = nothingKept(summary?.from_turn ?? 0);
    for (const row of this.#sql.exec<TurnRow>("SELECT * FROM turn ORDER BY n")) keepTurn(kept, row);
    if (this.#isShared) kept.from = firstRunning(kept);
    if (!this.#isShared || kept.turns.has(kept.from))
      kept.entries = this.#read(BETWEEN, kept.from, Number.MAX_SAFE_INTEGER).entries;
    this.#kept = kept;
    return kept;
  }

  /** @param where in SQL, with `?` for the values */
  #read(where: string, ...values: SqlStorageValue[]): { entries: Kept["entries"]; chars: number } {
    const entries: Kept["entries"] = new Map();
    let chars = 0;
    const messages = `SELECT * FROM message WHERE ${where} ORDER BY seq`;
    for (const row of this.#sql.exec<MessageRow>(messages, ...values)) {
      addMessage(entries, row);
      chars += row.text.length + (row.images?.length ?? 0);
    }
    // In no order: each has its place, and to sort them is billed as reading them twice.
    const calls = `SELECT * FROM call WHERE ${where}`;
    for (const row of this.#sql.exec<CallRow>(calls, ...values)) {
      addCall(entries, row);
      chars += row.args.length + (row.outcome?.length ?? 0);
    }
    return { entries, chars };
  }
}

const BETWEEN = "turn BETWEEN ? AND ?";

function nothingKept(from: number): Kept {
  return {
    turns: new Map(),
    byId: new Map(),
    chars: new Map(),
    entries: new Map(),
    from,
    older: new Map(),
    olderChars: 0,
  };
}

/** The number of the first turn that runs; without one, of the next that begins. */
function firstRunning({ turns }: Kept): number {
  let next = 1;
  for (const { n, status } of turns.values()) {
    if (status === "running") return n;
    next = n + 1;
  }
  return next;
}

function keepTurn({ turns, byId, chars }: Kept, row: TurnRow): Turn {
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

function addSaid(said: SaidInTurn, { role, text }: { role: StoredEntry["role"]; text: string }): void {
  if (role === "user") said.words ??= text;
  if (role === "assistant") said.steps.push(text);
}

/** @param was the seq that it had before */
function keepMessage(kept: Kept, row: MessageRow, was = row.seq): void {
  if (row.turn >= kept.from) addMessage(kept.entries, row, was);
  else kept.older.delete(row.turn);
}

function addMessage(entries: Kept["entries"], row: MessageRow, was = row.seq): void {
  const others = (entries.get(row.turn) ?? []).filter(({ seq }) => seq !== was);
  entries.set(row.turn, [...others, toEntry(row, [])]);
}

/** A call that is new, or was answered. */
function keepCall(kept: Kept, row: CallRow): void {
  if (row.turn >= kept.from) addCall(kept.entries, row);
  else kept.older.delete(row.turn);
}

function addCall(entries: Kept["entries"], row: CallRow): void {
  const before = entries.get(row.turn) ?? [];
  const after = before.map((entry) => {
    if (entry.role !== "assistant" || entry.seq !== row.message) return entry;
    const calls = [...entry.calls];
    calls[row.position] = toCall(row);
    return { ...entry, calls };
  });
  entries.set(row.turn, after);
}
