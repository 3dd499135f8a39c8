/** What EvoClaw's commands need of the agent, known before they are loaded. */
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { ToolMetrics } from "../calls/tool-metrics.ts";
import type { Settings } from "../config/settings.ts";

/** The file of the profile, in the agent's folder for its state. */
export const PROFILE_FILE = "profile.json";

export type EvoClawParts = {
  settings: Settings;
  toolMetrics: ToolMetrics;
  /** What a genome may name. It is read at each command. */
  installed(): { tools: ToolRegistry; skills: readonly string[] };
  log: Log;
};

export type EvoClawCommand = "execute" | "update_strategy" | "update_genome" | "evolution";
