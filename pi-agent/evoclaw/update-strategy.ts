/**
 * The command `update_strategy`: EvoClaw's strategies by name, and our own strategy `agent` with this agent's prompt, model and
 * limits. It is stored, versioned, and in force from the next prompt on.
 */

import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { Tunable } from "../calls/profile-in-force.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";
import type { Profile } from "./profile.ts";
import { teaching } from "./profile-versions.ts";
import { addedParams, changedParams, strategyAddedBy } from "./strategies.ts";
import { changeTuning, tuned, tuningInForce } from "./tuning.ts";

const ACTIONS =
  "add_funding_arbitrage, add_mean_reversion, update_params, get_params, reset, history, rollback";
/** The strategy for this agent itself. */
const AGENT = "agent";

export type UpdateStrategyParts = { settings: Tunable; profile: Profile };

export function updateStrategy(parts: UpdateStrategyParts): (command: Command) => Promise<Reply> {
  return teaching(parts.profile, (payload) => act(payload, parts));
}

async function act(payload: Record<string, unknown>, parts: UpdateStrategyParts): Promise<Reply> {
  const { action } = payload;
  if (action === "update_params") return await updateParams(payload, parts);
  if (action === "get_params") return getParams(parts);
  if (action === "reset") return await reset(parts);
  const added = typeof action === "string" ? strategyAddedBy(action) : undefined;
  if (added) return await add(added, payload, parts);
  return succeeded({
    status: "strategy_update_received",
    payload,
    note: `specify action: ${ACTIONS}`,
  });
}

async function add(
  known: NonNullable<ReturnType<typeof strategyAddedBy>>,
  payload: Record<string, unknown>,
  { profile }: UpdateStrategyParts,
): Promise<Reply> {
  const params = addedParams(known, payload);
  if (!params.ok) return failed(params.error);
  const change = await profile.change(`strategy ${known.name} added`, (now) => ({
    ...now,
    strategies: { ...now.strategies, [known.name]: params.value },
  }));
  if (!change.ok) return failed(change.error);
  return succeeded({
    status: "strategy_added",
    strategy: known.name,
    params: params.value,
    version: change.version,
  });
}

async function updateParams(
  payload: Record<string, unknown>,
  { profile, settings }: UpdateStrategyParts,
): Promise<Reply> {
  const { strategy, params } = payload;
  if (typeof strategy !== "string") return failed("missing strategy name");
  const change = await profile.change(`strategy ${strategy.slice(0, 100)} updated`, (now) => {
    if (strategy === AGENT) {
      const agent = changeTuning(now.agent, params, settings);
      return agent.ok ? { ...now, agent: agent.value } : `params: ${agent.error}`;
    }
    const there = Object.hasOwn(now.strategies, strategy) ? now.strategies[strategy] : undefined;
    if (!there) {
      const have = [AGENT, ...Object.keys(now.strategies)].join(", ");
      return `strategy not found: ${strategy.slice(0, 100)}; strategies here: ${have}`;
    }
    const changed = changedParams(strategy, there, params);
    if (!changed.ok) return changed.error;
    return { ...now, strategies: { ...now.strategies, [strategy]: changed.value } };
  });
  if (!change.ok) return failed(change.error);
  return succeeded({ status: "strategy_updated", strategy, new_params: params, version: change.version });
}

function getParams({ profile, settings }: UpdateStrategyParts): Reply {
  const { strategies, agent } = profile.taught;
  const list = Object.entries(strategies).map(([strategy, params]) => ({ strategy, ...params }));
  return succeeded({
    status: "success",
    strategies: list,
    count: list.length,
    agent: tuningInForce(tuned(settings, agent)),
  });
}

async function reset({ profile }: UpdateStrategyParts): Promise<Reply> {
  const change = await profile.change("strategies reset", ({ genome }) => ({
    strategies: {},
    agent: {},
    ...(genome && { genome }),
  }));
  if (!change.ok) return failed(change.error);
  return succeeded({ status: "strategies_reset", version: change.version });
}
