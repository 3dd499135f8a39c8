/** Shows a question to whoever waits for its call: in its conversation, or in Home's own waiting room. */

import type { CallNews } from "../../api/calls.ts";
import type { NewQuestion, Question } from "../../api/questions.ts";
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

/** Asks for a call that Home runs itself, and that is in no ledger. Whoever made it makes it again after the answer (rules/ask-first.ts). */
export async function askForOwnCall(home: HomeContext, question: NewQuestion): Promise<void> {
  const now = Date.now();
  if (questionsOf(home).openOf(question.call).length > 0) return;
  questionsOf(home).add(question, now, askMoreAt(home, question, now));
  await deliverSoon(home, question, now);
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
