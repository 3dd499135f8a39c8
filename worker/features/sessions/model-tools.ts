/** The tools of sessions as a model is offered them. Home runs them (home/tools.ts). */
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { type ToolDefinition, toolDefinition } from "@edgecall/core/tools/registry.ts";
import { SESSION_TOOL_NAMES, SESSION_TOOLS } from "@edgecall/core/tools/session-tools.ts";
import type { HomeTools } from "../../kernel/api/home-tools.ts";

/** Parameters that are taken and not shown to a model: their defaults do, and an error names them. */
const NOT_SHOWN: ReadonlySet<string> = new Set(["active_minutes", "limit", "model", "tools"]);

/** In a large home `find_agents` finds what `agents_list` would list. */
function definitions(isLarge: boolean): ToolDefinition[] {
  const names = SESSION_TOOL_NAMES.filter((name) => !isLarge || name !== "agents_list");
  return names.map((name) => {
    const { description, input } = SESSION_TOOLS[name];
    return toolDefinition(name, description, shortened(jsonSchema(input)));
  });
}

export const sessionTools: HomeTools = { all: SESSION_TOOLS, definitions, roomUsed: "some" };

type ShortSchema = { type: string; items?: { type: string } };

/** Without the bounds of parameters, which an error names. */
function shortened({ properties, required }: Record<string, unknown>): Record<string, unknown> {
  const shown = Object.entries(properties as Record<string, ShortSchema>)
    .filter(([name]) => !NOT_SHOWN.has(name))
    .map(([name, { type, items }]) => [name, { type, ...(items && { items: { type: items.type } }) }]);
  return {
    type: "object",
    properties: Object.fromEntries(shown),
    ...(required !== undefined && { required }),
  };
}
