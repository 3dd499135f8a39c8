/**
 * Names in `[policy]` and `[tools] enabled` that no tool has. A skill may be gone for a while, or have a slip in its
 * file: that must not stop the agent, and its rule holds again when it is back. So such a name is told, not refused.
 */
import { PERMISSIONS } from "@edgecall/core/tools/contract.ts";
import { unknownNames } from "../calls/policy.ts";
import type { Settings } from "../config/settings.ts";
import type { SkillSet } from "../skills/load-skills.ts";
import type { Unavailable } from "./toolbox.ts";

/** @param own the names of all tools that are no skills', offered or not */
export function namesWithoutTool(
  { tools: { enabled = [] }, policy }: Pick<Settings, "tools" | "policy">,
  own: readonly string[],
  { tools, skipped }: Pick<SkillSet, "tools" | "skipped">,
): Unavailable[] {
  const known = [
    ...own,
    ...tools.map(({ tool }) => tool.name),
    // They have an entry of their own that says what is wrong.
    ...skipped.flatMap(({ tool }) => tool ?? []),
  ];
  const broken = skipped.filter(({ tool }) => tool === undefined);
  const unread = broken.map(({ skill, reason }) => `'${skill}' (${reason})`).join(", ");
  const why = (key: string, kept: string, right: readonly string[]) =>
    unread === ""
      ? `${key}: no tool of this device has this name, nor has a skill; ${kept}. Right would be one of: ${[...new Set(right)].sort().join(", ")}`
      : `${key}: no tool of this device has this name; ${kept}. It may be of a skill that could not be read: ${unread}`;
  return [
    ...enabled
      .filter((name) => !known.includes(name))
      .map((name) => ({ name, why: why("tools.enabled", "it is offered when it comes", known) })),
    ...unknownNames(policy, known).map((name) => ({
      name,
      why: why(`policy.${name}`, `the rule (${policy.get(name)}) is kept`, [...known, ...PERMISSIONS]),
    })),
  ];
}
