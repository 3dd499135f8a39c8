/** Tools of this agent's own model alone. They are not advertised, and no command names them. */
import { CALL_FEATURE, SESSIONS_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { Settings } from "../config/settings.ts";
import { edgeCall, findAgents } from "../tools/session/edge-call.ts";
import { sessionTools } from "../tools/session/sessions.ts";
import { leftOut } from "./toolbox.ts";

/** @property feature that the gateway has to have */
export type OwnTool = { feature: string; tool: Tool };

export function ownTools(settings: Settings): OwnTool[] {
  return [
    ...[edgeCall(), findAgents()].map((tool) => ({ feature: CALL_FEATURE, tool })),
    ...sessionTools().map((tool) => ({ feature: SESSIONS_FEATURE, tool })),
  ].filter(({ tool }) => leftOut(tool, settings) === undefined);
}

/** @param own those that can be used now @returns all tools of a prompt. The device's other tools have precedence */
export function withOwnTools(offered: ToolRegistry, own: readonly OwnTool[]): ToolRegistry {
  return own
    .filter(({ tool }) => !offered.get(tool.name))
    .reduce((registry, { tool }) => registry.register(tool), offered);
}
