/** The command `evolution`: EvoClaw's performance figures. */

import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import type { ToolMetrics } from "../calls/tool-metrics.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";
import { judge } from "./performance.ts";
import type { Profile } from "./profile.ts";
import type { Trades } from "./trades.ts";

const ACTIONS = "record_trade, get_performance, get_trade_history, reset";
/** Most trades in a reply; all of them would not fit a report. */
const SHOWN_TRADES = 500;

const TradeCommand = z.looseObject({
  asset: z.string().check(z.minLength(1), z.maxLength(64)),
  entry_price: z.number(),
  exit_price: z.number(),
  size: z.number(),
});

export type EvolutionParts = {
  trades: Trades;
  toolMetrics: ToolMetrics;
  profile: Pick<Profile, "version">;
};

export function evolution({ trades, toolMetrics, profile }: EvolutionParts): (command: Command) => Reply {
  return ({ payload }) => {
    switch (payload.action) {
      case "record_trade":
        return recordTrade(payload, trades);
      case "get_performance": {
        const { performance, fitness, basis } = judge(toolMetrics.read(), trades.list());
        return succeeded({
          status: "success",
          performance,
          fitness_score: fitness,
          basis,
          profile_version: profile.version,
        });
      }
      case "get_trade_history": {
        const list = trades.list();
        return succeeded({
          status: "success",
          trade_count: list.length,
          trades: list.slice(-SHOWN_TRADES),
        });
      }
      case "reset":
        trades.reset();
        toolMetrics.reset();
        return succeeded({ status: "evolution_tracker_reset" });
      default:
        return succeeded({ status: "evolution_command_received", note: `specify action: ${ACTIONS}` });
    }
  };
}

function recordTrade(payload: Record<string, unknown>, trades: Trades): Reply {
  const missing = ["asset", "entry_price", "exit_price", "size"].find(
    (field) => payload[field] === undefined,
  );
  if (missing !== undefined) return failed(`missing ${missing}`);
  const read = check(TradeCommand, payload);
  if (!read.ok) return failed(`payload.${read.error}`);
  const { asset, entry_price, exit_price, size } = read.value;
  const { pnl } = trades.record({ asset, entry_price, exit_price, size });
  return succeeded({ status: "trade_recorded", asset, pnl });
}
