/** A home's present state: for people, and for the next model call of a conversation. */

import { conditionOf, describeCondition, type ShownCondition } from "@edgecall/core/conditions/conditions.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { AGENTS_MAX, VERSION } from "@edgecall/core/protocol/names.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { HomeStatus } from "../api/answers.ts";
import type { Plan } from "../api/plan.ts";
import { readSettings } from "../settings/settings.ts";
import { agentRowsOf } from "./agents/agent-rows.ts";
import type { AgentActivity } from "./agents/agent-views.ts";
import { rosterOf } from "./agents/home-roster.ts";
import { auditOf } from "./audit/audit-store.ts";
import { bridgeOf } from "./bridge/bridge-socket.ts";
import { clockOf } from "./clock.ts";
import type { HomeContext } from "./context.ts";
import { ledgerOf } from "./ledger/ledger.ts";
import { modelHabitsOf } from "./usage/model-habits.ts";
import { spendingOf } from "./usage/spending.ts";
import { countersOf } from "./usage/usage-counters.ts";

/** Who is there for a question, which models are well, and what the day took so far. */
export function planOf(context: HomeContext, roster: Plan["roster"], version: number): Plan {
  const { env, name } = context;
  const now = Date.now();
  const { spent, told } = spendingOf(context).today(now);
  const { tools } = readSettings(env);
  const home = tools.rules ? { home: { name, zone: clockOf(context).read().zone } } : {};
  return {
    roster,
    ...home,
    version,
    health: spendingOf(context).health(),
    habits: modelHabitsOf(context).all(now),
    day: spent,
    told,
  };
}

/** `GET /v1/status`. */
export function statusOf(home: HomeContext): HomeStatus {
  const bridge = bridgeOf(home);
  const audit = auditOf(home);
  const { ctx } = home;
  const now = Date.now();
  const lastSeenAt = bridge.lastSeenAt(now);
  const over = bridge.over(now) + agentRowsOf(home).refused;
  const row = ctx.storage.sql
    .exec<BridgeRow>("SELECT id, version, connected_at, gone_at, conditions FROM bridge")
    .toArray()[0];
  const problem = versionProblem("bridge", row?.version);
  const conditions = row ? bridgeConditions(row, problem, lastSeenAt !== null, bridge.hasSecond(now)) : [];
  const outlet = audit.sinkState();
  return {
    version: VERSION,
    ...(outlet && { audit: outlet }),
    bridge: {
      online: lastSeenAt !== null,
      id: row?.id ?? null,
      version: row?.version ?? null,
      connected_at: row?.connected_at ?? null,
      last_seen: lastSeenAt ?? row?.gone_at ?? null,
      updates: bridge.takesUpdates(now),
      update: bridge.lastUpdate(now),
      ...(problem !== undefined && { problem }),
      ...(conditions.length > 0 && { conditions }),
    },
    agents: { ...rosterOf(home).count(now), ...(over > 0 && { max: AGENTS_MAX, over }) },
    calls: ledgerOf(home)
      .open()
      .map((call) => ({
        id: call.id,
        agent: call.agent,
        command: call.command,
        state: call.state,
        since: call.createdAt,
        deadline: call.endsAt,
      })),
  };
}

type BridgeRow = {
  id: string;
  version: string;
  connected_at: number;
  gone_at: number | null;
  conditions: string;
};

/** Lists what is wrong with the bridge: the gateway's view, and the bridge's own while it is there. */
function bridgeConditions(
  { id, conditions }: BridgeRow,
  problem: string | undefined,
  isOnline: boolean,
  hasSecond: boolean,
): ShownCondition[] {
  const all: Condition[] = [
    ...(problem === undefined ? [] : [conditionOf("version", { reason: problem })]),
    ...(isOnline && hasSecond ? [conditionOf("second_bridge", { bridge: id })] : []),
    ...(isOnline ? (JSON.parse(conditions) as Condition[]) : []),
  ];
  return all.map((condition) => describeCondition(condition));
}

/** What each agent was asked so far, with what is open. */
export function activityOf(home: HomeContext): Map<string, AgentActivity> {
  const activity = new Map<string, AgentActivity>();
  for (const [agent, counts] of countersOf(home).activity()) activity.set(agent, { ...counts, open: 0 });
  for (const [agent, { open, since }] of ledgerOf(home).openByAgent()) {
    const { calls = 0, success = 0, error = 0, last = 0 } = activity.get(agent) ?? {};
    activity.set(agent, { calls: calls + open, success, error, open, last: Math.max(last, since) });
  }
  return activity;
}
