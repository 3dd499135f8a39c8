/** The tools of sessions, as Home runs them. */

import {
  isSessionTool,
  SESSION_TOOLS,
  type SessionToolInputs,
  type SessionToolName,
} from "@edgecall/core/tools/session-tools.ts";
import { checkArguments } from "../../../kernel/api/check-arguments.ts";
import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import type { ToolReply } from "../../../kernel/api/tool-answer.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { sessionIn } from "../conversation-api.ts";
import { send, spawn } from "./begin.ts";
import { agentsList, history, list, status } from "./views.ts";

/** @returns undefined: it is no tool of sessions, or they are switched off */
export function runSessionTool(home: HomeContext, request: HomeToolRequest): Promise<ToolReply> | undefined {
  const { name } = request;
  return isSessionTool(name) && readSettings(home.env).tools.sessions ? run(home, request, name) : undefined;
}

async function run(home: HomeContext, asked: HomeToolRequest, name: SessionToolName): Promise<ToolReply> {
  const checked = checkArguments(SESSION_TOOLS[name], asked);
  if (!checked.ok) return checked.outcome;
  const request = await placed(home, asked);
  // SAFETY: it was parsed with the schema of this tool.
  const of = <Name extends keyof SessionToolInputs>() => checked.input as SessionToolInputs[Name];
  switch (name) {
    case "agents_list":
      return await agentsList(home, request, of<typeof name>());
    case "session_status":
      return await status(home, request, of<typeof name>());
    case "sessions_history":
      return await history(home, request, of<typeof name>());
    case "sessions_list":
      return list(home, request, of<typeof name>());
    case "sessions_send":
      return await send(home, request, of<typeof name>());
    case "sessions_spawn":
      return await spawn(home, request, of<typeof name>());
  }
}

/** A device does not know how deep the conversation of its own call is, and who wrote there. */
async function placed({ env }: HomeContext, request: HomeToolRequest): Promise<HomeToolRequest> {
  const { conversation, agent } = request.from;
  if (!agent || conversation === null) return request;
  const about = await sessionIn(env, conversation).info();
  const from = { ...request.from, depth: about?.session?.depth ?? 0, others: about?.others === true };
  return { ...request, from };
}
