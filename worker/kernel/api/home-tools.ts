/** Tools that a home runs itself, for the model of a conversation or of a device. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { RULE_TOOLS, type RuleToolName } from "@edgecall/core/rules/tools.ts";
import { type ToolDefinition, toolDefinition } from "@edgecall/core/tools/registry.ts";
import {
  isSessionTool,
  SESSION_TOOL_NAMES,
  SESSION_TOOLS,
  type SessionToolName,
} from "@edgecall/core/tools/session-tools.ts";
import { isRuleTool } from "../../features/rules/tool-contract.ts";
import { FIND_AGENTS } from "./edge-call.ts";
import { findAgentsTool } from "./find-agents.ts";
import type { Viewer } from "./may-see.ts";
import type { NewOrigin } from "./turns.ts";

export type HomeToolName = SessionToolName | RuleToolName | typeof FIND_AGENTS;

export function isHomeTool(name: string): name is HomeToolName {
  return name === FIND_AGENTS || isSessionTool(name) || isRuleTool(name);
}

export type HomeToolRequest = {
  /** The call's UUID. The same id is the same call. */
  id: string;
  name: HomeToolName;
  args: Record<string, unknown>;
  /** The reason why the arguments could not be read. */
  problem?: string;
  /** Whose eyes it has: of a person's turn the person's; of a device `agent:NAME`, a guest. */
  viewer: Viewer;
  /**
   * `call`: as the conversation knows it. `depth`: how many sessions are above it. `others`: other people wrote in the conversation
   * too. A device's request has neither: the conversation is asked. `agent`: the device that asks, and the principal of its own call. `privateChat`: as in `Origin`.
   */
  from: {
    conversation: string | null;
    privateChat?: string | undefined;
    call: string;
    depth?: number;
    others?: boolean;
    agent?: { id: string; person: string };
  };
  /** Of a turn that the tool begins. */
  origin: Pick<NewOrigin, "principal" | "role" | "channel" | "limits" | "model" | "trace" | "reply">;
  /** The sources of the words that the arguments may repeat. */
  sources: Source[];
  /** Tokens. Absent: the conversation has no budget. */
  budgetLeft?: number;
  /** Sessions that this conversation began: those that have not ended, and those of the last hour. Absent: Home counts those of a device. */
  begun?: BegunSessions;
};

export type BegunSessions = { running: number; lastHour: number };

/**
 * `waitsUntil` (epoch ms): the outcome comes over `sessionEnded`, at the latest then; with a `question`, whose answer a person gives, the
 * call is made again then.
 */
export type HomeToolReply = { outcome: Outcome } | { waitsUntil: number; question?: string };

/** The names of a tool's own parameters; none for a tool that Home does not run. */
export function homeToolParameters(name: string): string[] {
  const tool = isSessionTool(name)
    ? SESSION_TOOLS[name]
    : isRuleTool(name)
      ? RULE_TOOLS[name]
      : name === FIND_AGENTS
        ? findAgentsTool
        : undefined;
  return Object.keys((tool && jsonSchema(tool.input).properties) ?? {});
}

/** The tools that begin a turn in a session, or wait for one. */
export function asksSession(name: string): boolean {
  return name === "sessions_send" || name === "sessions_spawn";
}

/** The id of a session that a call began, below `HOME/api/`. */
export function sessionId(call: string): string {
  return `${SESSION_PREFIX}${call}`;
}
export const SESSION_PREFIX = "session-";

/** Parameters that are taken and not shown to a model: their defaults do, and an error names them. */
const NOT_SHOWN: ReadonlySet<string> = new Set(["active_minutes", "limit", "model", "tools"]);

/**
 * The definitions for a model, as short as they can be, since they are in every model call.
 * @param besideFind true: `find_agents` finds what `agents_list` would list
 */
export function sessionToolDefinitions(besideFind = false): ToolDefinition[] {
  const names = SESSION_TOOL_NAMES.filter((name) => !besideFind || name !== "agents_list");
  return names.map((name) => {
    const { description, input } = SESSION_TOOLS[name];
    return toolDefinition(name, description, shortened(jsonSchema(input)));
  });
}

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
