/** Whose a question is. */
import type { Owned, Viewer } from "../../api/may-see.ts";
import type { Question } from "../../api/questions.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { conversationListOf } from "../people/conversation-list.ts";

/** A question belongs to its conversation; that of a call without one, to whoever made the call. @param reader reads the chat that shows it */
export function ownedBy(
  home: HomeContext,
  { call, conversation, approval }: Question,
  reader?: Viewer,
): Owned {
  const shared = conversationListOf(home).sharedWith(conversation);
  return {
    kind: approval ? "approval" : "conversation",
    by: conversationListOf(home).principalOf(conversation) ?? ledgerOf(home).get(call)?.caller.principal,
    sharedWith: reader ? [...shared, reader.name] : shared,
  };
}
