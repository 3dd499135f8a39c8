/** What the rest of the Worker asks a home about questions. */

import { mayAnswer, maySee } from "../../api/may-see.ts";
import type { QuestionsApi } from "../../api/questions-api.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import type { HomePart } from "../part.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { shownOffers } from "../permissions/offers.ts";
import { answerQuestion } from "../questions/approvals.ts";
import { ownedBy } from "../questions/owned-by.ts";

export const questionsRpc: HomePart<QuestionsApi> = {
  async answer({ home }, id, answer, viewer, way, keep) {
    const isThere = way.by === "chat";
    const question = questionsOf(home).get(id);
    const owned = question && ownedBy(home, question, isThere ? viewer : undefined);
    // A reader of the conversation knows of the question, and learns what is missing. For everybody else it does not exist.
    if (!owned || !maySee(viewer, { ...owned, kind: "conversation" }))
      return { ok: false, status: 404, code: "not_found", message: "no such question" };
    const mayApprove = owned.kind === "approval" && mayAnswer(viewer, owned);
    const by = {
      principal: viewer.name,
      displayName: viewer.displayName,
      isOwner: viewer.role === "owner",
      mayApprove,
      // In a chat an owner lets people in, too.
      mayAccept: mayApprove && (viewer.scopes.includes("admin") || (isThere && viewer.role === "owner")),
    };
    return await answerQuestion(home, id, answer, by, way, keep);
  },
  async askElsewhere({ home }, id, viewer, session) {
    const question = questionsOf(home).get(id);
    const owned = question && ownedBy(home, question);
    if (!owned || !maySee(viewer, { ...owned, kind: "conversation" }) || question.answer !== null)
      return { ok: false, status: 404, code: "not_found", message: "no such open question" };
    if (!mayAnswer(viewer, owned))
      return {
        ok: false,
        status: 403,
        code: "forbidden",
        message: "approving needs a token with the scope 'approve'",
      };
    passkeysOf(home).pressedElsewhere(id, session);
    return { ok: true, asked: [] };
  },
  async questions({ home }, viewer, limit) {
    const questions = questionsOf(home);
    const open = questions.open().filter((question) => maySee(viewer, ownedBy(home, question)));
    const shown = open.slice(0, limit).map((question) => {
      const title = conversationListOf(home).titleOf(question.conversation);
      const { via } = ledgerOf(home).get(question.call)?.caller.chain ?? {};
      // The question itself has what its members would run.
      const members = question.members?.map((one) => ({ ...one, approval: null }));
      const offers = shownOffers(home, question.members?.map((one) => one.id) ?? [question.id]);
      return { ...question, via, offers, ...(title !== undefined && { title }), ...(members && { members }) };
    });
    return { questions: shown, total: open.length };
  },
};
