/** Who did something, and what became of it, for the person who looks. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { say } from "./texts/say.ts";

/** @returns a rule's name; undefined: it is gone, or not known yet */
export type RuleName = (id: string) => string | undefined;

const RULE = "rule:";

/** A rule that acts as the caller of what it does. */
export function ruleCaller(id: string): string {
  return RULE + id;
}

/** @param me the principal who looks */
export function personText(principal: string, me: string, ruleName: RuleName = () => undefined): string {
  if (!principal.startsWith(RULE)) return principal === me ? say("you") : visible(principal);
  const name = ruleName(principal.slice(RULE.length));
  return name === undefined ? say("aRule") : say("ruleNamed", { name: visible(name) });
}

/** For the record: a rule without a name is told by its id. */
export function callerText(principal: string, me: string, ruleName: RuleName): string {
  return personText(principal, me, (id) => ruleName(id) ?? id);
}

type Answered = { answer: string; by: string | undefined; name?: string | undefined; me: string };

/** The gateway's own answer to a question that nobody answered in time. */
export const EXPIRED = "(expired)";

/** What became of an approval: "You said no; nothing was changed." */
export function outcomeText({ answer, by, name = by, me }: Answered): string {
  if (answer === EXPIRED) return say("noneInTime");
  if (by === undefined) return say("notNeeded");
  const isYes = answer === "approve" || answer === "accept";
  if (by === me) return say(isYes ? "youSaidYes" : "youSaidNo");
  return say(isYes ? "theySaidYes" : "theySaidNo", { name: visible(name ?? by) });
}
