/**
 * The rows of what people are asked in the middle of a call, and the rules of who may answer. The rules are in this file
 * alone, so that they can be reviewed alone.
 *
 * An approval is for exactly one thing: its hash is over agent, tool, arguments and working directory, and
 * the device checks it again before it runs anything. Only a token with the scope `approve` can give one.
 * No model has such a token, and no tool's argument counts as an approval.
 */

import type { ApprovalRequest } from "@edgecall/core/protocol/mqtt.ts";
import type { AnswerResult, NewQuestion, Question } from "../../api/questions.ts";
import { acceptSocket, closeQuietly } from "../../sockets.ts";

type QuestionRow = {
  id: string;
  call: string;
  conversation: string;
  agent: string;
  agent_question: string | null;
  text: string;
  options: string;
  approval: string | null;
  asked_at: number;
  expires_at: number;
  told: number;
  answer: string | null;
  answered_by: string | null;
  answered_at: number | null;
};

const KEEP_CLOSED_MS = 48 * 3_600_000;

/** The tag of sockets that get a message when the set of open questions changes. */
const SUBSCRIBERS = "questions";

export class Questions {
  readonly #ctx: DurableObjectState;
  readonly #sql: SqlStorage;
  /** The calls of all questions that are open, and of some that were; undefined: not read yet. */
  #asked: Set<string> | undefined;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    this.#sql = ctx.storage.sql;
  }

  /** A socket that gets "changed" when the set of open questions changes, and nothing more. Home may sleep meanwhile. */
  subscribe(): Response {
    return acceptSocket(this.#ctx, [SUBSCRIBERS]).response;
  }

  #notifySubscribers(): void {
    for (const socket of this.#ctx.getWebSockets(SUBSCRIBERS)) {
      try {
        socket.send("changed");
      } catch {
        closeQuietly(socket, "bye");
      }
    }
  }

  /** @returns false when the agent asked this before: it repeats until it is answered */
  add(asked: NewQuestion, now: number): boolean {
    if (asked.agentQuestion !== null && this.#ofAgent(asked.call, asked.agentQuestion)) return false;
    this.#sql.exec(
      `INSERT INTO question (id, call, conversation, agent, agent_question, text, options, approval, asked_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      asked.id,
      asked.call,
      asked.conversation,
      asked.agent,
      asked.agentQuestion,
      asked.text,
      JSON.stringify(asked.options),
      asked.approval && JSON.stringify(asked.approval),
      now,
      asked.expiresAt,
    );
    this.#asked?.add(asked.call);
    this.#notifySubscribers();
    return true;
  }

  get(id: string): Question | undefined {
    return this.#select("WHERE id = ?", id)[0];
  }

  open(): Question[] {
    return this.#select("WHERE answer IS NULL ORDER BY asked_at");
  }

  openOf(call: string): Question[] {
    // Every call that ends is looked for here, and hardly one was asked about.
    this.#asked ??= new Set(this.open().map((question) => question.call));
    if (!this.#asked.has(call)) return [];
    return this.#select("WHERE call = ? AND answer IS NULL", call);
  }

  /** The number of an agent's own open questions. */
  openBy(agent: string): number {
    const where = "agent = ? AND agent_question IS NOT NULL AND answer IS NULL";
    return this.#sql.exec<{ n: number }>(`SELECT COUNT(*) AS n FROM question WHERE ${where}`, agent).one().n;
  }

  /** Whether somebody is asked to approve this tool of a call. */
  asksFor(call: string, tool: unknown): boolean {
    return this.openOf(call).some(({ approval }) => approval?.tool === tool);
  }

  /** The gateway's own about a call, when it is closed. */
  decidedOf(call: string): Question | undefined {
    return this.#select("WHERE call = ? AND agent_question IS NULL AND answer IS NOT NULL", call)[0];
  }

  /** Open questions that their conversation does not have yet. */
  undelivered(): Question[] {
    return this.#select("WHERE told = 0 AND answer IS NULL");
  }

  setDelivered(id: string): void {
    this.#sql.exec("UPDATE question SET told = 1 WHERE id = ?", id);
  }

  /** Takes a person's answer, once. */
  answer(
    id: string,
    answer: string,
    by: { principal: string; mayApprove: boolean },
    now: number,
  ): AnswerResult {
    const question = this.get(id);
    if (!question) return refuse(404, "not_found", "no such question");
    if (question.answer !== null) {
      const how = question.answeredBy ? `was answered by ${question.answeredBy}` : "is closed";
      return refuse(409, "answered", `the question ${how} already`);
    }
    if (question.expiresAt <= now) return refuse(410, "expired", "the question has expired; nothing was run");
    if (question.approval && !by.mayApprove) {
      return refuse(403, "forbidden", "approving needs a token with the scope 'approve'");
    }
    const allowed = question.approval ? ["approve", "deny"] : question.options;
    if (allowed.length > 0 && !allowed.includes(answer)) {
      return refuse(
        400,
        "invalid_body",
        `answer: expected one of ${allowed.map((one) => `'${one}'`).join(", ")}`,
      );
    }
    this.close(id, answer, by.principal, now);
    return { ok: true, question: { ...question, answer, answeredBy: by.principal, answeredAt: now } };
  }

  close(id: string, answer: string, by: string | null, now: number): void {
    this.#sql.exec(
      "UPDATE question SET answer = ?, answered_by = ?, answered_at = ? WHERE id = ? AND answer IS NULL",
      answer,
      by,
      now,
      id,
    );
    this.#notifySubscribers();
  }

  /** Deletes closed questions, as long after their end as the calls that they belong to. */
  prune(now: number): void {
    this.#sql.exec("DELETE FROM question WHERE answered_at < ?", now - KEEP_CLOSED_MS);
  }

  /** What an agent asked before: it repeats until it has the answer. */
  known(call: string, agentQuestion: string): Question | undefined {
    return this.#ofAgent(call, agentQuestion);
  }

  expired(now: number): Question[] {
    return this.#select("WHERE answer IS NULL AND expires_at <= ?", now);
  }

  nextExpiry(): number | undefined {
    const { due } = this.#sql
      .exec<{ due: number | null }>("SELECT MIN(expires_at) AS due FROM question WHERE answer IS NULL")
      .one();
    return due ?? undefined;
  }

  #ofAgent(call: string, agentQuestion: string): Question | undefined {
    return this.#select("WHERE call = ? AND agent_question = ?", call, agentQuestion)[0];
  }

  #select(where: string, ...bindings: SqlStorageValue[]): Question[] {
    return this.#sql
      .exec<QuestionRow>(`SELECT * FROM question ${where}`, ...bindings)
      .toArray()
      .map(toQuestion);
  }
}

function refuse(status: 400 | 403 | 404 | 409 | 410, code: string, message: string): AnswerResult {
  return { ok: false, status, code, message };
}

function toQuestion(row: QuestionRow): Question {
  return {
    id: row.id,
    call: row.call,
    conversation: row.conversation,
    agent: row.agent,
    agentQuestion: row.agent_question,
    text: row.text,
    options: JSON.parse(row.options) as string[],
    approval: row.approval === null ? null : (JSON.parse(row.approval) as ApprovalRequest),
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    told: row.told === 1,
    answer: row.answer,
    answeredBy: row.answered_by,
    answeredAt: row.answered_at,
  };
}
