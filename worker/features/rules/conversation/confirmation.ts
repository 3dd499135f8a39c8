/** The confirmation of a rule that was made: the person sees it whatever the model says, with a button that ends the rule. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { RuleButton } from "../../../kernel/api/notices.ts";

/** A rule that was just made has not fired yet. */
const BEFORE_ANY = 0;

export function undoButtons(outcome: Outcome | undefined): RuleButton[] {
  const rule = outcome?.shown?.undo;
  return rule === undefined ? [] : [{ label: "Undo", do: "stop", rule, occurrence: BEFORE_ANY }];
}
