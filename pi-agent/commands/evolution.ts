/** `evolution`: EvoClaw's figures of performance, made from what this agent did. */
import type { AgentMetrics } from "../metrics.ts";
import { succeeded } from "../reports.ts";
import type { CommandKind } from "./command.ts";

/** EvoClaw's fields; an agent that trades nothing has its commands for trades, and no profit. */
export function performanceOf(metrics: AgentMetrics): Record<string, number> {
  return {
    win_rate: successRate(metrics) * 100,
    total_pnl: 0,
    sharpe_ratio: 0,
    max_drawdown: 0,
    total_trades: metrics.actions_total,
    avg_profit_per_trade: 0,
  };
}

/** 0 to 100: the share of commands that went well. */
export function fitness(metrics: AgentMetrics): number {
  return successRate(metrics) * 100;
}

function successRate({ actions_total, actions_success }: AgentMetrics): number {
  return actions_total === 0 ? 0 : actions_success / actions_total;
}

export const evolution: CommandKind = {
  kind: "work",
  idempotent: () => true,
  run({ command }, { metrics }) {
    switch (command.payload.action) {
      case "get_performance": {
        const read = metrics.read();
        return succeeded({
          status: "success",
          performance: performanceOf(read),
          fitness_score: fitness(read),
        });
      }
      case "reset":
        metrics.reset();
        return succeeded({ status: "evolution_tracker_reset" });
      default:
        return succeeded({
          status: "evolution_command_received",
          note: "specify action: get_performance, reset",
        });
    }
  },
};
