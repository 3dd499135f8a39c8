/**
 * Asks people to decide an approval, beside the conversation that shows it: those at hand first, then everybody who may
 * (escalation.ts). In private chats they have its buttons; browsers and topics get a notification.
 */

import type { AskedPerson } from "../../api/answers.ts";
import { askedPeople, type Question, type QuestionToPerson, type Reached } from "../../api/questions.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError } from "../../log.ts";
import { phrasesOf } from "../../phrases.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { questionsOf } from "../ledger/questions.ts";
import { mayApprove } from "../notices/rights.ts";
import { personName } from "../people/person-name.ts";
import { REMIND_AFTER_MS } from "./asking-times.ts";
import { callOf, type Decider, decidersOf } from "./deciders.ts";
import { isOfProgram } from "./question-kind.ts";
import { notifyOutside, withdrawOutside } from "./question-notices.ts";
import { shownOf } from "./shown-question.ts";
import { heldUntil } from "./waiting.ts";

/**
 * Asks at once, where whoever made the call may not decide: the people at hand, or everybody when nobody is. The person of a program
 * may be at that program, so everybody waits for two minutes there.
 * @returns who was asked; undefined: the asker may decide, or it is no approval
 */
export async function askApprovers(
  home: HomeContext,
  id: string,
  shown: QuestionToPerson,
): Promise<AskedPerson[] | undefined> {
  const question = questionsOf(home).get(id);
  const call = question && callOf(home, question);
  const caller = call?.caller ?? question?.approval?.forOwners;
  if (!caller || !question?.approval) return undefined;
  const isForOwners = question.approval.forOwners !== undefined;
  const isOwn = mayApprove(home, caller) && (!isForOwners || caller.role === "owner");
  if (isOwn && !isOfProgram({ caller })) return undefined;
  // It is delivered once more: they were asked.
  if (question.asked) return askedPeople(question.asked);
  const now = Date.now();
  const deciders = decidersOf(home, question, now);
  const atHand = deciders.filter(({ isAtHand }) => isAtHand);
  // A repeat of what was denied disturbs nobody who is away.
  const isRepeat = question.askMoreAt === undefined;
  const mayAskAll = atHand.length === 0 && !isRepeat && !isOwn;
  const isAll = mayAskAll && (await heldUntil(home, question, now)) === undefined;
  const asked = await tell(home, question, shown, { deciders: isAll ? deciders : atHand, withPush: isAll });
  if (isAll) questionsOf(home).setAsked(id, asked, 2, question.askedAt + REMIND_AFTER_MS);
  else if (asked.length > 0) questionsOf(home).setAsked(id, asked, 1, question.askMoreAt);
  return isOwn && asked.length === 0 ? undefined : askedPeople(asked);
}

/** Asks everybody who may decide it and was not asked yet. @returns everybody who was asked so far */
export async function askEverybody(home: HomeContext, question: Question): Promise<Reached[]> {
  const before = question.asked ?? [];
  const deciders = decidersOf(home, question, Date.now());
  const added = await tell(home, question, shownOf(home, question), { deciders, withPush: true });
  const all = [...before, ...added];
  const call = callOf(home, question);
  const named = new Set(before.map(({ name }) => name));
  // Whoever waits knows of themselves.
  const isAsker = ({ principal }: Reached) => principal === call?.caller.principal;
  const others = added.filter((one) => !isAsker(one) && !named.has(one.name));
  if (others.length > 0 && call?.conversation !== null)
    await noteAsked(
      home,
      question,
      all.filter((one) => !isAsker(one)),
      others,
    );
  return all;
}

async function noteAsked(
  home: HomeContext,
  { id, conversation }: Question,
  all: Reached[],
  since: Reached[],
): Promise<void> {
  try {
    await conversationOf(home.env, conversation).askedMore(id, askedPeople(all), askedPeople(since));
  } catch (error) {
    // Home's list of questions says it too.
    logError("question.asked_not_noted", error, { question: id });
  }
}

/** Sends a notification once more, urgently, wherever one was sent. */
export async function remindAsked(home: HomeContext, question: Question): Promise<void> {
  const ids = (question.asked ?? []).flatMap(({ subscriptions = [] }) => subscriptions);
  await notifyOutside(home, ids, question, { urgent: true });
}

/** @returns those who were reached now, as they were */
async function tell(
  home: HomeContext,
  question: Question,
  shown: QuestionToPerson,
  { deciders, withPush }: { deciders: readonly Decider[]; withPush: boolean },
): Promise<Reached[]> {
  const now = Date.now();
  const asker = askerText(home, question);
  const toDecide = { ...shown, via: [...(asker === "" ? [] : [asker]), ...(shown.via ?? [])] };
  const before = question.asked ?? [];
  const known = new Set(before.flatMap(({ chat = "", subscriptions = [] }) => [chat, ...subscriptions]));
  const time = phrasesOf().time(now, clockOf(home).read().zone, now);
  const reached = deciders.map(async (one): Promise<Reached[]> => {
    const { principal, name, chat } = one;
    const isNewChat = chat !== undefined && !known.has(chat);
    const hasChat = isNewChat && (await decide(home, chat, toDecide));
    const subscriptions = withPush ? one.subscriptions.filter((id) => !known.has(id)) : [];
    // An open page shows it by itself.
    const isOnPage = chat === undefined && one.isAtHand && !before.some((other) => other.name === name);
    if (!hasChat && subscriptions.length === 0 && !isOnPage) return [];
    const places = { ...(hasChat && { chat }), ...(subscriptions.length > 0 && { subscriptions }) };
    return [{ principal, name, at: now, time, ...places }];
  });
  const asked = (await Promise.all(reached)).flat();
  await notifyOutside(
    home,
    asked.flatMap(({ subscriptions = [] }) => subscriptions),
    question,
    { urgent: false },
  );
  // It may have been decided while the chats were told.
  const current = questionsOf(home).get(question.id);
  if (current && current.answer !== null) await closeAtApprovers(home, { ...current, asked }, current.answer);
  return asked;
}

async function decide(home: HomeContext, chat: string, asked: QuestionToPerson): Promise<boolean> {
  try {
    return (await conversationOf(home.env, chat).decide(asked)).accepted;
  } catch (error) {
    logError("approver.not_asked", error, { question: asked.id });
    return false;
  }
}

/** It is decided, or nobody needs to any more. */
export async function closeAtApprovers(home: HomeContext, question: Question, answer: string): Promise<void> {
  const { id, answeredBy, answeredByName, asked = [] } = question;
  if (asked.length === 0) return;
  const ids = asked.flatMap(({ subscriptions = [] }) => subscriptions);
  await withdrawOutside(home, ids, question);
  const closing = asked
    .flatMap(({ chat }) => chat ?? [])
    .map((chat) => conversationOf(home.env, chat).closeQuestion(id, answer, answeredBy, answeredByName));
  for (const closed of await Promise.allSettled(closing))
    if (closed.status === "rejected") logError("question.close_failed", closed.reason, { question: id });
}

/** Who made the call, for people; "": the gateway's own, of nobody's. */
function askerText(home: HomeContext, question: Question): string {
  const caller = callOf(home, question)?.caller ?? question.approval?.forOwners;
  if (!caller) return "";
  const { principal } = caller;
  const name = personName(home, principal, undefined);
  return name === undefined ? principal : `${name} (${principal})`;
}
