/** Answers a call of the transcript, and tells everybody who follows its turn. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import { logInfo } from "../log.ts";
import type { ConversationContext } from "./context.ts";
import { listFiles } from "./listed-files.ts";
import type { Turn } from "./store/rows.ts";
import { lateNote } from "./texts.ts";
import { traceCall } from "./trace.ts";

/**
 * The first answer counts.
 * @param isHeld as for `Transcript.settle`
 * @returns false when the call had its answer before
 */
export function settleCall(
  context: ConversationContext,
  callId: string,
  outcome: Outcome,
  isHeld = false,
): boolean {
  const { transcript, sent, unsent, chat, subscribers } = context;
  const sentAt = sent.get(callId)?.at;
  const n = transcript.settle(callId, outcome, sentAt, isHeld);
  sent.delete(callId);
  unsent.delete(callId);
  if (n === undefined) return false;
  const turn = transcript.turnAt(n);
  if (!turn) return true;
  const call = chat || context.tracer ? transcript.call(callId) : undefined;
  if (call) {
    chat?.forUser(turn, call);
    if (outcome.shown) chat?.notify(turn, outcome.shown.text, callId);
    traceCall(context, turn, call, outcome, sentAt);
  }
  subscribers.changed(turn);
  chat?.progress(turn);
  return true;
}

/**
 * Answers a call with its device's result, pictures too. A result that comes after an answer which says that nothing is known,
 * Home's or (when it could not be reached) our own, is a late one.
 * @param isHeld asked after the last wait: as for `Transcript.settle`
 */
export async function applyResult(
  context: ConversationContext,
  callId: string,
  outcome: Outcome,
  isHeld = () => false,
): Promise<void> {
  const { media, transcript } = context;
  const separated = await media.separate(callId, outcome);
  if (settleCall(context, callId, separated.outcome, isHeld())) {
    for (const picture of separated.added) media.add(picture);
    const call = separated.outcome.media && transcript.call(callId);
    if (call) listFiles(context, call, separated.outcome);
    return;
  }
  const known = transcript.call(callId)?.outcome;
  const isUnsure = known?.errorType === "outcome_unknown" || known?.errorType === "timeout";
  if (isUnsure && outcome.errorType !== "outcome_unknown" && outcome.text !== known.text)
    await applyLateResult(context, callId, callId, outcome, () => undefined);
}

/**
 * @param by the id under which it was reported
 * @param ownTurn it begins a turn of its own; undefined: the model learns of it with the next question
 * @returns false: it was known
 * @throws while the call has no answer yet: Home brings it again in a moment
 */
export async function applyLateResult(
  context: ConversationContext,
  callId: string,
  by: string,
  outcome: Outcome,
  turnFor: () => "apart" | "next" | undefined,
): Promise<boolean> {
  const { transcript, media, chat, subscribers } = context;
  const call = transcript.call(callId);
  if (!call) return false;
  // It overtook the reply to submit.
  if (!call.outcome) throw new Error("the call has no answer yet that this could come after");
  const separated = await media.separate(by, outcome);
  const note = lateNote(call, separated.outcome);
  // Asked after the last wait: others may have come meanwhile.
  const ownTurn = turnFor();
  if (!transcript.settleLate(callId, by, separated.outcome, note, ownTurn)) return false;
  for (const picture of separated.added) media.add(picture);
  listFiles(context, call, separated.outcome);
  const turn = transcript.turnAt(call.turn);
  if (turn) chat?.forUser(turn, { ...call, outcome: separated.outcome });
  logInfo("call.late", { call: callId, by });
  const begun: Turn | undefined = ownTurn ? transcript.turns().at(-1) : undefined;
  if (begun) subscribers.began(begun);
  return true;
}
