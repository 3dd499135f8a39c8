/** Questions and approvals in the middle of a call: from the device (or the gateway) to the person and back. */

import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import type { AgentEvent } from "@edgecall/core/protocol/mqtt.ts";
import { shortened, visibleJson } from "@edgecall/core/tools/visible.ts";
import {
  AFTER_EXPIRY_MS,
  type AnswerResult,
  CLOSED,
  EXPIRED,
  type NewQuestion,
  type Question,
} from "../../api/questions.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError, logInfo } from "../../log.ts";
import { type CallNews, placeOf, tellWatchers } from "../calls/call-watchers.ts";
import type { Dispatcher, NewOrder } from "../calls/dispatcher.ts";
import type { LedgerCall } from "../calls/ledger.ts";
import { Tries } from "../calls/tries.ts";
import type { HomeContext } from "../context.ts";

/** For an approval that the gateway asks for; the device's have their own. */
const GATEWAY_APPROVAL_MS = 10 * 60_000;
/** The device asks again every minute until it has its answer, and then gets it again. */
const ANSWER_TIMEOUT_MS = 60_000;

/** Questions that may be open at once: of one call, and of one device. */
const OPEN_A_CALL = 3;
const OPEN_A_DEVICE = 20;

export class Asking {
  readonly #home: HomeContext;
  readonly #dispatcher: Dispatcher;
  /** To tell a conversation of a question. */
  readonly #tries = new Tries();

