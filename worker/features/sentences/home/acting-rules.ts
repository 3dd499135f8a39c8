/** Makes a call of the tool of rules that act, of a condition and acts that each mean one thing here. An owner is asked before it counts. */
import { AUTOMATE_TOOL } from "@edgecall/core/automations/tool.ts";
import { CONDITIONS_MAX, STEPS_MAX } from "@edgecall/core/protocol/automation.ts";
import type { Act, ActingRule } from "@edgecall/core/sentences/frame.ts";
import type { PlannedCall } from "../../../kernel/api/plan.ts";
import { makeCalls } from "./acts.ts";
import { type RuleCalls, type RuleContext, ruleCalls } from "./rules.ts";
import type { Thing } from "./things.ts";

export const AUTOMATE = AUTOMATE_TOOL.name;

export async function actingRuleCalls({ when, acts }: ActingRule, context: RuleContext): Promise<RuleCalls> {
  const { phrases } = context;
  if (!acts.every(isFixed)) return { problem: { text: phrases.say("notUnderstood") } };
  const watched = await ruleCalls(when, context);
  if (!watched || !("calls" in watched)) return watched ?? { problem: { text: phrases.say("notYet") } };
  const steps: PlannedCall[] = [];
  const things: Thing[] = [...watched.things];
  for (const act of acts) {
    const made = await makeCalls(act, context);
    if ("problem" in made) return made;
    steps.push(...made.calls);
    things.push(...made.things);
  }
  const tooMany = (count: number, max: number): RuleCalls => ({
    problem: { text: phrases.say("tooMany", { count, max: String(max) }) },
  });
  if (watched.calls.length > CONDITIONS_MAX) return tooMany(watched.calls.length, CONDITIONS_MAX);
  if (steps.length > STEPS_MAX) return tooMany(steps.length, STEPS_MAX);
  const [first] = watched.calls;
  const args = {
    // Of several the name has a thing behind it.
    name: watched.calls.length === 1 ? first?.args.name : context.text.slice(0, 60),
    when: watched.calls.map(({ args: { name: _, ...condition } }) => condition),
    ...(watched.calls.length > 1 && { match: "any" }),
    do: steps.map(({ args: { agent_id, action, params } }) => ({ agent_id, action, parameters: params })),
  };
  return { calls: [{ name: AUTOMATE, args }], things };
}

/** "Brighter" and "it" are of now, and a rule acts later. */
function isFixed({ action, target }: Act): boolean {
  return action !== "toggle" && action !== "raise" && action !== "lower" && target.of !== "earlier";
}
