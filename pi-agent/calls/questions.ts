/**
 * Questions to a person during a call. The gateway shows them to the person and sends the command `answer`. There is no other
 * way to answer one.
 */
import { randomUUID } from "node:crypto";
import type { AgentEvent, AnswerCommand, ApprovalRequest } from "@edgecall/core/protocol/mqtt.ts";
import { QUESTION_EXPIRES_MS, QUESTION_MAX_MS } from "../config/question-times.ts";

/** A question is published again at this interval, under the same id, for a gateway that was away when it was asked. */
const AGAIN_MS = 60_000;
/** The number of closed questions that are remembered: their answer may come a second time. */
const REMEMBERED = 100;

type QuestionEvent = Extract<AgentEvent, { type: "question" }>;

export type Asked = {
  /** The command that waits for it. */
  requestId: string;
  text: string;
  options?: readonly string[];
  approval?: ApprovalRequest;
  expiresInMs?: number;
};

export type Answered =
  | { by: "person"; text: string; hash: string | undefined; principal: string; how?: string }
  /** The gateway asked nobody. `why`: its reason. */
  | { by: "gateway"; why: string }
  /** Nobody answered in time. */
  | { by: "nobody"; afterMs: number }
  /** The call ended first. */
  | { by: "end" };

export type AnswerVerdict = { ok: true } | { ok: false; error: string };

type Open = { asked: Asked; expiresAt: number; expire(): void; close(answered: Answered): void };
type Closed = { why: "answered" | "expired" | "ended"; answerId?: string };

export class PersonQuestions {
  readonly #publish: (event: QuestionEvent) => void;
  readonly #againMs: number;
  readonly #now: () => number;
  readonly #open = new Map<string, Open>();
  readonly #closed = new Map<string, Closed>();

  constructor(
    publish: (event: QuestionEvent) => void,
    { againMs = AGAIN_MS, now = () => performance.now() } = {},
  ) {
    this.#publish = publish;
    this.#againMs = againMs;
    this.#now = now;
  }

  /** Asks, and waits for the answer, the end of the question's time or the end of the call. Never rejects. */
  async ask(asked: Asked, signal: AbortSignal): Promise<Answered> {
    if (signal.aborted) return { by: "end" };
    const id = randomUUID();
    const forMs = Math.max(1, Math.min(asked.expiresInMs ?? QUESTION_EXPIRES_MS, QUESTION_MAX_MS));
    let resolve: (answered: Answered) => void = () => {};
    const promise = new Promise<Answered>((settle) => {
      resolve = settle;
    });
    const expire = () => resolve({ by: "nobody", afterMs: forMs });
    const expiry = setTimeout(expire, forMs);
    const again = setInterval(() => this.#publishQuestion(id), this.#againMs);
    const ended = () => resolve({ by: "end" });
    signal.addEventListener("abort", ended, { once: true });
    this.#open.set(id, { asked, expiresAt: this.#now() + forMs, expire, close: resolve });
    this.#publishQuestion(id);
    try {
      return await promise;
    } finally {
      clearTimeout(expiry);
      clearInterval(again);
      signal.removeEventListener("abort", ended);
      if (this.#open.has(id)) this.#close(id, { why: (await promise).by === "nobody" ? "expired" : "ended" });
    }
  }

  /**
   * Takes an answer.
   * @param command.by the person who answered
   * @param answerId the request id of the `answer` command: the same id a second time is no second answer
   */
  answer(command: AnswerCommand & { by: string }, answerId: string): AnswerVerdict {
    const { question_id, answer, hash, by, how, refused } = command;
    const open = this.#open.get(question_id);
    if (!open) return this.#notOpen(question_id, answerId);
    // After a stall of this process an answer may be read before the timer that should have closed the question.
    if (this.#now() >= open.expiresAt) {
      this.#close(question_id, { why: "expired" });
      open.expire();
      return this.#notOpen(question_id, answerId);
    }
    const { options, approval } = open.asked;
    if (refused !== undefined) {
      this.#close(question_id, { why: "answered", answerId });
      open.close({ by: "gateway", why: refused });
      return { ok: true };
    }
    // An approval accepts any word. All but one mean no.
    if (!approval && options && !options.includes(answer)) {
      return { ok: false, error: `answer: right would be one of: ${options.join(", ")}` };
    }
    this.#close(question_id, { why: "answered", answerId });
    open.close({
      by: "person",
      text: answer,
      hash,
      principal: by,
      ...(how !== undefined && { how }),
    });
    return { ok: true };
  }

  #notOpen(id: string, answerId: string): AnswerVerdict {
    const closed = this.#closed.get(id);
    if (closed?.answerId === answerId) return { ok: true };
    const words = {
      answered: `question ${id} was answered already`,
      expired: `question ${id} is no longer open: its time was over`,
      ended: `question ${id} is no longer open: its call has ended`,
    };
    return { ok: false, error: closed ? words[closed.why] : `no open question ${id}` };
  }

  /** Publishes the open questions again: all, or those of one command. */
  announce(requestId?: string): void {
    for (const [id, { asked }] of this.#open) {
      if (requestId === undefined || asked.requestId === requestId) this.#publishQuestion(id);
    }
  }

  #publishQuestion(id: string): void {
    const open = this.#open.get(id);
    if (!open) return;
    const { requestId, text, options, approval } = open.asked;
    this.#publish({
      type: "question",
      request_id: requestId,
      question_id: id,
      text,
      ...(options && { options: [...options] }),
      ...(approval && { approval }),
      expires_in_ms: Math.max(1, Math.round(open.expiresAt - this.#now())),
    });
  }

  #close(id: string, closed: Closed): void {
    this.#open.delete(id);
    this.#closed.set(id, closed);
    for (const oldest of this.#closed.keys()) {
      if (this.#closed.size <= REMEMBERED) break;
      this.#closed.delete(oldest);
    }
  }
}