  constructor(home: HomeContext, dispatcher: Dispatcher) {
    this.#home = home;
    this.#dispatcher = dispatcher;
    dispatcher.alsoDue(() => this.#nextDue());
  }

  /** An agent asks. It repeats until it is answered, so a question that is known is not asked twice. */
  async fromAgent(call: LedgerCall, event: AgentEvent & { type: "question" }): Promise<void> {
    const known = this.#home.questions.known(call.id, event.question_id);
    if (known) {
      // It still asks, so it does not have the answer. Each time the call lives on: not for longer than it may ask.
      const mayAsk = Date.now() < known.expiresAt + AFTER_EXPIRY_MS;
      if (mayAsk && known.answer !== null && known.answeredBy !== null)
        await this.#toAgent(known, call, known.answer);
      return;
    }
    const { approval } = event;
    const full = this.#noRoom(call);
    if (full !== undefined)
      return await this.#dispatcher.refuseQuestion(call, event.question_id, approval !== undefined, full);
    if (approval) {
      const hash = await approvalHash(call.agent, approval.tool, approval.parameters, approval.cwd);
      // What is shown to the person must be what the device will run.
      if (hash !== approval.hash) return logInfo("question.bad_hash", { call: call.id, agent: call.agent });
    }
    await this.#ask(call, {
      id: crypto.randomUUID(),
      call: call.id,
      conversation: this.#place(call),
      agent: call.agent,
      agentQuestion: event.question_id,
      text: event.text,
      options: event.options ?? [],
      approval: approval ?? null,
      expiresAt: Date.now() + event.expires_in_ms,
    });
  }

  /** The reason that a device may ask nothing more for now, in words for it; undefined: it may. */
  #noRoom(call: LedgerCall): string | undefined {
    const { questions } = this.#home;
    if (questions.openOf(call.id).length >= OPEN_A_CALL)
      return `Not asked: ${OPEN_A_CALL} questions of this call wait for an answer already. Ask again when one is answered.`;
    if (questions.openBy(call.agent) >= OPEN_A_DEVICE)
      return `Not asked: ${OPEN_A_DEVICE} questions of this device wait for an answer already. Ask again when one is answered.`;
    return undefined;
  }

  /**
   * Asks for a call to an agent that cannot ask itself, before it is sent.
   * @returns the call's deadline, epoch ms
   */
  async beforeSending(order: NewOrder, reason: string): Promise<number> {
    const { agent } = order;
    const { command, payload } = order.order;
    const hash = await approvalHash(agent, command, payload);
    const expiresAt = Date.now() + GATEWAY_APPROVAL_MS;
    // It came a second time, or was cancelled, meanwhile.
    const known = this.#home.ledger.get(order.id);
    if (known) return known.endsAt;
    // No await before its question: without one it would wait for nobody.
    const call = this.#dispatcher.hold(order);
    await this.#ask(call, {
      id: crypto.randomUUID(),
      call: order.id,
      conversation: this.#place(call),
      agent,
      agentQuestion: null,
      text: `May I send this to '${agent}'? ${command}: ${shortened(visibleJson(payload), { chars: 2_000 })}`,
      options: [],
      approval: {
        tool: command,
        parameters: payload,
        reason,
        hash,
      },
      expiresAt,
    });
    return expiresAt + AFTER_EXPIRY_MS + order.order.totalMs;
  }

  async #ask(call: LedgerCall, asked: NewQuestion): Promise<void> {
    const now = Date.now();
    if (!this.#home.questions.add(asked, now)) return;
    this.#home.ledger.postpone(call.id, asked.expiresAt + AFTER_EXPIRY_MS);
    if (!this.#isAlone(call.id)) {
      // Should this object be stopped while it tells, its alarm does.
      this.#tries.failed(asked.id, now, now);
      await this.#dispatcher.arm();
    }
    await this.#tell(asked, now);
    await this.#dispatcher.arm();
  }

  /** @param askedAt epoch ms */
  async #tell(asked: NewQuestion, askedAt: number): Promise<void> {
    const { id, call, agent, text, options, expiresAt, approval } = asked;
    if (this.#isAlone(call)) {
      tellWatchers(this.#home.ctx, call, newsOf(asked));
      return this.#home.questions.told(id);
    }
    try {
      await conversationOf(this.#home.env, asked.conversation).ask({
        id,
        call,
        agent,
        text,
        options,
        expiresAt,
        approval,
      });
      this.#home.questions.told(id);
      this.#tries.over(id);
    } catch (error) {
      this.#tries.failed(id, askedAt, Date.now());
      logError("question.tell_failed", error, { question: id });
    }
  }

  /** A person answers. Durable when it returns; the device gets it as often as it takes. */
  async answer(
    id: string,
    answer: string,
    by: { principal: string; mayApprove: boolean },
  ): Promise<AnswerResult> {
    const answered = this.#home.questions.answer(id, answer, by, Date.now());
    if (answered.ok) await this.#passOn(answered.question, answer);
    return answered;
  }

  async #passOn(question: Question, answer: string): Promise<void> {
    const call = this.#home.ledger.get(question.call);
    if (call && !call.outcome) {
      if (question.agentQuestion === null) await this.#decide(call, answer);
      else await this.#toAgent(question, call, answer);
    }
    await this.#closed(question, answer);
  }

  /** The gateway's own approval of a call that it holds back. */
  async #decide(call: LedgerCall, answer: string): Promise<void> {
    if (answer === "approve") return await this.#dispatcher.release(call);
    const why = answer === EXPIRED ? "nobody approved it in time" : "it was not approved";
    const text = `Error: The call was not sent to '${call.agent}': ${why}. Nothing was run.`;
    await this.#dispatcher.conclude(call, {
      status: "error",
      errorType: "permission_denied",
      text,
      advice: "Explain this to the user; do not try it another way.",
      elapsedMs: Date.now() - call.createdAt,
      sources: [],
    });
  }

  async #toAgent(question: Question, call: LedgerCall, answer: string): Promise<void> {
    const now = Date.now();
    // A device that is away asks again when it is back, and goes on then; until the question would have expired.
    if (answer === EXPIRED || this.#dispatcher.reach(call.agent, undefined).ok)
      this.#home.ledger.restart(call.id, Math.max(call.silenceMs, call.endsAt - question.expiresAt), now);
    // An expired question: the device knows it by its own clock.
    if (answer === EXPIRED) return;
    const payload = {
      question_id: question.agentQuestion,
      answer,
      ...(question.answeredBy !== null && { by: question.answeredBy }),
      ...(question.approval && { hash: question.approval.hash }),
    };
    const order = {
      command: "answer",
      payload,
      silenceMs: ANSWER_TIMEOUT_MS,
      totalMs: ANSWER_TIMEOUT_MS,
      idempotent: true,
    };
    await this.#dispatcher.dispatch({
      id: crypto.randomUUID(),
      conversation: null,
      agent: call.agent,
      caller: call.caller,
      order,
    });
  }

  async #closed(question: Question, answer: string): Promise<void> {
    if (this.#isAlone(question.call)) return;
    try {
      await conversationOf(this.#home.env, question.conversation).closeQuestion(
        question.id,
        answer,
        question.answeredBy,
      );
    } catch (error) {
      // The conversation shows it open until its turn ends; nothing hangs on it.
      logError("question.close_failed", error, { question: question.id });
    }
  }

  /** No conversation waits for it; who does is told over Home's own waiting room. */
  #isAlone(callId: string): boolean {
    return this.#home.ledger.get(callId)?.conversation === null;
  }

  #place(call: LedgerCall): string {
    return placeOf(call, this.#home.ctx.id.name ?? "");
  }

  /** What a call waits for, for who begins to watch it. */
  openOf(callId: string): CallNews[] {
    return this.#home.questions.openOf(callId).map(newsOf);
  }

  /** A call is over: nobody needs to answer for it any more. */
  async callEnded(callId: string): Promise<void> {
    for (const question of this.#home.questions.openOf(callId)) {
      this.#home.questions.close(question.id, CLOSED, null, Date.now());
      await this.#closed(question, CLOSED);
    }
  }

  /** What the alarm is for: questions that nobody answered, and those that the conversation does not have yet. */
  async tend(): Promise<void> {
    const now = Date.now();
    for (const question of this.#home.questions.expired(now)) {
      this.#home.questions.close(question.id, EXPIRED, null, now);
      this.#tries.over(question.id);
      await this.#passOn(question, EXPIRED);
    }
    for (const question of this.#home.questions.untold())
      if (this.#tries.dueAt(question.id) <= now) await this.#tell(question, question.askedAt);
  }

  #nextDue(): number | undefined {
    const expiry = this.#home.questions.nextExpiry();
    const again = this.#tries.nextOf(this.#home.questions.untold().map(({ id }) => id));
    const due = [expiry, again].filter((time) => time !== undefined);
    return due.length > 0 ? Math.min(...due) : undefined;
  }
}

function newsOf({ id, text, options, approval, expiresAt }: NewQuestion): CallNews {
  return { news: "question", question: { id, text, options, approval: approval !== null, expiresAt } };
}
