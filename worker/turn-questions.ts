/** The rows of questions beside a turn: shown to the person; Home decides who may answer. */
import type { StoredQuestion, TurnQuestion } from "./transcript-rows.ts";

export class TurnQuestions {
  readonly #sql: SqlStorage;
  readonly #nextSeq: () => number;

  /** @param nextSeq of the transcript: a client must not miss a question either */
  constructor(storage: DurableObjectStorage, nextSeq: () => number) {
    this.#sql = storage.sql;
    this.#nextSeq = nextSeq;
  }

  /** @returns false when it was here before */
  add(question: TurnQuestion, turn: number): boolean {
    const { id, call, expires_at, ...asked } = question;
    const rows = this.#sql.exec(
      `INSERT INTO question (id, turn, call, asked, expires_at, asked_seq) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING id`,
      id,
      turn,
      call,
      JSON.stringify(asked),
      expires_at,
      this.#nextSeq(),
    );
    return rows.toArray().length > 0;
  }

  /** @returns the turn it belongs to */
  close(id: string, answer: string, by: string | null): number | undefined {
    const rows = this.#sql.exec<{ turn: number }>(
      "UPDATE question SET answer = ?, answered_by = ?, closed_seq = ? WHERE id = ? AND answer IS NULL RETURNING turn",
      answer,
      by,
      this.#nextSeq(),
      id,
    );
    return rows.toArray()[0]?.turn;
  }

  of(turn: number): StoredQuestion[] {
    type Row = {
      id: string;
      call: string;
      asked: string;
      expires_at: number;
      asked_seq: number;
      answer: string | null;
      answered_by: string | null;
      closed_seq: number | null;
    };
    return this.#sql
      .exec<Row>("SELECT * FROM question WHERE turn = ? ORDER BY asked_seq", turn)
      .toArray()
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
}
