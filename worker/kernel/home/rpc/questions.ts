/** What the rest of the Worker asks a home about questions. */

import { mayAnswer, maySee, type Owned, type Viewer } from "../../api/may-see.ts";
import type { Question } from "../../api/questions.ts";
import type { QuestionsApi } from "../../api/questions-api.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import type { HomePart } from "../part.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { answerQuestion } from "../questions/approvals.ts";

export const questionsRpc: HomePart<QuestionsApi> = {
  async answer({ home }, id, answer, viewer, isThere = false) {
    const question = questionsOf(home).get(id);
    const owned = question && ownedBy(home, question, isThere ? viewer : undefined);
    // A reader of the conversation knows of the question, and learns what is missing. For everybody else it does not exist.
    if (!owned || !maySee(viewer, { ...owned, kind: "conversation" }))
      return { ok: false, status: 404, code: "not_found", message: "no such question" };
    const mayApprove = owned.kind === "approval" && mayAnswer(viewer, owned);
    return await answerQuestion(home, id, answer, {
      principal: viewer.name,
      displayName: viewer.displayName,
      mayApprove,
      // In a chat an owner lets people in, too.
      mayAccept: mayApprove && (viewer.scopes.includes("admin") || (isThere && viewer.role === "owner")),
    });
  },
  async questions({ home }, viewer, limit) {
    const questions = questionsOf(home);
    const open = questions.open().filter((question) => maySee(viewer, ownedBy(home, question)));
    const shown = open.slice(0, limit).map((question) => {
      const title = conversationListOf(home).titleOf(question.conversation);
      const { via } = ledgerOf(home).get(question.call)?.caller.chain ?? {};
      // The question itself has what its members would run.
      const members = question.members?.map((one) => ({ ...one, approval: null }));
      return { ...question, via, ...(title !== undefined && { title }), ...(members && { members }) };
    });
    return { questions: shown, total: open.length };
  },
};

/** A question belongs to its conversation; that of a call without one, to whoever made the call. */
function ownedBy(home: HomeContext, { call, conversation, approval }: Question, reader?: Viewer): Owned {
  const shared = conversationListOf(home).sharedWith(conversation);
  return {
    kind: approval ? "approval" : "conversation",
    by: conversationListOf(home).principalOf(conversation) ?? ledgerOf(home).get(call)?.caller.principal,
    sharedWith: reader ? [...shared, reader.name] : shared,
  };
}
