/** The tools for an MCP client: always three, and in a small home also a tool for each action of its agents; in a large one find_agents. */

import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { schemaForModels } from "@edgecall/core/tools/schema-for-models.ts";
import type { Targets } from "../../kernel/api/agents-api.ts";
import {
  type CallTarget,
  DESCRIPTION_MAX,
  describeTargets,
  EDGE_CALL,
  edgeCallDefinition,
} from "../../kernel/api/edge-call.ts";
import { findAgentsDefinition } from "../../kernel/api/find-agents.ts";
import type { HomeTools } from "../../kernel/api/home-tools.ts";
import { type HomeCounts, oneLine } from "../../kernel/api/roster.ts";
import type { McpTool, ToolAnnotations } from "./protocol.ts";
import { toolName } from "./tool-name.ts";

export const EDGE_LIST = "edge_list";
export const EDGE_RESULT = "edge_result";

/** Characters of a device's own description of an action. */
const WORDS_MAX = 500;

/** The agent and the action that a tool's name stands for. */
export type NamedAction = { name: string; agent: CallTarget; advert: ActionAdvert };

/** @param actions false: the caller may only ask in words @param homes the tools of the home that the caller may use */
export function steadyTools(
  { agents, excerptOf }: Targets,
  actions: boolean,
  homes: readonly HomeTools[],
): McpTool[] {
  return [
    ...(excerptOf ? [findTool()] : []),
    {
      name: EDGE_LIST,
      title: "List edge agents",
      description:
        "List the edge agents (devices) of this home: whether each is online, when it was last seen, and its actions. With agent_id: that agent's actions with their JSON Schemas.",
      inputSchema: { type: "object", properties: { agent_id: AGENT_ID } },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    {
      name: EDGE_CALL,
      title: "Call an edge agent",
      description: callDescription(agents, excerptOf),
      inputSchema: {
        type: "object",
        properties: {
          agent_id: {
            ...AGENT_ID,
            description: describeTargets({ agents, ...(excerptOf && { excerptOf }) }),
          },
          query: { type: "string", description: "natural language query (agent handles routing)" },
          ...(actions && {
            action: { type: "string", description: "optional: specific action name for structured calls" },
            params: { type: "object", description: "optional: parameters for the structured action" },
          }),
        },
        required: ["agent_id"],
      },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    {
      name: EDGE_RESULT,
      title: "Result of an earlier call",
      description:
        "The result of an earlier call that was still running, queued, or waiting for a person. Runs nothing.",
      inputSchema: {
        type: "object",
        properties: {
          agent_id: AGENT_ID,
          call_id: { type: "string", description: "the call_id that the earlier call answered" },
        },
        required: ["agent_id", "call_id"],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ...homes.flatMap(mcpToolsOf),
  ].map(forClients);
}

/** The tool has the form of its schema that every client and model takes. */
function forClients(tool: McpTool): McpTool {
  return { ...tool, inputSchema: schemaForModels(tool.inputSchema) };
}

const AGENT_ID = { type: "string", description: "ID of the target edge agent" } as const;

/** They change what the home keeps, and no device. */
function mcpToolsOf({ all, forPrograms }: HomeTools): McpTool[] {
  const annotations = {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  };
  return Object.values(all).map(({ name, description, input }) => ({
    name,
    title: forPrograms?.titles[name] ?? name,
    description,
    inputSchema: jsonSchema(input),
    annotations,
  }));
}

/** Only in a home of too many agents to list. */
function findTool(): McpTool {
  const { name, description, parameters } = findAgentsDefinition().function;
  return {
    name,
    title: "Find edge agents",
    description,
    inputSchema: parameters,
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function callDescription(agents: CallTarget[], excerptOf: HomeCounts | undefined): string {
  const roster = { bridgeOnline: true, agents, ...(excerptOf && { excerptOf }) };
  const definition = edgeCallDefinition(roster, { more: `${EDGE_LIST} has all of them` });
  return (
    definition?.function.description ??
    "Call an edge agent to handle a query. None is online now; edge_list shows who is."
  );
}

/** The actions of all agents by the names of their tools, sorted. Of two with the same name the first counts. */
export async function namedActions(targets: readonly CallTarget[]): Promise<Map<string, NamedAction>> {
  const named = new Map<string, NamedAction>();
  for (const agent of targets) {
    for (const advert of [...agent.adverts].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = await toolName(agent.id, advert.name);
      if (!named.has(name)) named.set(name, { name, agent, advert });
    }
  }
  return named;
}

/**
 * The actions that can be called now, as tools.
 * @param max with more actions the list is empty: they would fill a model's context, and edge_call reaches all of them
 */
export function actionTools(actions: Iterable<NamedAction>, max: number): McpTool[] {
  const there = [...actions].filter(
    ({ agent, advert }) => agent.online || agent.queues.includes(advert.name),
  );
  return there.length > max ? [] : there.map(actionTool).map(forClients);
}

function actionTool({ name, agent, advert }: NamedAction): McpTool {
  const state = agent.online ? "" : " (offline; it gets this when it comes back)";
  const before = `Action '${advert.name}' of edge agent '${agent.id}'${state}. Its own words: `;
  const words = quoted(oneLine(advert.description, WORDS_MAX), DESCRIPTION_MAX - before.length);
  return {
    name,
    title: `${agent.id}: ${advert.name}`,
    description: `${before}${words}`,
    inputSchema: advert.parameters,
    annotations: annotationsOf(advert),
  };
}

/** Puts a text in quotation marks, at most `max` characters in all. Those inside it are escaped, so a device's text cannot end the quotation. */
function quoted(text: string, max: number): string {
  for (let length = text.length; ; length -= 1) {
    const words = JSON.stringify(cutText(text, length));
    if (words.length <= max) return words;
  }
}

/** Hints for a client's interface from the device's own claims. The device's policy decides on every call. */
function annotationsOf({ effect, idempotent, taints }: ActionAdvert): ToolAnnotations {
  const reads = effect === "read";
  return {
    readOnlyHint: reads,
    destructiveHint: !reads,
    idempotentHint: reads || idempotent === true,
    openWorldHint: effect === "network" || taints === true,
  };
}
