/** Ends, pauses and resumes rules by what they are about. More than one is asked back first. Pure. */
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Rules } from "@edgecall/core/sentences/frame.ts";
import { keyOf } from "@edgecall/core/sentences/words.ts";
import type { PlannedCall } from "../../../kernel/api/plan.ts";
import type { SpokenRule } from "../../../kernel/api/roster.ts";
import type { RulesBack } from "../note.ts";
import { findTarget, type Problem, type TargetContext } from "./targets.ts";

export type RuleEndContext = TargetContext & {
  /** Those that the person may change. */
  rules(): readonly SpokenRule[];
};

type RuleEnds = { calls: PlannedCall[] } | { answer: string } | { problem: Problem };

/** Names in a question, and in a list. */
const NAMED_MAX = 20;

export function ruleEnds(frame: Rules, context: RuleEndContext): RuleEnds {
  const { phrases } = context;
  if (frame.do === "list" && !frame.target)
    return { calls: [{ name: "rules", args: { do: "list", ...(frame.of && { of: frame.of }) } }] };
  const rules = meant(frame, context);
  if ("problem" in rules) return rules;
  const [first, other] = rules;
  if (!first) return { answer: phrases.say(context.rules().length === 0 ? "noRules" : "noSuchRule") };
  if (frame.do === "list") return { answer: namesOf(rules).join("\n") };
  if (!other) return { calls: [endOf(frame.do, first)] };
  // "Cancel the reminder" means one of them, and what is resumed may be paused again.
  const isOne = !frame.all && !frame.target;
  if (frame.do === "resume" && !isOne) return { calls: rules.map((rule) => endOf("resume", rule)) };
  const of = rules.map(({ id, name }) => ({ id, name }));
  const names = phrases.list(namesOf(rules), isOne ? "or" : "plain");
  const text =
    isOne || frame.do === "resume"
      ? phrases.say("whichOne", { names })
      : phrases.say(frame.do === "cancel" ? "cancelSeveral" : "pauseSeveral", { count: rules.length, names });
  return { problem: { text, asks: true, back: { do: frame.do, of, ...(isOne && { isOne }) } } };
}

/**
 * The answer to the question back.
 * @param text what the person answered
 * @returns undefined: it is no answer to it
 */
export function answeredEnds(
  { do: what, of, isOne }: RulesBack,
  text: string,
  context: RuleEndContext,
  languages: readonly Phrases[],
): RuleEnds | undefined {
  const { phrases } = context;
  const said = keyOf(text);
  const isAny = (words: string) => words.split("/").some((word) => keyOf(word) === said);
  const isYes = languages.some((one) => isAny(one.say("allOfThem")) || (!isOne && isAny(one.say("sayYes"))));
  if (!isYes && languages.some((one) => isAny(one.say("sayNo"))))
    return { answer: phrases.say("nothingDone") };
  const chosen = isYes ? of : of.filter(({ name }) => keyOf(name) === said);
  if (chosen.length === 0) return undefined;
  const ids = new Set(context.rules().map(({ id }) => id));
  const there = chosen.filter(({ id }) => ids.has(id));
  return there.length > 0
    ? { calls: there.map((rule) => endOf(what, rule)) }
    : { answer: phrases.say("ruleIsGone") };
}

function meant(frame: Rules, context: RuleEndContext): SpokenRule[] | { problem: Problem } {
  const fits = ({ of, isPaused, id }: SpokenRule) =>
    (frame.of === undefined || of === frame.of) &&
    (frame.id === undefined || id === frame.id) &&
    (frame.do !== "pause" || !isPaused) &&
    (frame.do !== "resume" || isPaused);
  const rules = context.rules().filter(fits);
  if (!frame.target) return rules;
  const about = (id: string) => rules.some(({ agent }) => agent === id);
  const found = findTarget(frame.target, context, ({ id }) => about(id), true);
  if ("problem" in found) return found;
  const ids = new Set(found.things.map(({ id }) => id));
  return rules.filter(({ agent }) => agent !== undefined && ids.has(agent));
}

function endOf(what: "cancel" | "pause" | "resume", { id }: { id: string }): PlannedCall {
  return { name: "rules", args: { do: what, id } };
}

function namesOf(rules: readonly SpokenRule[]): string[] {
  const names = rules.map(({ name }) => name);
  return names.length > NAMED_MAX ? [...names.slice(0, NAMED_MAX), "…"] : names;
}
