/**
 * What may be done to this device. It is asked on every call, whoever made it and however it came: a `tool`
 * command, `sensor`, or the device's own loop. The gateway decides who may ask; what follows here is not for
 * it to decide. Pure; everything that is said no to has not run.
 */

import { PERMISSIONS, type Tool } from "@edgecall/core/tools/contract.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import type { Answered } from "./questions.ts";

export const RULES = ["allow", "ask", "deny"] as const;
export type Rule = (typeof RULES)[number];
const STRICTEST_FIRST = ["deny", "ask", "allow"] as const satisfies readonly Rule[];

/** `[policy]` of agent.toml: the rule of a tool's name, or of a permission. */
export type PolicyRules = ReadonlyMap<string, Rule>;

/** What the policy looks at; nothing of it comes from the command. */
export type Ruled = Pick<Tool, "name" | "effect" | "permission" | "permissions">;

export type Decision = { do: "allow" } | { do: "ask"; reason: string } | { do: "deny"; text: string };

/**
 * A tool's own rule wins over its permission's, and that over the default: reads are allowed, the rest asks.
 *
 * @param tainted a stranger's text is in the conversation: it may have put the wish for this call there, so
 *   whatever is not a read asks, even where the rule allows it
 * @param danger what this very call would do, in the tool's words: it asks, even where the rule allows it
 */
export function decide(
  tool: Ruled,
  rules: PolicyRules,
  { tainted = false, danger }: { tainted?: boolean; danger?: string | undefined } = {},
): Decision {
  const { rule, source } = ruleOf(tool, rules);
  if (rule === "deny") {
    return { do: "deny", text: errorText.permissionDenied(tool.name, tool.permission ?? tool.effect) };
  }
  if (danger !== undefined) return { do: "ask", reason: danger };
  if (rule === "ask") return { do: "ask", reason: `this device's policy asks before ${source}` };
  if (tainted && tool.effect !== "read") {
    return {
      do: "ask",
      reason:
        "the conversation holds a stranger's text (a file, the web or a picture), and this is not a read",
    };
  }
  return { do: "allow" };
}

function ruleOf(tool: Ruled, rules: PolicyRules): { rule: Rule; source: string } {
  const own = rules.get(tool.name);
  if (own) return { rule: own, source: `'${tool.name}'` };
  const needs = tool.permissions ?? (tool.permission ? [tool.permission] : []);
  const ruled = needs.flatMap((need) => {
    const rule = rules.get(need);
    return rule ? [{ rule, source: `what needs ${need}` }] : [];
  });
  // The strictest of all that it needs: a shell that may also reach the network is not the shell that was allowed.
  for (const rule of STRICTEST_FIRST) {
    const strictest = ruled.find((one) => one.rule === rule);
    if (strictest) return strictest;
  }
  return tool.effect === "read"
    ? { rule: "allow", source: "" }
    : { rule: "ask", source: `whatever is not a read (effect ${tool.effect})` };
}

/** Names in `[policy]` that are neither a tool of this device nor a permission. */
export function unknownNames(rules: PolicyRules, tools: readonly string[]): string[] {
  const known = new Set<string>([...PERMISSIONS, ...tools]);
  return [...rules.keys()].filter((name) => !known.has(name));
}

/** The word that approves. No other does, `yes` neither: what is not exactly a yes is a no. */
export const APPROVE = "approve";
export const DENY = "deny";

export type Verdict = { approved: true } | { approved: false; text: string };

/**
 * What came of asking for an approval.
 *
 * @param hash of exactly what is about to run, computed after the answer came
 */
export function verdictOf(tool: string, answered: Answered, hash: string): Verdict {
  const no = (why: string): Verdict => ({
    approved: false,
    text: `Error: Permission denied for tool '${tool}': ${why}. Nothing was run.\nExplain to the user; do not try again unless they ask for it.`,
  });
  switch (answered.by) {
    case "nobody":
      return no(`nobody approved it within ${minutes(answered.afterMs)}`);
    case "end":
      return no("the call ended while it waited for the approval");
    case "person":
      if (answered.text !== APPROVE) return no("the user did not approve it");
      if (answered.hash === undefined) return no("the approval did not say what it was for");
      return answered.hash === hash ? { approved: true } : no("the approval was for something else");
  }
}

function minutes(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}
