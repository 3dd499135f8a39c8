/** The tools that this agent offers, as its parts see them. toolbox/ puts them together. */
import type { Permission, Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";

/** A tool that this device cannot offer, and what is missing. */
export type Unavailable = { name: string; why: string };

/** EvoClaw's block in `tools_list`. */
export type ToolMetadata = {
  binary: string;
  timeout_ms: number;
  sandbox: boolean;
  permissions: readonly Permission[];
  version: string;
  skill: string;
};

export type OfferedTools = {
  /** A snapshot; a new one after the tools change. */
  readonly registry: ToolRegistry;
  readonly unavailable: readonly Unavailable[];
  /** Checks the skills for changes first; used for every listing. */
  look(): Promise<void>;
  /** Returns the skill of a tool; undefined for the agent's own tools. */
  skillOf(tool: Tool): { metadata: ToolMetadata } | undefined;
};
