/**
 * Finds names in `[policy]` and `[tools] enabled` that no tool has. A skill may be missing for a while or have a mistake in its
 * file. That must not stop the agent, and its rule applies again once it is back. So such a name causes only a warning.
 */
import { PERMISSIONS } from "@edgecall/core/tools/contract.ts";
import type { Unavailable } from "../calls/offered-tools.ts";
import { unknownNames } from "../calls/policy.ts";
import type { Settings } from "../config/settings.ts";
import type { SkillSet } from "../skills/load-skills.ts";

/** @param own names of all tools that do not come from skills, offered or not */
export function namesWithoutTool(
  { tools: { enabled = [] }, policy }: Pick<Settings, "tools" | "policy">,
  own: readonly string[],
  { tools, skipped }: Pick<SkillSet, "tools" | "skipped">,
): Unavailable[] {
  const known = [
    ...own,
    ...tools.map(({ tool }) => tool.name),
    // These have their own entry that says what is wrong.
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
