/**
 * Gives tools an argument `node`, which runs them on another machine. Without it a call runs here. With it the call goes to
 * that machine's tool or fails; it never falls back to this device.
 */
import { z } from "@edgecall/core/protocol/parse.ts";
import { faultResult, type Tool } from "@edgecall/core/tools/contract.ts";
import type { Environment } from "../../env/environment.ts";
import { NODE_NAME } from "../../env/nodes/node.ts";
import type { Nodes } from "../../env/nodes/nodes.ts";

type Args = Record<string, unknown>;

/** @param make the same tools for any environment @returns the tools of `home`, with `node` */
export function atNodes(home: Environment, nodes: Nodes, make: (environment: Environment) => Tool[]): Tool[] {
  const made = new WeakMap<Environment, Tool[]>();
  const toolAt = (node: string, name: string): Tool | undefined => {
    const environment = nodes.environment(node);
    if (!environment) return undefined;
    const tools = made.get(environment) ?? make(environment);
    made.set(environment, tools);
    return tools.find((tool) => tool.name === name);
  };
  return make(home).map((tool) => withNode(tool, nodes, (node) => toolAt(node, tool.name)));
}

function withNode(own: Tool, nodes: Nodes, toolAt: (node: string) => Tool | undefined): Tool {
  /** Returns the tool that a call is for; undefined for an unknown node. */
  const chosen = (input: unknown): { tool: Tool | undefined; args: unknown; node: string | undefined } => {
    const { node, ...args } = input as Args & { node?: string };
    return { tool: node === undefined ? own : toolAt(node), args, node };
  };
  return {
    ...own,
    input: inputWithNode(own, nodes),
    ...(own.prepare && {
      prepare: ({ node, ...raw }) => ({ ...own.prepare?.(raw), ...(node !== undefined && { node }) }),
    }),
    ...(own.lock && {
      lock: (input) => {
        const { tool, args } = chosen(input);
        return tool?.lock?.(args) ?? "no node";
      },
    }),
    ...(own.effectIn && { effectIn: (input) => own.effectIn?.(chosen(input).args) ?? own.effect }),
    timeoutIn: (input) => own.timeoutIn?.(chosen(input).args),
    ...(own.targets && {
      targets: async (input, signal) => {
        const { tool, args } = chosen(input);
        return (await tool?.targets?.(args, signal)) ?? [];
      },
    }),
    danger: (input, caller) => {
      const { tool, args } = chosen(input);
      return tool?.danger?.(args, caller);
    },
    async execute(input, context) {
      const { tool, args, node } = chosen(input);
      if (!tool) {
        const names = nodes.list().map(({ name }) => name);
        return faultResult("not_found", {
          text: `Error: There is no node '${node}', so nothing was done. Nodes: ${names.join(", ") || "none"}.`,
          advice: "Leave 'node' out for this device.",
        });
      }
      const result = await tool.execute(args, context);
      return node === undefined ? result : { ...result, details: { ...result.details, node } };
    },
  };
}

/** Returns the same strict object with one more argument. @throws TypeError when the tool's input is not an object */
function inputWithNode(tool: Tool, nodes: Nodes): z.ZodMiniType {
  if (!("shape" in tool.input)) throw new TypeError(`the input of '${tool.name}' is no object`);
  const { shape } = tool.input as z.ZodMiniObject;
  const names = nodes.list().map(({ name }) => name);
  const known = names.length > 0 ? ` (${names.join(", ")})` : "";
  return z.strictObject({
    ...shape,
    node: z
      .optional(z.string().check(z.regex(NODE_NAME)))
      .check(z.describe(`Another machine to do it on, of the tool nodes${known}; left out: this device`)),
  });
}
