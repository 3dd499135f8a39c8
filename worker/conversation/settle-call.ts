/** Answers a call of the transcript, and tells everybody who follows its turn. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { ConversationContext } from "./context.ts";

/** The first answer counts. @returns false when the call had its answer before */
export function settleCall(context: ConversationContext, callId: string, outcome: Outcome): boolean {
  const { transcript, sent, unsent, chat, subscribers } = context;
  const n = transcript.settle(callId, outcome, sent.get(callId)?.at);
  sent.delete(callId);
  unsent.delete(callId);
  if (n === undefined) return false;
  const turn = transcript.turnAt(n);
  if (!turn) return true;
  const call = chat && transcript.call(callId);
  if (call) chat.forUser(turn, call);
  subscribers.changed(turn);
  chat?.progress(turn);
  return true;
}
