/** Takes what Home brings: results, late ones too, and questions of devices. Each becomes a row; then the loop goes on. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { AskedPerson } from "../api/answers.ts";
import { EDGE_CALL } from "../api/edge-call.ts";
import { toolsWith } from "../api/home-tools.ts";
import { AFTER_EXPIRY_MS, type AnsweredBy, type QuestionToPerson, turnQuestion } from "../api/questions.ts";
import { conversationOf } from "../api/stubs.ts";
import type { ConversationContext } from "./context.ts";
import { featuresOf } from "./feature.ts";
import { applyLateResult, applyResult, settleCall } from "./settle-call.ts";
import { callsOf, extendCall, resumeCall, waitsForCalls } from "./tool-calls.ts";
import { drive } from "./turn-loop.ts";

export async function onResult(
  context: ConversationContext,
  callId: string,
  outcome: Outcome,
  rosterVersion: number | undefined,
): Promise<void> {
  context.noteRosterVersion(rosterVersion);
  await applyResult(context, callId, outcome);
  // Home acknowledges the report now, and keeps its outcome no longer.
  context.transcript.writeAll();
  const turn = context.transcript.currentTurn();
  if (!turn || !waitsForCalls(context, turn)) drive(context);
}

/**
 * @param by the id under which it was reported
 * @param isJob it is of a job that the call began
 * @throws while the call has no answer yet: Home brings it again in a moment
 */
export async function onLateResult(
  context: ConversationContext,
  callId: string,
  by: string,
  outcome: Outcome,
  isJob: boolean,
): Promise<void> {
  // A queued call may turn out to begin a job: only the last result sets off a turn.
  const isLast = isJob && outcome.job === undefined;
  const ownTurn = isLast ? (context.isOneShot ? "apart" : "next") : undefined;
  if (await applyLateResult(context, callId, by, outcome, () => ownTurn)) drive(context);
}

/** Turns of this conversation that ends of sessions and jobs may begin, per hour. The model learns of any other with the next question. */
const TURNS_AN_HOUR = 20;
const HOUR_MS = 3_600_000;

/** A turn that a call began in a session has ended. @returns false: not now, tell it again later */
export async function onSessionEnded(
  context: ConversationContext,
  callId: string,
  turnId: string,
  outcome: Outcome,
): Promise<boolean> {
  const { transcript } = context;
  const call = transcript.call(callId);
  if (!call) return true;
  const isAgents = call.name === EDGE_CALL;
  if (!call.outcome) {
    // Its agent may take the outcome itself.
    if (isAgents) return false;
    if (settleCall(context, callId, outcome)) drive(context);
    return true;
  }
  const { job, errorType } = call.outcome;
  // It is answered by this end already, or was cancelled.
  const isAnswered = job === undefined && errorType !== "outcome_unknown";
  if (!isAgents && turnId === callId && isAnswered) return true;
  // A session that ended with the turn in which its agent waited.
  const isCancelled = transcript.turnAt(call.turn)?.error === "cancelled";
  if (isAgents && isCancelled && outcome.status === "error") return true;
  const since = Date.now() - HOUR_MS;
  const own = context.isOneShot ? "apart" : "next";
  const turnFor = () => {
    const begun = transcript.turns().filter(({ origin, createdAt }) => origin.event && createdAt > since);
    return begun.length < TURNS_AN_HOUR ? own : undefined;
  };
  if (await applyLateResult(context, callId, turnId, outcome, turnFor)) drive(context);
  return true;
}

/**
 * A device, or the gateway for it, asks the person. In a session that another conversation began, the question is shown there too.
 * @throws when that one is not reached: Home brings the question again
 */
export async function onQuestion(context: ConversationContext, asked: QuestionToPerson): Promise<void> {
  const { transcript, chat, subscribers } = context;
  const call = transcript.call(asked.call);
  const turn = call && transcript.turnAt(call.turn);
  if (!turn || (call.outcome && call.outcome.job === undefined && !asked.isPassedOn)) return;
  const question = turnQuestion(asked);
  if (transcript.addQuestion(question, turn.n)) {
    for (const id of callsOf(question)) waitForPerson(context, id, asked.expiresAt + AFTER_EXPIRY_MS);
    subscribers.changed(turn);
    chat?.asked(turn, asked.id);
    drive(context);
  }
  const { session } = turn.origin;
  if (!session?.parent) return;
  const parent = conversationOf(context.env, session.parent);
  await parent.ask({ ...asked, call: session.call, isPassedOn: true });
  // It may have its answer meanwhile.
  const answer = transcript.question(asked.id)?.question.answer;
  if (answer !== undefined) await parent.closeQuestion(asked.id, answer, null);
}

/** More people were asked to decide the question, which a session shows where it was begun too. @param since who were asked now */
export async function onAskedMore(
  { transcript, chat, subscribers, env }: ConversationContext,
  id: string,
  all: AskedPerson[],
  since: AskedPerson[],
): Promise<void> {
  const turn = transcript.noteAsked(id, all);
  if (!turn) return;
  subscribers.changed(turn);
  chat?.askedMore(turn, since);
  const { session } = turn.origin;
  if (session?.parent) await conversationOf(env, session.parent).askedMore(id, all, since);
}

/** A person who wrote in a chat app looks at it for about so long. */
const LOOKS_MS = 5 * 60_000;

/** True if a person waits for this call: their client is there, or they have just written in this chat. Of a session, where it was begun. */
export async function isAwaited(context: ConversationContext, callId: string): Promise<boolean> {
  const { transcript, chat, subscribers, env } = context;
  const turn = transcript.turnAt(transcript.call(callId)?.turn ?? -1);
  if (!turn || turn.origin.event !== undefined) return false;
  if (subscribers.has(turn.id)) return true;
  const { session } = turn.origin;
  if (session?.parent) return await conversationOf(env, session.parent).isAwaited(session.call);
  return chat !== undefined && turn.createdAt > Date.now() - LOOKS_MS;
}

/** A call waits for a person, who is asked now or in a moment. @param until epoch ms; the call is not over before */
export function waitForPerson(context: ConversationContext, callId: string, until: number): void {
  const call = context.transcript.call(callId);
  if (call && !call.outcome) extendCall(context, callId, until);
}

/** The question has its answer, or nobody needs to answer it any more. */
export async function onQuestionClosed(
  context: ConversationContext,
  id: string,
  answer: string,
  answered: AnsweredBy,
): Promise<void> {
  const { by, name, how } = answered;
  const { transcript, chat, subscribers, env } = context;
  const turn = transcript.closeQuestion(id, answer, answered);
  if (!turn) return;
  // Before any `await`: this sends the last row that was written, and another may be written meanwhile.
  subscribers.changed(turn);
  chat?.closed(turn, id);
  const { session } = turn.origin;
  if (session?.parent) await conversationOf(env, session.parent).closeQuestion(id, answer, by, name, how);
  const closed = transcript.question(id)?.question;
  for (const call of closed ? callsOf(closed) : []) resumeCall(context, call);
  askHomeAgain(context, closed?.call);
}

/** Home answers the call of some tools when it is asked again after its approval. */
function askHomeAgain(context: ConversationContext, id: string | undefined): void {
  const call = id === undefined ? undefined : context.transcript.call(id);
  if (!call || call.outcome || !toolsWith(featuresOf(context), call.name)?.asksAgain) return;
  context.sent.set(call.id, { at: Date.now(), ...context.sent.get(call.id), deadline: 0 });
  drive(context);
}
