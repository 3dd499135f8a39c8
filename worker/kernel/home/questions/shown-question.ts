/** A question as people are shown it. */

import {
  listedMembers,
  type NewQuestion,
  type Question,
  type QuestionToPerson,
} from "../../api/questions.ts";
import type { HomeContext } from "../context.ts";
import { idInConversation, ledgerOf } from "../ledger/ledger.ts";
import { shownOffers } from "../permissions/offers.ts";

export function shownOf(
  home: HomeContext,
  question: NewQuestion & Pick<Question, "members">,
): QuestionToPerson {
  const { id, agent, text, options, expiresAt, approval } = question;
  const call = ledgerOf(home).get(question.call);
  // A person sees it at the call with which the chain began.
  const members = question.members && listedMembers(question.members);
  const offers = shownOffers(home, question);
  return {
    id,
    call: members?.[0]?.call ?? (call ? idInConversation(call) : question.call),
    agent,
    via: call?.caller.chain?.via,
    text,
    options,
    expiresAt,
    approval,
    ...(members && { members }),
    ...(offers && { offers }),
  };
}
