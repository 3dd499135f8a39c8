/** Agents as the API shows them. */

import { firstProblem } from "@edgecall/core/conditions/conditions.ts";
import type { AgentView } from "../../api/answers.ts";
import type { RosterAgent } from "../../api/roster.ts";
import type { HomeContext } from "../context.ts";
import { conditionsOf } from "./agent-conditions.ts";
import { keysOf } from "./agent-keys.ts";
import { agentRowsOf } from "./agent-rows.ts";
import type { ListedAgent } from "./listed-agent.ts";
import { servedAgentsOf } from "./served-agents.ts";

/** Counts of an agent's calls so far; times are epoch ms. */
export type AgentActivity = { last: number; calls: number; success: number; error: number; open: number };

/** Those of these ids that this home serves, in this order. */
export function agentViews(
  home: HomeContext,
  ids: readonly string[],
  activity: ReadonlyMap<string, AgentActivity>,
  now: number,
): AgentView[] {
  const served = servedAgentsOf(home);
  const agents = served.rosterOf(
    ids.filter((id) => served.has(id)),
    now,
  );
  return agents.flatMap((agent) => {
    const stored = agentRowsOf(home).get(agent.id);
    return stored ? [viewOf(home, stored, agent, activity.get(agent.id))] : [];
  });
}

function viewOf(
  home: HomeContext,
  stored: ListedAgent,
  agent: RosterAgent,
  activity: AgentActivity | undefined,
): AgentView {
  const { last = null, ...counts } = activity ?? { calls: 0, success: 0, error: 0, open: 0 };
  const conditions = conditionsOf(
    { ...stored, problem: stored.problem ?? groupProblem(stored, agent) },
    agent,
  );
  const problem = firstProblem(conditions);
  return {
    id: stored.id,
    online: agent.online,
    status: !agent.online ? "offline" : counts.open > 0 ? "running" : "idle",
    ...(agent.reason !== undefined && { reason: agent.reason }),
    last_seen: agent.lastSeen,
    last_active: last,
    type: stored.type,
    version: stored.version,
    capabilities: agent.line,
    ...(stored.group !== null && { group: stored.group }),
    foreign: stored.foreign,
    ...(agent.hosted && { hosted: true as const }),
    paired: keysOf(home).standing(stored.id) === "signed",
    features: [...stored.features],
    actions: agent.actions,
    ...(problem !== undefined && { problem }),
    ...(conditions.length > 0 && { conditions }),
    ...newTextView(home, stored),
    counts,
  };
}

function groupProblem({ acceptedGroup }: ListedAgent, { group }: RosterAgent): string | null {
  if (acceptedGroup === undefined || group !== undefined) return null;
  return `group: '${acceptedGroup}' is the id of an agent here; another name would be right`;
}

function newTextView(home: HomeContext, { id, newText }: ListedAgent): Pick<AgentView, "new_text"> {
  const unread = agentRowsOf(home).unreadOf(id);
  return unread ? { new_text: { ...unread, ...(!newText && { by_use: true as const }) } } : {};
}
