/** Reads a client's own tools from a request, and which tool it wants called. */
import type { ToolDefinition } from "@edgecall/core/tools/registry.ts";
import { EDGE_CALL, FIND_AGENTS } from "../../kernel/api/edge-call.ts";
import type { WantedCall } from "../../kernel/api/turns.ts";
import type { Env } from "../../kernel/env.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { toolNames } from "../../kernel/settings/gateway-tools.ts";
import { readSettings } from "../../kernel/settings/settings.ts";

/** OpenAI's limit. */
const TOOLS_MAX = 128;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** They are stored with each turn. */
const TOOLS_MAX_CHARS = 200_000;

export type OwnTools = {
  clientTools: ToolDefinition[];
  /** No tools are offered, not even the gateway's. */
  none: boolean;
  wants?: WantedCall;
  /** One call at a time. */
  oneCall: boolean;
};

export const NO_TOOLS: OwnTools = { clientTools: [], none: true, oneCall: false };

export type ToolFields = { tools?: unknown; tool_choice?: unknown; parallel_tool_calls?: unknown };

/**
 * Takes the form of a chat, which has the function in `function`, and that of a response, which has its fields in the tool itself.
 * @throws HttpError 400 naming the tool that cannot be offered
 */
export function ownTools(env: Env, { tools, tool_choice: asked, parallel_tool_calls }: ToolFields): OwnTools {
  const tool_choice = choiceKeyword(asked);
  const ours = [EDGE_CALL, FIND_AGENTS, ...toolNames(readSettings(env).tools)];
  const clientTools = definitions(tools, ours);
  const oneCall = parallel_tool_calls === false;
  if (tool_choice === "none") return { clientTools: [], none: true, oneCall };
  const choice = choiceOf(tool_choice);
  const named = choice.names.find((name) => !ours.includes(name) && !clientTools.some(isNamed(name)));
  if (named !== undefined)
    throw refused("tool_choice", `there is no tool '${named.slice(0, 64)}' among the tools of this request`);
  const allowed = choice.only
    ? clientTools.filter((tool) => choice.names.some((name) => isNamed(name)(tool)))
    : clientTools;
  return { clientTools: allowed, none: false, oneCall, ...(choice.wants && { wants: choice.wants }) };
}

function definitions(tools: unknown, ours: readonly string[]): ToolDefinition[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw refused("tools", "expected a list");
  if (tools.length > TOOLS_MAX) throw refused("tools", `${tools.length} where ${TOOLS_MAX} are taken`);
  const taken: ToolDefinition[] = [];
  for (const [at, tool] of tools.entries()) {
    const definition = definitionOf(tool, `tools.${at}`);
    const { name } = definition.function;
    if (ours.includes(name))
      throw refused(`tools.${at}`, `'${name}' is a tool of this gateway's own; rename yours`);
    if (taken.some(isNamed(name))) throw refused(`tools.${at}`, `there are two tools '${name}'`);
    taken.push(definition);
  }
  if (textOf(taken).length > TOOLS_MAX_CHARS)
    throw refused("tools", `they have more than ${TOOLS_MAX_CHARS} characters together`);
  return taken;
}

function definitionOf(tool: unknown, field: string): ToolDefinition {
  const { type, function: nested } = asObject(tool);
  if (type !== "function")
    throw refused(field, `only functions are taken, not '${String(type).slice(0, 40)}'`);
  const { name, description, parameters, strict } = asObject(nested ?? tool);
  if (typeof name !== "string" || !NAME.test(name))
    throw refused(field, "name: expected 1 to 64 of A-Z a-z 0-9 _ -");
  if (parameters != null && (typeof parameters !== "object" || Array.isArray(parameters)))
    throw refused(field, "parameters: expected a JSON Schema, an object");
  return {
    type: "function",
    function: {
      name,
      description: typeof description === "string" ? description : "",
      parameters: (parameters ?? { type: "object", properties: {} }) as Record<string, unknown>,
      ...(strict === true && { strict }),
    },
  };
}

/** Some clients write a word as an object: `{"type": "auto"}`. */
function choiceKeyword(choice: unknown): unknown {
  const { type } = asObject(choice);
  return type === "auto" || type === "none" || type === "required" || type === "any" ? type : choice;
}

/** `only`: the only tools to offer. */
function choiceOf(choice: unknown): { wants?: WantedCall; names: string[]; only: boolean } {
  if (choice == null || choice === "auto") return { names: [], only: false };
  if (choice === "required" || choice === "any") return { wants: "required", names: [], only: false };
  const { type, name, function: nested, mode, tools, allowed_tools } = asObject(choice);
  if (type === "function") {
    const wanted = asObject(nested ?? { name }).name;
    if (typeof wanted === "string") return { wants: { name: wanted }, names: [wanted], only: false };
  }
  if (type === "allowed_tools") {
    const allowed = asObject(allowed_tools ?? { mode, tools });
    const names = (Array.isArray(allowed.tools) ? allowed.tools : []).flatMap((tool: unknown) => {
      const { function: inner, name: flat } = asObject(tool);
      const one = asObject(inner ?? { name: flat }).name;
      return typeof one === "string" ? [one] : [];
    });
    return { ...(allowed.mode === "required" && { wants: "required" as const }), names, only: true };
  }
  throw refused("tool_choice", "expected 'auto', 'none', 'required' or a function by its name");
}

function isNamed(name: string): (tool: ToolDefinition) => boolean {
  return (tool) => tool.function.name === name;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw refused("tools", "they are nested too deep");
  }
}

function refused(param: string, message: string): HttpError {
  return new HttpError(400, "invalid_body", `${param}: ${message}`, param);
}
