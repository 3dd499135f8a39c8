/**
 * The standing permission in a command: a person allowed such calls, so nobody is asked. Home has checked it. The device checks it once
 * more, with its own key, clock and arguments. It turns only a question into a yes: what the policy denies stays denied.
 */
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import { personOf } from "@edgecall/core/permissions/asker.ts";
import { covers } from "@edgecall/core/permissions/covers.ts";
import { StandingPermission, type Who } from "@edgecall/core/permissions/permission.ts";
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { actionOf } from "../link/action-advert.ts";
import type { Approval } from "./approvals.ts";
import type { CommandCall } from "./command.ts";

/** @property key the agent's own @property clock epoch ms; undefined when it cannot be trusted */
export type StandingParts = {
  key: string;
  clock: () => number | undefined;
  isSkill: (tool: Tool) => boolean;
};

/** @property input as it would run @property effect of this very call @property plain it would write no link, and nothing that git runs */
export type Asking = {
  tool: Tool;
  input: Record<string, unknown>;
  effect: string;
  tainted: boolean;
  danger: string | undefined;
  plain: boolean;
};

/** @returns undefined: a person is asked as ever */
export async function standingApproval(
  { tool, input, effect, tainted, danger, plain }: Asking,
  { command, caller }: Pick<CommandCall, "command" | "caller">,
  parts: StandingParts | undefined,
): Promise<Approval | undefined> {
  if (!parts || command.permission === undefined || command.command !== "tool") return undefined;
  // The files of a skill and the steps of a composed tool may be others by now: their adverts do not say.
  const isKnown = !parts.isSkill(tool) && tool.server === undefined && tool.plan === undefined;
  const read = check(StandingPermission, command.permission);
  const now = parts.clock();
  if (!isKnown || !read.ok || now === undefined || !plain) return undefined;
  const permission = read.value;
  const asker = personOf(caller) ?? ruleOf(caller, permission);
  if (!asker) return undefined;
  const time = new Date(now);
  const isCovered = covers(permission, {
    key: parts.key,
    version: await actionVersion(actionOf(tool)),
    action: tool.name,
    parameters: input,
    asker,
    conversation: null,
    channel: caller.channel,
    tainted,
    chain: command.caller?.chain !== undefined,
    effect,
    dangerous: danger !== undefined,
    now,
    minute: time.getHours() * 60 + time.getMinutes(),
  });
  const { by, at, how, id } = permission;
  return isCovered ? { approved: true, by, at: new Date(at).toISOString(), how, permission: id } : undefined;
}

/** A rule that acts. Its caller does not name its version: Home, which signs both, has compared it with the permission's. */
function ruleOf(
  { principal, channel }: Pick<Caller, "principal" | "channel">,
  { who }: StandingPermission,
): Extract<Who, { rule: string }> | undefined {
  const isIts = typeof who === "object" && "rule" in who && principal === `rule:${who.rule}`;
  return isIts && channel === "rule" ? who : undefined;
}
