/** Says what became of a question, to a person who comes too late. */

import { visible } from "@edgecall/core/tools/visible.ts";
import { CLOSED, EXPIRED } from "../../api/questions.ts";
import { phrasesOf } from "../../phrases.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { questionsOf } from "../ledger/questions.ts";
import { personText } from "../people/person-name.ts";
import { callOf } from "./deciders.ts";
import { languageOf } from "./describe-approval.ts";

/** @returns undefined: it is open, or there is none */
export function outcomeText(home: HomeContext, id: string): string | undefined {
  const question = questionsOf(home).get(id);
  if (!question || question.answer === null) return undefined;
  const { answer, answeredBy, answeredAt, approval } = question;
  const phrases = phrasesOf(languageOf(callOf(home, question)));
  if (answer === EXPIRED) return phrases.say("nobodyAnswered");
  if (answer === CLOSED || answeredBy === null) return phrases.say("notNeeded");
  const name = personText(home, { principal: answeredBy });
  if (!approval) return `${name}: ${visible(answer)}`;
  const time = phrases.time(answeredAt ?? 0, clockOf(home).read().zone, Date.now());
  return phrases.say(answer === "approve" ? "saidYes" : "saidNo", { name, time });
}
