/**
 * Changes that commands of an orchestrator made to this agent while it ran, as the parts of the agent see it. evoclaw/ keeps them, and
 * evoclaw/ is loaded only where there was such a command.
 */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { Settings } from "../config/settings.ts";

/** The keys of agent.toml that can change while the agent runs. */
export type Tunable = Pick<Settings, "llm" | "limits" | "systemPrompt">;

export type ProfileInForce = {
  /** Rises with every change. 0 = no change yet. */
  readonly version: number;
  /** agent.toml's values, with the changes. */
  readonly tuned: Tunable;
  /** The character and style of answers, for the system prompt. */
  readonly style: string;
  /** True unless the skill was disabled. */
  leavesEnabled(skill: string): boolean;
  /** @param called the name in the call, which for an older version differs from the tool's */
  blocks(tool: Pick<Tool, "name" | "permission" | "permissions">, called: string): boolean;
};

/** The style of answers unless it was changed. */
export const DEFAULT_STYLE = "Answer briefly, with the figures and their units.";

/** What is in force before the first change: agent.toml alone. */
export function unchanged({ llm, limits, systemPrompt }: Tunable): ProfileInForce {
  return {
    version: 0,
    tuned: { llm, limits, systemPrompt },
    style: DEFAULT_STYLE,
    leavesEnabled: () => true,
    blocks: () => false,
  };
}
