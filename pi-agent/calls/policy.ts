/**
 * Decides what may be done to this device. Every call is checked, from whatever caller and way: a `tool` command, `sensor`,
 * or the device's own loop. The gateway decides who may ask; this decision is the device's own. Pure. A refused call has
 * not run.
 */
import type { Advised } from "@edgecall/core/tools/advice.ts";
import { type Effect, PERMISSIONS, type Tool } from "@edgecall/core/tools/contract.ts";
import { permissionDenied } from "@edgecall/core/tools/errors.ts";
import type { PolicyRules, Rule } from "../config/policy-rules.ts";
import type { Answered } from "./questions.ts";

const STRICTEST_FIRST = ["deny", "ask", "allow"] as const satisfies readonly Rule[];

/** The properties of a tool that the policy uses. None comes from the command. */
export type Ruled = Pick<Tool, "name" | "effect" | "permission" | "permissions">;

export type Decision = { do: "allow" } | { do: "ask"; reason: string } | ({ do: "deny" } & Advised);

/** The reason that a tainted call gives. */
const STRANGERS =
  "the conversation holds a stranger's text (a file, the web, a picture, another device), and this is not a read";

/**
 * A tool's own rule wins over its permission's rule, and that over the default: reads are allowed, all else asks.
 * @param tainted true if a stranger's text is in the conversation. That text may have caused this call, so whatever is not a
 *   read asks even where the rule allows it, unless the owner has set otherwise
 * @param danger what this very call would do, in the tool's words. It asks even where the rule allows it
 */
export function decide(
  tool: Ruled,
  rules: PolicyRules,
  { tainted = false, danger }: { tainted?: boolean; danger?: string | undefined } = {},
): Decision {
  const { rule, source } = ruleOf(tool, rules);
  if (rule === "deny") {
    return { do: "deny", ...permissionDenied(tool.name, tool.permission ?? tool.effect) };
  }
  const strangers = tainted && tool.effect !== "read" ? taintRuleOf(tool, rules) : "allow";
  if (strangers === "deny") {
    return {
      do: "deny",
      text: `Error: Permission denied for tool '${tool.name}': ${STRANGERS}, which this device's policy refuses. Nothing was run.`,
      advice: "Explain to the user; a new conversation begins without that text.",
    };
  }
  if (danger !== undefined) return { do: "ask", reason: danger };
  if (rule === "ask") return { do: "ask", reason: `this device's policy asks before ${source}` };
  return strangers === "ask" ? { do: "ask", reason: STRANGERS } : { do: "allow" };
}

/**
 * Decides about a tool that is made of others, before anything of it runs. A step that the policy denies denies all of it.
 * The owner's rule for the tool's own name counts for its steps; without one the strictest decision counts.
 * @param tool with the strictest effect and the permissions of its steps
 * @param steps the tools of its steps, in their order
 */
export function decidePlan(
  tool: Ruled,
  steps: ReadonlyArray<Ruled & Pick<Tool, "taints" | "taintsIn">>,
  rules: PolicyRules,
  tainted: boolean,
): Decision {
  let isTainted = tainted;
  let actsTainted = tainted;
  let asks: Decision | undefined;
  for (const [at, step] of steps.entries()) {
    const decision = decide(step, rules, { tainted: isTainted });
    if (decision.do === "deny") {
      const text = `${decision.text} It is step ${at + 1} of '${tool.name}', of which nothing was run.`;
      return { ...decision, text };
    }
    if (decision.do === "ask") asks ??= decision;
    if (step.effect !== "read") actsTainted ||= isTainted;
    isTainted ||= step.taints === true || step.taintsIn !== undefined;
  }
  const whole = decide(tool, rules, { tainted: actsTainted });
  if (whole.do !== "allow" || rules.has(tool.name)) return whole;
  return asks ?? whole;
}

/** A tool's own rule wins over the strictest rule of its permissions, and that over the rule for all. */
function taintRuleOf(tool: Ruled, { tainted }: PolicyRules): Rule {
  const own = tainted?.named.get(tool.name);
  if (own) return own;
  const needed = needsOf(tool).flatMap((need) => tainted?.named.get(need) ?? []);
  return STRICTEST_FIRST.find((rule) => needed.includes(rule)) ?? tainted?.all ?? "ask";
}

