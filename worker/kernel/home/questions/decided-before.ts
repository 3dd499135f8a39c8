/**
 * The same call twice in one turn asks once. A no counts for each repetition. A yes counts for one that does no more than was approved:
 * it may run again without harm, is not dangerous, and no stranger's text is in the conversation.
 */

import type { Question } from "../../api/questions.ts";
import type { HomeContext } from "../context.ts";
import type { CallFlags } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";

type Repeated = { conversation: string | null; idempotent: boolean; flags: CallFlags };

/** @param hash of exactly the call, as an approval binds it @returns the question that decided it in this turn, with its answer */
export function decidedInTurn(
  home: HomeContext,
  { conversation, idempotent, flags }: Repeated,
  hash: string,
): (Question & { answer: "approve" | "deny" }) | undefined {
  const { turn, tainted = false } = flags;
  if (conversation === null || turn === undefined) return undefined;
  const decided = questionsOf(home)
    .decidedSince(conversation, turn)
    .findLast((one) => one.approval?.hash === hash);
  if (decided?.answer === "deny") return { ...decided, answer: "deny" };
  const isHarmless = idempotent && !tainted && decided?.approval?.card?.danger !== true;
  return decided?.answer === "approve" && isHarmless ? { ...decided, answer: "approve" } : undefined;
}
