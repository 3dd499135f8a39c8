/** The rules of `[policy]` in agent.toml. calls/policy.ts applies them. */

export const RULES = ["allow", "ask", "deny"] as const;
export type Rule = (typeof RULES)[number];

/** `[policy]` of agent.toml: rules by the name of a tool or a permission. */
export type PolicyRules = ReadonlyMap<string, Rule> & { readonly tainted?: TaintRules };

/**
 * The rules for an allowed call that is not a read while a stranger's text is in the conversation: by the name of a tool or
 * a permission, or for all. Without such a rule the call asks.
 */
type TaintRules = { all: Rule | undefined; named: ReadonlyMap<string, Rule> };
