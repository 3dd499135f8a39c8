/** Takes what Home brings: results, late ones too, and questions of devices. Each becomes a row; then the loop goes on. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import { AFTER_EXPIRY_MS, approvalView, type QuestionToPerson } from "../api/questions.ts";
import { logInfo } from "../log.ts";
import type { ConversationContext } from "./context.ts";
import { settleCall } from "./settle-call.ts";
import { lateNote } from "./texts.ts";
import { extendCall, waitsForCalls } from "./tool-calls.ts";
import { drive } from "./turn-loop.ts";

export async function onResult(
  context: ConversationContext,
  callId: string,
  outcome: Outcome,
  rosterVersion: number | undefined,
): Promise<void> {
  const { media, transcript } = context;
  context.noteRosterVersion(rosterVersion);
  const separated = await media.separate(callId, outcome);
  if (!settleCall(context, callId, separated.outcome))
    return await onResultAfterUnknown(context, callId, outcome);
  for (const picture of separated.added) media.add(picture);
  const turn = transcript.currentTurn();
  if (!turn || !waitsForCalls(context, turn)) drive(context);
}

/** After an answer that says that nothing is known, Home's or (when it could not be reached) our own, the result comes late. */
async function onResultAfterUnknown(
  context: ConversationContext,
  callId: string,
  outcome: Outcome,
): Promise<void> {
  const known = context.transcript.call(callId)?.outcome;
  const isUnsure = known?.errorType === "outcome_unknown" || known?.errorType === "timeout";
  if (isUnsure && outcome.errorType !== "outcome_unknown" && outcome.text !== known.text)
    await onLateResult(context, callId, callId, outcome, false);
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
  const { transcript, media, chat, subscribers, isOneShot } = context;
  const call = transcript.call(callId);
  if (!call) return;
  // It overtook the reply to submit.
  if (!call.outcome) throw new Error("the call has no answer yet that this could come after");
  // A queued call may turn out to begin a job: only the last result sets off a turn.
  const isLast = isJob && outcome.job === undefined;
  const ownTurn = isLast ? (isOneShot ? "apart" : "next") : undefined;
  const separated = await media.separate(by, outcome);
  const note = lateNote(call, separated.outcome);
  if (!transcript.settleLate(callId, by, separated.outcome, note, ownTurn)) return;
  for (const picture of separated.added) media.add(picture);
  const turn = transcript.turnAt(call.turn);
  if (turn) chat?.forUser(turn, { ...call, outcome: separated.outcome });
  logInfo("call.late", { call: callId, by });
  const begun = ownTurn ? transcript.turns().at(-1) : undefined;
  if (begun) subscribers.began(begun);
  drive(context);
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
