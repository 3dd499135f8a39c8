/** The rows of questions beside a turn: shown to the person; Home decides who may answer. */
import type { TurnQuestion } from "../../api/answers.ts";
import type { StoredQuestion } from "./rows.ts";

type QuestionRow = {
  id: string;
  turn: number;
  call: string;
  asked: string;
  expires_at: number;
  asked_seq: number;
  answer: string | null;
  answered_by: string | null;
  closed_seq: number | null;
};

export class TurnQuestions {
  readonly #sql: SqlStorage;
  /** Read once: this class alone writes them, and each look at a turn needs them. */
  #known: Map<string, QuestionRow> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /**
   * @param seq of the transcript: a client must not miss a question either
   * @returns false when it was here before
   */
  add(question: TurnQuestion, turn: number, seq: number): boolean {
    const { id, call, expires_at, ...asked } = question;
    const added = this.#write(
      `INSERT INTO question (id, turn, call, asked, expires_at, asked_seq) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING *`,
      id,
      turn,
      call,
      JSON.stringify(asked),
      expires_at,
      seq,
    );
    return added.length > 0;
  }

  /** @returns the turn it belongs to */
  close(id: string, answer: string, by: string | null, seq: number): number | undefined {
    const [closed] = this.#write(
      "UPDATE question SET answer = ?, answered_by = ?, closed_seq = ? WHERE id = ? AND answer IS NULL RETURNING *",
      answer,
      by,
      seq,
      id,
    );
    return closed?.turn;
  }

  of(turn: number): StoredQuestion[] {
    const rows = this.#rows();
    if (rows.size === 0) return [];
    return [...rows.values()]
      .filter((row) => row.turn === turn)
      .sort((a, b) => a.asked_seq - b.asked_seq)
      .map((row) => ({
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
      }));
  }

  /** The newest seq among them. */
  lastSeq(): number {
    return [...this.#rows().values()].reduce(
      (last, row) => Math.max(last, row.asked_seq, row.closed_seq ?? 0),
      0,
    );
  }

  /** After everything was deleted. */
  forget(): void {
    this.#known = undefined;
  }

  /** Writes, and holds the rows as they are then. */
  #write(sql: string, ...values: SqlStorageValue[]): QuestionRow[] {
    const rows = this.#rows();
    const written = this.#sql.exec<QuestionRow>(sql, ...values).toArray();
    for (const row of written) rows.set(row.id, row);
    return written;
  }

  #rows(): Map<string, QuestionRow> {
    this.#known ??= new Map(
      this.#sql
        .exec<QuestionRow>("SELECT * FROM question")
        .toArray()
        .map((row) => [row.id, row]),
    );
    return this.#known;
  }
}
