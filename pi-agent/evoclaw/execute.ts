/**
 * `execute`: what EvoClaw's agents do by their type. There is no market here, so what needs one says so, in the
 * shape in which EvoClaw's agents say that their trading client or monitor is not there.
 */

import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { Settings } from "../config/settings.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";

const TRADER_ACTIONS = ["get_prices", "get_positions", "place_order", "monitor_positions"];
const MONITOR_ACTIONS = ["add_price_alert", "status", "reset_alerts", "clear_alerts"];
const INSTEAD =
  "what this device can do are its tools: command tools_list names them, command tool calls one";

export function execute({ payload }: Command, { agentType }: Pick<Settings, "agentType">): Reply {
  const { action } = payload;
  switch (agentType) {
    case "trader":
      return asTrader(action);
    case "monitor":
      return asMonitor(action);
    default:
      return acknowledged(agentType, agentType);
  }
}

function asTrader(action: unknown): Reply {
  if (isOneOf(TRADER_ACTIONS, action)) {
    return failed(
      `trading client not initialized: ${action} is not offered here, this agent trades nothing; ${INSTEAD}`,
    );
  }
  return acknowledged("trade", "trader", `specify action: ${TRADER_ACTIONS.join(", ")}`);
}

/** It has no price alerts, and says so truly: none to show, none to reset. */
function asMonitor(action: unknown): Reply {
  switch (action) {
    case "add_price_alert":
      return failed(
        `monitor not initialized: ${action} is not offered here, this agent has no market feed; ${INSTEAD}`,
      );
    case "status":
      return succeeded({
        status: "success",
        monitor_status: {
          total_alerts: 0,
          triggered_alerts: 0,
          tracked_coins: 0,
          last_check_interval_secs: 0,
        },
      });
    case "reset_alerts":
      return succeeded({ status: "success", action: "alerts_reset" });
    case "clear_alerts":
      return succeeded({ status: "success", action: "alerts_cleared" });
    default:
      return acknowledged("monitor", "monitor", `specify action: ${MONITOR_ACTIONS.join(", ")}`);
  }
}

function acknowledged(type: string, agentType: string, note?: string): Reply {
  return succeeded({ status: "executed", type, agent_type: agentType, ...(note !== undefined && { note }) });
}

function isOneOf(names: readonly string[], name: unknown): boolean {
  return typeof name === "string" && names.includes(name);
}
