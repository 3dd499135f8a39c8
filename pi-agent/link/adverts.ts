/** The texts with which the agent advertises itself. */
import { createHash } from "node:crypto";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import {
  type ActionAdvert,
  CALL_FEATURE,
  PERMISSIONS_FEATURE,
  RULES_FEATURE,
  TRUTHS_FEATURE,
} from "@edgecall/core/protocol/mqtt.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { HISTORY_FEATURE } from "@edgecall/core/protocol/past.ts";
import type { Truths } from "@edgecall/core/protocol/rules.ts";
import { defaultLine } from "@edgecall/core/text/default-line.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { Settings } from "../config/settings.ts";
import { actionOf } from "./action-advert.ts";

/** The log's event when the agent's tools have changed. */
export const TOOLS_CHANGED = "tools.changed";
/** The log's event when what is wrong with the device has changed. */
export const CONDITIONS_CHANGED = "conditions.changed";

/** The commands and events that this agent has beyond EvoClaw. Without a model there is no `prompt`. */
function features(settings: Settings): string[] {
  const prompt = settings.llm ? ["prompt"] : [];
  return [
    "tool",
    ...prompt,
    "cancel",
    "ack",
    "acks",
    "events",
    "presence",
    "tools",
    "watch",
    "question",
    "job",
    "upload",
    "gateway",
    "route",
    CALL_FEATURE,
    RULES_FEATURE,
    TRUTHS_FEATURE,
    ...(settings.history.readings.length > 0 ? [HISTORY_FEATURE] : []),
    ...(settings.gatewayKey === undefined ? [] : [PERMISSIONS_FEATURE]),
  ];
}

/**
 * @param offered names of its tools, for the line of capabilities if the settings have none
 * @param conditions what is wrong with this device
 */
export function capabilitiesText(
  settings: Settings,
  offered: readonly string[],
  conditions: readonly Condition[] = [],
): string {
  return JSON.stringify({
    agent_id: settings.agentId,
    capabilities: settings.capabilities ?? defaultLine(settings, offered),
    agent_type: settings.agentType,
    version: VERSION,
    features: features(settings),
    ...(settings.group !== undefined && { group: settings.group }),
    ...(conditions.length > 0 && { conditions }),
  });
}

export function actionsOf(registry: ToolRegistry): ActionAdvert[] {
  return registry.all().map(actionOf);
}

export function toolsText(registry: ToolRegistry): string {
  const tools = actionsOf(registry);
  const hash = createHash("sha256").update(JSON.stringify(tools)).digest("hex").slice(0, 16);
  return JSON.stringify({ hash, tools });
}

/**
 * The signer adds `boot_id`.
 * @param of `session`: this run's half of its session; `rules`: the hash of the rules that it watches; `truths`: of rules that act
 */
export function presenceText(
  state: "online" | "offline",
  reason: string,
  of: { session?: string | undefined; rules?: string; truths?: Truths | undefined } = {},
): string {
  return JSON.stringify({ state, reason, ...of });
}
