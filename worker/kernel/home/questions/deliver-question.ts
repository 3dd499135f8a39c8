/** Shows a question to whoever waits for its call: in its conversation, or in Home's own waiting room. */

import type { CallNews } from "../../api/calls.ts";
import { listedMembers, type NewQuestion, type Question } from "../../api/questions.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError } from "../../log.ts";
import { notifyWatchers } from "../calls/call-watchers.ts";
import type { HomeContext } from "../context.ts";
import { idInConversation, ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import { askApprovers } from "./approvers.ts";
import { questionRetriesOf } from "./question-retries.ts";

/** Asks for a call that Home runs itself, and that is in no ledger. Whoever made it makes it again after the answer (rules/ask-first.ts). */
export async function askForOwnCall(home: HomeContext, question: NewQuestion): Promise<void> {
  const now = Date.now();
  if (questionsOf(home).openOf(question.call).length > 0) return;
  questionsOf(home).add(question, now);
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
  const { id, agent, text, options, expiresAt, approval } = question;
  const call = ledgerOf(home).get(question.call);
  // A person sees it at the call with which the chain began.
  const members = question.members && listedMembers(question.members);
  const shownAs = members?.[0]?.call ?? (call ? idInConversation(call) : question.call);
  const shown = {
    id,
    call: shownAs,
    agent,
    via: call?.caller.chain?.via,
    text,
    options,
    expiresAt,
    approval,
    ...(members && { members }),
  };
  if (call?.conversation === null) {
    notifyWatchers(home.ctx, shownAs, newsOf(question));
    questionsOf(home).setDelivered(id);
    await askApprovers(home, question, shown);
    return;
  }
  try {
    // First: whoever waits reads who was asked.
    const asks = await askApprovers(home, question, shown);
    const stub = conversationOf(home.env, question.conversation);
    await stub.ask({ ...shown, ...(asks && { asks }) });
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
