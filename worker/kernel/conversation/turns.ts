/** The beginning and the end of a turn: its row first, then everybody who follows it. */
import { withRetry } from "../api/stubs.ts";
import type { NewTurn } from "../api/turns.ts";
import { logInfo } from "../log.ts";
import { phrasesOf } from "../phrases.ts";
import type { ConversationContext } from "./context.ts";
import { lostClientsOf } from "./lost-clients.ts";
import { owedBefore } from "./meanwhile.ts";
import type { Turn } from "./store/rows.ts";
import type { ModelReply } from "./store/transcript.ts";
import { cancelledAnswer } from "./texts.ts";
import { cancelCalls, drainConfirmed } from "./tool-calls.ts";
import { traceTurn, withTrace } from "./trace.ts";
import { reportOf } from "./turn-view.ts";

/** Stores a turn, or recognises it; it is not set going. */
export function beginTurn(context: ConversationContext, request: NewTurn): Turn {
  const { transcript, media, subscribers, name } = context;
  const { turn, as } = transcript.begin(withTrace(context, request), owedBefore(context, request));
  // The line of its end says when a new one began.
  if (as !== "new") logInfo("turn.begun", { turn: turn.id, conversation: name, as });
  if (as === "known") return turn;
  for (const picture of request.media ?? []) media.add(picture);
  subscribers.began(turn);
  // The model's reply would answer only a part of the message.
  if (as === "joined") abortModelCall(context, turn);
  return turn;
}

/** @param error its code, for programs @param last the model's last reply, whose text is the answer */
export function finishTurn(
  context: ConversationContext,
  turn: Turn,
  status: "done" | "failed" | "cancelled",
  answer: string,
  error?: string,
  last?: ModelReply,
): void {
  const { transcript } = context;
  if (!transcript.finish(turn, status, answer, error, last)) return;
  lostClientsOf(context).ended(turn);
  context.subscribers.ended(turn);
  context.chat?.ended(turn);
  const { name, isOneShot } = context;
  const report = reportOf(transcript.turn(turn.id) ?? turn, transcript.entriesOf(turn.n));
  const { iterations, failedCalls, durationMs: ms } = report;
  logInfo("turn.ended", { turn: turn.id, conversation: name, status, iterations, failedCalls, ms });
  traceTurn(context, turn, { status, error, iterations, failedCalls });
  const reported = { ...report, ...(!isOneShot && { conversation: name }) };
  const confirmed = drainConfirmed(context);
  context.later(withRetry(() => context.home().conversations.turnEnded(reported, confirmed)));
}

/** Ends a turn with what was done so far. */
export async function cancelTurn(context: ConversationContext, turn: Turn): Promise<void> {
  // Written down, and the alarm near: a crash while Home tells the devices must not let the turn go on.
  context.transcript.cancelling(turn.n);
  await context.alarm.lease();
  const sent = await cancelCalls(context, turn);
  finishTurn(context, turn, "cancelled", cancelledAnswer(sent, phrasesOf(turn.origin.language)), "cancelled");
  abortModelCall(context, turn);
}

/** Cancels every turn that runs or waits. */
export async function cancelTurns(context: ConversationContext): Promise<void> {
  const { transcript } = context;
  for (let turn = transcript.currentTurn(); turn; turn = transcript.currentTurn())
    await cancelTurn(context, turn);
}

/** The model's reply to this turn is not wanted any more. */
function abortModelCall({ modelCall }: ConversationContext, turn: Turn): void {
  if (modelCall?.turn === turn.n) modelCall.abort.abort();
}
