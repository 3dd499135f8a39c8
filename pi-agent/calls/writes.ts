/** The policy for the paths that a call writes: a link to another place is shown, and a folder of git needs `shell`. */
import type { Permission, Target, Tool } from "@edgecall/core/tools/contract.ts";
import { permissionDenied } from "@edgecall/core/tools/errors.ts";
import type { PolicyRules } from "../config/policy-rules.ts";
import { type Decision, decide, rulesWithout } from "./policy.ts";

type Writes = {
  /** The path of a file that git would run. */
  git: string | undefined;
  links: readonly Target[];
  /** Further permissions that the call needs. */
  needs: ReadonlyArray<{ name: string; permission: Permission }>;
};

/** A question shows this many links. A person reads only a few. */
const LINKS_SHOWN = 5;

export function writesOf(targets: readonly Target[] = []): Writes {
  const git = targets.find((one) => one.git)?.path;
  return {
    git,
    links: targets.filter((one) => one.link),
    needs: git === undefined ? [] : [{ name: "shell", permission: "shell" }],
  };
}

/** The stricter of two decisions: the tool's own, and that for a program if the call would write one. */
export function withWrites(
  own: Decision,
  { git, links }: Writes,
  {
    tool,
    policy,
    held,
    tainted,
  }: { tool: Tool; policy: PolicyRules; held: readonly Permission[] | undefined; tainted: boolean },
): Decision {
  if (git === undefined) return withLinks(own, links);
  if (own.do === "deny") return own;
  if (held && !held.includes("shell")) return { do: "deny", ...permissionDenied(tool.name, "shell") };
  // The tool's own rule is about files. This one is about a program.
  const rules = rulesWithout(tool.name, policy);
  const shell = decide({ name: tool.name, effect: "exec", permission: "shell" }, rules, { tainted });
  if (shell.do === "deny") return shell;
  if (shell.do === "allow") return withLinks(own, links);
  return withLinks(
    { ...shell, reason: `'${git}' belongs to git, which runs what is written there, and ${shell.reason}` },
    links,
  );
}

function withLinks(decision: Decision, links: readonly Target[]): Decision {
  if (decision.do !== "ask" || links.length === 0) return decision;
  const words = links.slice(0, LINKS_SHOWN).map(({ path, real }) => `'${path}' leads to '${real}'`);
  return { ...decision, reason: `${decision.reason}; ${words.join(", ")}` };
}
