/** The end of a turn: its row first, then everybody who waits for it. */
import { logInfo } from "../log.ts";
import type { ConversationContext } from "./context.ts";
import type { Turn } from "./store/rows.ts";
import { cancelledAnswer } from "./texts.ts";
import { cancelCalls } from "./tool-calls.ts";
import { turnCounts } from "./turn-view.ts";

/** @param error its code, for programs */
export function finishTurn(
  context: ConversationContext,
  turn: Turn,
  status: "done" | "failed" | "cancelled",
  answer: string,
  error?: string,
): void {
  const { transcript } = context;
  if (!transcript.finish(turn, status, answer, error)) return;
  context.lostClients.ended(turn);
  context.subscribers.ended(turn);
  context.chat?.ended(turn);
  const { name, isOneShot } = context;
  const counts = turnCounts(transcript.turn(turn.id) ?? turn, transcript.entriesOf(turn.n));
  const { iterations, failedCalls, durationMs: ms } = counts;
  logInfo("turn.ended", { turn: turn.id, conversation: name, status, iterations, failedCalls, ms });
  context.later(context.home().turnEnded({ ...counts, ...(!isOneShot && { conversation: name }) }));
}

/** What was done so far stays said. */
export async function cancelTurn(context: ConversationContext, turn: Turn): Promise<void> {
  // Written down, and the alarm near: a crash while Home tells the devices must not let the turn go on.
  context.transcript.cancelling(turn.n);
  await context.alarm.lease();
  const sent = await cancelCalls(context, turn);
  finishTurn(context, turn, "cancelled", cancelledAnswer(sent), "cancelled");
  abortModelCall(context, turn);
}

/** Cancels every turn that runs or waits. */
export async function cancelTurns(context: ConversationContext): Promise<void> {
  const { transcript } = context;
  for (let turn = transcript.currentTurn(); turn; turn = transcript.currentTurn())
    await cancelTurn(context, turn);
}

/** The model is about to answer something else than what was said. */
export function abortModelCall({ modelCall }: ConversationContext, turn: Turn): void {
  if (modelCall?.turn === turn.n) modelCall.abort.abort();
}
