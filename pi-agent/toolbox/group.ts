/** Tools that are offered together, or left out together with a reason. */
import type { Tool } from "@edgecall/core/tools/contract.ts";

/** Tools with the same requirements. */
export type Group = {
  names: readonly string[];
  /**
   * Returns why they cannot be offered; undefined when they can.
   * @throws NoAnswer when that could not be found out; it is tried again later
   */
  missing(): Promise<string | undefined>;
  /** Called only when nothing is missing. It imports what only these tools need, which takes no memory before. */
  make(): Tool[] | Promise<Tool[]>;
};

/** Makes a group of one tool. @param isMissing returns what is missing; absent = no requirements */
export function alone(
  tool: Tool,
  isMissing: () => Promise<string | undefined> = async () => undefined,
): Group {
  return group([tool], isMissing);
}

export function always(tools: Tool[]): Group {
  return group(tools, async () => undefined);
}

/** Makes a group of tools that are left out, with the reason. */
export function missing(names: string[], why: string): Group {
  return { names, missing: async () => why, make: () => [] };
}

export function group(tools: Tool[], isMissing: () => Promise<string | undefined>): Group {
  return { names: tools.map(({ name }) => name), missing: isMissing, make: () => tools };
}
