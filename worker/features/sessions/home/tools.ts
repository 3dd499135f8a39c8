/**
 * The tools that Home runs itself: for a conversation's model, and for a device's over the event `call`. Each is recognised by its
 * call's id where it begins something, so it may be asked again.
 */

import { errorText } from "@edgecall/core/tools/errors.ts";
import { SESSION_TOOLS, type SessionToolInputs } from "@edgecall/core/tools/session-tools.ts";
import { GATEWAY_AGENT } from "../../../kernel/api/audit.ts";
import { checkArguments } from "../../../kernel/api/check-arguments.ts";
import { EDGE_CALL, FIND_AGENTS } from "../../../kernel/api/edge-call.ts";
import { checkFindAgents } from "../../../kernel/api/find-agents.ts";
import { asksSession, type HomeToolReply, type HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { rosterOf } from "../../../kernel/home/agents/home-roster.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { homeLine } from "../../../kernel/home/record/audit-lines.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { addToRecord } from "../../audit/home/outlet.ts";
import { runRuleTool } from "../../rules/home/tools.ts";
import { isRuleTool } from "../../rules/tool-contract.ts";
import { refused, type ToolAnswer } from "./answers.ts";
import { send, spawn } from "./begin.ts";
import { agentsList, history, list, status } from "./views.ts";

export async function runHomeTool(home: HomeContext, request: HomeToolRequest): Promise<HomeToolReply> {
  const began = Date.now();
  const answer = await run(home, request);
  const reply = "waitsUntil" in answer ? answer : { outcome: { elapsedMs: Date.now() - began, ...answer } };
  record(home, request, reply, began);
  return reply;
}

async function run(
  home: HomeContext,
  request: HomeToolRequest,
): Promise<ToolAnswer | Exclude<HomeToolReply, { outcome: unknown }>> {
  const { name } = request;
  if (name === FIND_AGENTS) return await find(home, request);
  if (isRuleTool(name)) return await runRuleTool(home, request);
  if (!readSettings(home.env).tools.sessions)
    return refused("not_found", errorText.unknownTool(name, [EDGE_CALL, FIND_AGENTS]));
  const checked = checkArguments(SESSION_TOOLS[name], request);
  if (!checked.ok) return checked.outcome;
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

/** A read that no device sees. */
async function find(home: HomeContext, request: HomeToolRequest): Promise<ToolAnswer> {
  const roster = rosterOf(home);
  const checked = checkFindAgents(request);
  if (!checked.ok) return checked.outcome;
  const found = await roster.find(checked.query, request.origin.limits?.agents, Date.now());
  return { status: "success", ...found };
}

/** Tools that change something get a line, the same one when the request is repeated. Reads have none, as those of a device's roster. */
function record(home: HomeContext, request: HomeToolRequest, reply: HomeToolReply, at: number): void {
  const { id, name, args, origin, from } = request;
  if (!asksSession(name) && !(name === "session_status" && args.cancel === true)) return;
  const { principal, role, channel } = origin;
  const conversation = from.conversation?.split("/").slice(2).join("/");
  const line = homeLine(
    {
      id,
      agent: GATEWAY_AGENT,
      command: "tool",
      payload: { tool: name, parameters: args },
      caller: {
        principal,
        role,
        channel,
        ...(conversation !== undefined && { conversation }),
        ...(from.agent && { chain: { id: from.call, via: [from.agent.id] } }),
      },
    },
    "outcome" in reply ? reply.outcome : { status: "success", text: "", elapsedMs: 0 },
    at,
  );
  addToRecord(home, GATEWAY_AGENT, id, [line]);
}
