/** Commands that change the agent itself: `execute`, `update_strategy`, `update_genome`, `shutdown`. */
import { messageOf } from "../log.ts";
import { failed, type Reply, succeeded } from "../reports.ts";
import type { CommandKind, Device } from "./command.ts";

/** A fixed acknowledgement, as EvoClaw's sensor and governance agents give it. */
export const execute: CommandKind = {
  kind: "work",
  idempotent: () => true,
  run(_call, { settings }) {
    return succeeded({
      status: "executed",
      type: settings.agentType,
      agent_type: settings.agentType,
      note: "nothing to do: call this agent's actions with the command tool",
    });
  },
};

/** The strategies that an EvoClaw orchestrator adds by name, with its default parameters. */
const KNOWN_STRATEGIES: Record<string, { name: string; defaults: Record<string, number> }> = {
  add_funding_arbitrage: {
    name: "FundingArbitrage",
    defaults: { funding_threshold: -0.1, exit_funding: 0, position_size_usd: 1_000 },
  },
  add_mean_reversion: {
    name: "MeanReversion",
    defaults: { support_level: 2, resistance_level: 2, position_size_usd: 1_000 },
  },
};

/** Strategies are kept and reported; setting the same one twice changes nothing more. */
export const updateStrategy: CommandKind = {
  kind: "work",
  idempotent: () => true,
  async run({ command }, device) {
    try {
      return await changeStrategy(command.payload, device);
    } catch (error) {
      return failed(`strategy not kept: ${messageOf(error)}`);
    }
  },
};

async function changeStrategy(payload: Record<string, unknown>, { profile }: Device): Promise<Reply> {
  const action = typeof payload.action === "string" ? payload.action : undefined;
  const known =
    action !== undefined && Object.hasOwn(KNOWN_STRATEGIES, action) ? KNOWN_STRATEGIES[action] : undefined;
  if (known) {
    const params = Object.fromEntries(
      Object.entries(known.defaults).map(([key, value]) => [
        key,
        typeof payload[key] === "number" ? payload[key] : value,
      ]),
    );
    await profile.setStrategy(known.name, params);
    return succeeded({ status: "strategy_added", strategy: known.name, params });
  }
  switch (action) {
    case "update_params":
      return await updateParams(payload, profile);
    case "get_params": {
      const { strategies } = profile;
      return succeeded({ status: "success", strategies, count: Object.keys(strategies).length });
    }
    case "reset":
      await profile.resetStrategies();
      return succeeded({ status: "strategies_reset" });
    default:
      return succeeded({
        status: "strategy_update_received",
        payload,
        note: "specify action: add_funding_arbitrage, add_mean_reversion, update_params, get_params, reset",
      });
  }
}

async function updateParams(payload: Record<string, unknown>, profile: Device["profile"]): Promise<Reply> {
  const { strategy, params } = payload;
  if (typeof strategy !== "string") return failed("missing strategy name");
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    return failed("missing params: an object of names and values");
  }
  if (!Object.hasOwn(profile.strategies, strategy)) {
    const have = Object.keys(profile.strategies).join(", ") || "none";
    return failed(`strategy not found: ${strategy.slice(0, 100)}; strategies here: ${have}`);
  }
  await profile.setStrategy(strategy, { ...profile.strategies[strategy], ...params });
  return succeeded({ status: "strategy_updated", strategy, new_params: params });
}

export const updateGenome: CommandKind = {
  kind: "work",
  idempotent: () => true,
  async run({ command }, { profile }) {
    if (command.payload.genome === undefined) return failed("missing genome field");
    try {
      const genome = await profile.setGenome(command.payload.genome);
      const { risk_tolerance, verbosity, autonomy } = genome.behavior;
      return succeeded({
        status: "genome_updated",
        identity: genome.identity.name,
        enabled_skills: Object.keys(genome.skills).filter((name) => genome.skills[name]?.enabled),
        behavior: { risk_tolerance, verbosity, autonomy },
      });
    } catch (error) {
      return failed(messageOf(error));
    }
  },
};

/** Recorded like any work that must not run twice: a redelivered `shutdown` would end the agent at each start. */
export const shutdown: CommandKind = {
  kind: "work",
  idempotent: () => false,
  run(_call, device) {
    if (!device.settings.allowShutdown) {
      return failed(
        "shutdown is not allowed on this agent; allow_shutdown = true in its agent.toml allows it",
      );
    }
    device.shutdown();
    return succeeded({ status: "shutting_down" });
  },
};
