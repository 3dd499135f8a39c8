/** Tools of this agent's own model alone. They are not advertised, and no command names them. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { Settings } from "../config/settings.ts";
import { edgeCall, findAgents } from "../tools/session/edge-call.ts";
import { leftOut } from "./toolbox.ts";

export function ownTools(settings: Settings): Tool[] {
  return [edgeCall(), findAgents()].filter((tool) => leftOut(tool, settings) === undefined);
}

/** @param own those that can be used now @returns all tools of a prompt. The device's other tools have precedence */
export function withOwnTools(offered: ToolRegistry, own: readonly Tool[]): ToolRegistry {
  return own
    .filter(({ name }) => !offered.get(name))
    .reduce((registry, tool) => registry.register(tool), offered);
}
