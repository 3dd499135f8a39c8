/** Says what became of a question, to a person who comes too late. */

import { visible } from "@edgecall/core/tools/visible.ts";
import { CLOSED, EXPIRED } from "../../api/questions.ts";
import { phrasesOf } from "../../phrases.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { questionsOf } from "../ledger/questions.ts";
import { personText } from "../people/person-name.ts";

/** @returns undefined: it is open, or there is none */
export function outcomeText(home: HomeContext, id: string): string | undefined {
  const { answer = null, answeredBy = null, answeredAt = null } = questionsOf(home).get(id) ?? {};
  if (answer === null) return undefined;
  if (answer === EXPIRED) return "Nobody answered in time; nothing was run.";
  if (answer === CLOSED || answeredBy === null) return "It is no longer needed.";
  const name = personText(home, { principal: answeredBy });
  const at = answeredAt ?? 0;
  const said = answer === "approve" ? "yes" : answer === "deny" ? "no" : `“${visible(answer)}”`;
  return `${name} said ${said}, ${phrasesOf().time(at, clockOf(home).read().zone, Date.now())}.`;
}
