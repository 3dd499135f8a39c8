/** What is wrong with an agent: as the gateway sees it, as the bridge does, and as it says itself. */

import { conditionOf, describeCondition, type ShownCondition } from "@edgecall/core/conditions/conditions.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import type { RosterAgent } from "../../api/roster.ts";
import type { ListedAgent } from "./listed-agent.ts";
import { REVOKED } from "./verify-presence.ts";

/** All that is known to be wrong with it: as the gateway sees it, as the bridge does, and as it says itself. */
export function conditionsOf(
  { id, foreign, hosted, incompatibleWith, problem, conditions }: ListedAgent,
  { online, reason }: Pick<RosterAgent, "online" | "reason">,
): ShownCondition[] {
  const { own, seen } = conditions;
  // It says why nothing of it counts, better than the gateway can.
  const isExplained = seen.length > 0;
  const all: Condition[] = [
    ...(incompatibleWith === undefined ? [] : [conditionOf("version", { reason: incompatibleWith })]),
    ...seen,
    ...(problem === null || isExplained ? [] : [problemCondition(problem)]),
    ...own,
    ...(online || isExplained || foreign || hosted
      ? []
      : [conditionOf("offline", { reason: reason ?? "unknown" })]),
  ];
  return all.map((condition) => describeCondition(condition, id));
}

/** A text of it that cannot be read, or a group's name that it may not have, is another fault than a signature that does not count. */
function problemCondition(reason: string): Condition {
  if (reason.startsWith("group:")) return conditionOf("group_name", { reason });
  const isSignature = reason === REVOKED || /^\w+: (it is not signed|its key|an old one)/.test(reason);
  return conditionOf(isSignature ? "not_verified" : "advert_unreadable", { reason });
}
