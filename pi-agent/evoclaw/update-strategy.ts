/**
 * The command `update_strategy`: EvoClaw's strategies by name, and our own strategy `agent` with this agent's prompt, model and
 * limits. It is stored, versioned, and in force from the next prompt on.
 */

import type { Device } from "../calls/device.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";
import { teaching } from "./profile-versions.ts";
import { addedParams, changedParams, strategyAddedBy } from "./strategies.ts";
import { changeTuning, tuned, tuningInForce } from "./tuning.ts";

const ACTIONS =
  "add_funding_arbitrage, add_mean_reversion, update_params, get_params, reset, history, rollback";
/** The strategy for this agent itself. */
const AGENT = "agent";

export const updateStrategy = teaching(act);

async function act(payload: Record<string, unknown>, device: Device): Promise<Reply> {
  const { action } = payload;
  if (action === "update_params") return await updateParams(payload, device);
  if (action === "get_params") return getParams(device);
  if (action === "reset") return await reset(device);
  const added = typeof action === "string" ? strategyAddedBy(action) : undefined;
  if (added) return await add(added, payload, device);
  return succeeded({
    status: "strategy_update_received",
    payload,
    note: `specify action: ${ACTIONS}`,
  });
}

async function add(
  known: NonNullable<ReturnType<typeof strategyAddedBy>>,
  payload: Record<string, unknown>,
  { profile }: Device,
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

async function updateParams(payload: Record<string, unknown>, { profile, settings }: Device): Promise<Reply> {
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

function getParams({ profile, settings }: Device): Reply {
  const { strategies, agent } = profile.taught;
  const list = Object.entries(strategies).map(([strategy, params]) => ({ strategy, ...params }));
  return succeeded({
    status: "success",
    strategies: list,
    count: list.length,
    agent: tuningInForce(tuned(settings, agent)),
  });
}

async function reset({ profile }: Device): Promise<Reply> {
  const change = await profile.change("strategies reset", ({ genome }) => ({
    strategies: {},
    agent: {},
    ...(genome && { genome }),
  }));
  if (!change.ok) return failed(change.error);
  return succeeded({ status: "strategies_reset", version: change.version });
}