function needsOf(tool: Ruled): readonly string[] {
  return tool.permissions ?? (tool.permission ? [tool.permission] : []);
}

/** The names of tools and permissions whose calls run unasked even after a stranger's text. Reads always do. */
export function allowedWhenTainted(rules: PolicyRules): string[] {
  const { all, named } = rules.tainted ?? { all: undefined, named: new Map<string, Rule>() };
  return [...rules].flatMap(([name, rule]) =>
    rule === "allow" && (named.get(name) ?? all) === "allow" ? [name] : [],
  );
}

/** The rules without those for one name. */
export function rulesWithout(name: string, rules: PolicyRules): PolicyRules {
  const others = (all: ReadonlyMap<string, Rule>) => new Map([...all].filter(([one]) => one !== name));
  const { tainted } = rules;
  const rest = others(rules);
  return tainted ? Object.assign(rest, { tainted: { ...tainted, named: others(tainted.named) } }) : rest;
}

/** All names that have a rule in `[policy]`. */
export function namesIn(rules: PolicyRules): string[] {
  return [...new Set([...rules.keys(), ...(rules.tainted?.named.keys() ?? [])])];
}

function ruleOf(tool: Ruled, rules: PolicyRules): { rule: Rule; source: string } {
  const own = rules.get(tool.name);
  if (own) return { rule: own, source: `'${tool.name}'` };
  const ruled = needsOf(tool).flatMap((need) => {
    const rule = rules.get(need);
    return rule ? [{ rule, source: `what needs ${need}` }] : [];
  });
  // The strictest rule counts: a shell that may also reach the network is not the shell that was allowed.
  for (const rule of STRICTEST_FIRST) {
    const strictest = ruled.find((one) => one.rule === rule);
    if (strictest) return strictest;
  }
  return tool.effect === "read"
    ? { rule: "allow", source: "" }
    : { rule: "ask", source: `whatever is not a read (${EFFECT_TEXT[tool.effect]})` };
}

/** The words for a tool's effect, for the person who is asked to approve it. */
const EFFECT_TEXT: Record<Exclude<Effect, "read">, string> = {
  write: "it writes files",
  exec: "it runs programs",
  network: "it uses the network",
  device: "it acts on the device",
};

/** Names in `[policy]` that are neither a tool of this device nor a permission. */
export function unknownNames(rules: PolicyRules, tools: readonly string[]): string[] {
  const known = new Set<string>([...PERMISSIONS, ...tools]);
  return namesIn(rules).filter((name) => !known.has(name));
}

/** Only this word approves. Anything else, even `yes`, does not. */
export const APPROVE = "approve";
export const DENY = "deny";

export type Verdict = { approved: true } | ({ approved: false } & Advised);

/**
 * Judges the answer to an approval.
 * @param hash of exactly what is about to run, computed after the answer came
 * @param asker the principal who asked for the call
 */
export function verdictOf(tool: string, answered: Answered, hash: string, asker: string): Verdict {
  const no = (why: string): Verdict => ({
    approved: false,
    text: `Error: Permission denied for tool '${tool}': ${why}. Nothing was run.`,
    advice: "Explain to the user; do not try again unless they ask for it.",
  });
  switch (answered.by) {
    case "gateway":
      return no(`the gateway asked nobody: ${answered.why.replace(/\.$/, "")}`);
    case "nobody":
      return no(`nobody approved it within ${minutes(answered.afterMs)}`);
    case "end":
      return no("the call ended while it waited for the approval");
    case "person":
      if (answered.text !== APPROVE) return no(refusalText(answered.principal, asker));
      if (answered.hash === undefined) return no("the approval did not say what it was for");
      return answered.hash === hash ? { approved: true } : no("the approval was for something else");
  }
}

/** Another home learns no names. */
function refusalText(person: string, asker: string): string {
  return person === asker || asker.startsWith("home:") ? "the user did not approve it" : `${person} said no`;
}

function minutes(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}
