/** What the rest of the Worker asks a home about questions. */

import { mayAnswer, maySee, type Viewer } from "../../api/may-see.ts";
import type { AnswerWay } from "../../api/passkeys.ts";
import type { Keep } from "../../api/permissions.ts";
import type { AnswerResult } from "../../api/questions.ts";
import type { QuestionsApi } from "../../api/questions-api.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import type { HomePart } from "../part.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { shownOffers } from "../permissions/offers.ts";
import { answerQuestion } from "../questions/approvals.ts";
import { askAllNow } from "../questions/escalation.ts";
import { ownedBy } from "../questions/owned-by.ts";
import { kindOf } from "../questions/question-kind.ts";

export const questionsRpc: HomePart<QuestionsApi> = {
  answer: ({ home }, id, answer, viewer, way, keep) => answerAs(home, id, answer, viewer, way, keep),
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
    const asked = await askAllNow(home, question, Date.now());
    return { ok: true, asked: asked.map(({ name }) => name) };
  },
  async questions({ home }, viewer, limit) {
    const questions = questionsOf(home);
    const open = questions.open().filter((question) => maySee(viewer, ownedBy(home, question)));
    const shown = open.slice(0, limit).map((question) => {
      const title = conversationListOf(home).titleOf(question.conversation);
      const { chain, principal } = ledgerOf(home).get(question.call)?.caller ?? {};
      // Whoever waits knows of themselves.
      const asked = question.asked?.filter((one) => one.principal !== principal);
      // The question itself has what its members would run.
      const members = question.members?.map((one) => ({ ...one, approval: null }));
      const offers = shownOffers(home, question);
      return {
        ...question,
        via: chain?.via,
        asked,
        offers,
        ...(kindOf(home, question).isPlain && { plain: true }),
        ...(title !== undefined && { title }),
        ...(members && { members }),
      };
    });
    return { questions: shown, total: open.length };
  },
};

/** A person answers, where they may. @param way and `keep` as in `QuestionsApi` */
export async function answerAs(
  home: HomeContext,
  id: string,
  answer: string,
  viewer: Viewer,
  way: AnswerWay,
  keep?: Keep,
): Promise<AnswerResult> {
  const isThere = way.by === "chat";
  const question = questionsOf(home).get(id);
  const owned = question && ownedBy(home, question, isThere ? viewer : undefined);
  // A reader of the conversation knows of the question, and learns what is missing. For everybody else it does not exist.
  if (!owned || !maySee(viewer, { ...owned, kind: "conversation" }))
    return { ok: false, status: 404, code: "not_found", message: "no such question" };
  const isForThem = !question?.approval?.forOwners || viewer.role === "owner";
  const mayApprove = owned.kind === "approval" && isForThem && mayAnswer(viewer, owned);
  const by = {
    principal: viewer.name,
    displayName: viewer.displayName,
    isOwner: viewer.role === "owner",
    mayApprove,
    // In a chat an owner lets people in, too.
    mayAccept: mayApprove && (viewer.scopes.includes("admin") || (isThere && viewer.role === "owner")),
  };
  return await answerQuestion(home, id, answer, by, way, keep);
}
