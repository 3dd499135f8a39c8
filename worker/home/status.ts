/** `GET /v1/status`: how a home stands right now. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { HomeStatus } from "../api/answers.ts";
import type { HomeContext } from "./context.ts";

/** @param served whether a foreign agent is */
export function statusOf(
  { ctx, bridge, agents, ledger, audit }: HomeContext,
  served: Parameters<HomeContext["agents"]["roster"]>[1],
): HomeStatus {
  const heard = bridge.heardAt(Date.now());
  const roster = agents.roster(heard, served);
  const row = ctx.storage.sql
    .exec<{ id: string; version: string; connected_at: number; gone_at: number | null }>(
      "SELECT id, version, connected_at, gone_at FROM bridge",
    )
    .toArray()[0];
  const problem = versionProblem("bridge", row?.version);
  const outlet = audit.outletState();
  return {
    version: VERSION,
    ...(outlet && { audit: outlet }),
    bridge: {
      online: heard !== null,
      id: row?.id ?? null,
      version: row?.version ?? null,
      connected_at: row?.connected_at ?? null,
      last_seen: heard ?? row?.gone_at ?? null,
      updates: bridge.takesUpdates(Date.now()),
      update: bridge.lastUpdate(Date.now()),
      ...(problem !== undefined && { problem }),
    },
    agents: { known: roster.length, online: roster.filter((agent) => agent.online).length },
    calls: ledger.open().map((call) => ({
      id: call.id,
      agent: call.agent,
      command: call.command,
      state: call.state,
      since: call.createdAt,
      deadline: call.endsAt,
    })),
  };
}
