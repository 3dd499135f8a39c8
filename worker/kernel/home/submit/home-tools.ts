/**
 * The tools that Home runs itself: for a conversation's model, and for a device's over the event `call`. Each is recognised by its
 * call's id where it begins something, so it may be asked again.
 */

import { errorText } from "@edgecall/core/tools/errors.ts";
import { GATEWAY_AGENT } from "../../api/audit.ts";
import { EDGE_CALL, FIND_AGENTS } from "../../api/edge-call.ts";
import { checkFindAgents } from "../../api/find-agents.ts";
import { asksSession, type HomeToolReply, type HomeToolRequest } from "../../api/home-tools.ts";
import { refused, type ToolAnswer, type ToolReply } from "../../api/tool-answer.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { addToAudit } from "../audit/add-to-audit.ts";
import { homeLine } from "../audit/audit-lines.ts";
import type { HomeContext } from "../context.ts";
import { featuresOf } from "../feature.ts";

export async function runHomeTool(home: HomeContext, request: HomeToolRequest): Promise<HomeToolReply> {
  const began = Date.now();
  const answer = await run(home, request);
  const reply = "waitsUntil" in answer ? answer : { outcome: { elapsedMs: Date.now() - began, ...answer } };
  record(home, request, reply, began);
  return reply;
}

async function run(home: HomeContext, request: HomeToolRequest): Promise<ToolReply> {
  const { name } = request;
  if (name === FIND_AGENTS) return await findAgents(home, request);
  for (const { tool } of featuresOf(home)) {
    const answer = tool?.(home, request);
    if (answer) return await answer;
  }
  return refused("not_found", errorText.unknownTool(name, [EDGE_CALL, FIND_AGENTS]));
}

/** A read that no device sees. */
async function findAgents(home: HomeContext, request: HomeToolRequest): Promise<ToolAnswer> {
  const checked = checkFindAgents(request);
  if (!checked.ok) return checked.outcome;
  const found = await rosterOf(home).find(checked.query, request.origin.limits?.agents, Date.now());
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
  addToAudit(home, GATEWAY_AGENT, id, [line]);
}
