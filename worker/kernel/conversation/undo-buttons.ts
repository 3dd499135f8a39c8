/** The confirmation of a rule that was made: the person sees it whatever the model says, with a button that ends the rule. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { RuleButton } from "../api/notices.ts";
import { phrasesOf } from "../phrases.ts";

/** A rule that was just made has not fired yet. */
const BEFORE_ANY = 0;

export function undoButtons(outcome: Outcome | undefined, language: Language | undefined): RuleButton[] {
  const rule = outcome?.shown?.undo;
  const label = phrasesOf(language).say("undo");
  return rule === undefined ? [] : [{ label, do: "stop", rule, occurrence: BEFORE_ANY }];
}
