/** Shows a question to whoever waits for its call: in its conversation, or in Home's own waiting room. */

import { GATEWAY_AGENT } from "../../api/audit.ts";
import type { CallNews } from "../../api/calls.ts";
import { AFTER_EXPIRY_MS, type NewQuestion, type Question } from "../../api/questions.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError } from "../../log.ts";
import { notifyWatchers } from "../calls/call-watchers.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import { askApprovers } from "./approvers.ts";
import { askMoreAt } from "./escalation.ts";
import { questionRetriesOf } from "./question-retries.ts";
import { shownOf } from "./shown-question.ts";

/** A person has so long to answer for a call that Home runs itself. */
const OPEN_MS = 10 * 60_000;

/** Why a person is asked where a stranger's text is in the conversation. */
export const OTHERS_WORDS = "others' words are in the conversation, which may have asked for it";

/**
 * Asks for a call that Home runs itself, and that is in no ledger, unless that is asked already. Its conversation makes the call again
 * after the answer.
 * @returns the question, and until when the call waits at most
 */
export async function askForOwnCall(
  home: HomeContext,
  { call, ...asked }: Pick<NewQuestion, "call" | "conversation" | "text" | "approval">,
): Promise<{ waitsUntil: number; question: string }> {
  const now = Date.now();
  const [open] = questionsOf(home).openOf(call);
  const { id, expiresAt } = open ?? { id: crypto.randomUUID(), expiresAt: now + OPEN_MS };
  if (!open) {
    const own = { agent: GATEWAY_AGENT, agentQuestion: null, options: [] };
    const question: NewQuestion = { id, call, ...asked, ...own, expiresAt };
    questionsOf(home).add(question, now, askMoreAt(home, question, now));
    await deliverSoon(home, question, now);
  }
  return { waitsUntil: expiresAt + AFTER_EXPIRY_MS, question: id };
}

/** If this object is stopped before the conversation has it, its alarm delivers it. */
export async function deliverSoon(
  home: HomeContext,
  question: NewQuestion & Pick<Question, "members">,
  now: number,
): Promise<void> {
  questionRetriesOf(home).failed(question.id, now, now);
  await home.alarm.arm();
  await deliverQuestion(home, question, now);
  await home.alarm.arm();
}

/** @param askedAt epoch ms */
export async function deliverQuestion(
  home: HomeContext,
  question: NewQuestion & Pick<Question, "members">,
  askedAt: number,
): Promise<void> {
  const { id } = question;
  const call = ledgerOf(home).get(question.call);
  const shown = shownOf(home, question);
  if (call?.conversation === null) {
    notifyWatchers(home.ctx, shown.call, newsOf(question));
    questionsOf(home).setDelivered(id);
    await askApprovers(home, id, shown);
    return;
  }
  try {
    // First: whoever waits reads who was asked.
    const asked = await askApprovers(home, id, shown);
    const stub = conversationOf(home.env, question.conversation);
    await stub.ask({ ...shown, ...(asked && { asked }) });
    questionsOf(home).setDelivered(id);
    questionRetriesOf(home).remove(id);
  } catch (error) {
    questionRetriesOf(home).failed(id, askedAt, Date.now());
    logError("question.deliver_failed", error, { question: id });
  }
}

export function newsOf({ id, text, options, approval, expiresAt }: NewQuestion): CallNews {
  return { news: "question", question: { id, text, options, approval: approval !== null, expiresAt } };
}
