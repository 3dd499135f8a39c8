/** Takes what Home brings: results, late ones too, and questions of devices. Each becomes a row; then the loop goes on. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import { AFTER_EXPIRY_MS, approvalView, type QuestionToPerson } from "../api/questions.ts";
import type { ConversationContext } from "./context.ts";
import { takeLateResult, takeResult } from "./settle-call.ts";
import { extendCall, waitsForCalls } from "./tool-calls.ts";
import { drive } from "./turn-loop.ts";

export async function onResult(
  context: ConversationContext,
  callId: string,
  outcome: Outcome,
  rosterVersion: number | undefined,
): Promise<void> {
  context.noteRosterVersion(rosterVersion);
  await takeResult(context, callId, outcome);
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
  if (await takeLateResult(context, callId, by, outcome, ownTurn)) drive(context);
}

/** A device, or the gateway for it, asks the person. */
export function onQuestion(context: ConversationContext, asked: QuestionToPerson): void {
  const { transcript, chat, subscribers } = context;
  const call = transcript.call(asked.call);
  const turn = call && transcript.turnAt(call.turn);
  if (!turn || call.outcome) return;
  const { approval, expiresAt: expires_at, ...rest } = asked;
  const question = { ...rest, expires_at, ...(approval && { approval: approvalView(approval) }) };
  if (!transcript.addQuestion(question, turn.n)) return;
  extendCall(context, call.id, expires_at + AFTER_EXPIRY_MS);
  subscribers.changed(turn);
  chat?.asked(turn, asked.id);
  drive(context);
}

/** The question has its answer, or nobody needs to answer it any more. */
export function onQuestionClosed(
  { transcript, chat, subscribers }: ConversationContext,
  id: string,
  answer: string,
  by: string | null,
): void {
  const turn = transcript.closeQuestion(id, answer, by);
  if (!turn) return;
  subscribers.changed(turn);
  chat?.closed(turn, id);
}
