/**
 * Home's own tools for the model of a device, over the event `call`. Home stores nothing of such a call: the device repeats its event
 * until it has the outcome, and the tools recognise its id. A device sees sessions as `agent:NAME`, and of those only what the person who asked it may see.
 */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import { agentSource, STRANGER } from "@edgecall/core/loop/taint.ts";
import type { AgentEvent } from "@edgecall/core/protocol/mqtt.ts";
import { LENDING_CHANNEL } from "../../api/agent-ids.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { FIND_AGENTS } from "../../api/edge-call.ts";
import { type HomeToolRequest, sessionId } from "../../api/home-tools.ts";
import { refused } from "../../api/tool-answer.ts";
import { sendCalled } from "../calls/answer-agent.ts";
import { agentWaitsOf, cancelSession, isWaiting, pauseDeadline, resumeDeadline } from "../calls/waits.ts";
import type { HomeContext } from "../context.ts";
import { idInConversation, type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { runHomeTool } from "./home-tools.ts";

/** A device repeats its event every 30 s. One that is silent for longer waits no more. */
const REPEATS_WITHIN_MS = 60_000;

/** Tools that answer agents in reach of the caller, and no session. */
const LISTS_AGENTS: readonly string[] = [FIND_AGENTS, "agents_list"];

type CallEvent = AgentEvent & { type: "call" };

/** @returns undefined: the device waits, and asks again */
export async function runAgentsTool(
  home: HomeContext,
  parent: LedgerCall,
  name: string,
  { call_id: id, args }: CallEvent,
): Promise<SettledOutcome | undefined> {
  // A grant is for agents. Conversations of this home, and its own model, are for nobody of another one.
  if (parent.caller.channel === LENDING_CHANNEL && !LISTS_AGENTS.includes(name))
    return {
      elapsedMs: 0,
      ...refused(
        "permission_denied",
        "Sessions are not for calls of another home.",
        "Explain this in your answer.",
      ),
    };
  const reply = await runHomeTool(home, requestOf(parent, { id, name, args }));
  const session = name === "sessions_send" ? String(args.session) : sessionId(id);
  // The call that it belongs to may have ended meanwhile.
  const waiting = ledgerOf(home).get(parent.id);
  if ("waitsUntil" in reply && waiting && !waiting.outcome) {
    const wasWaiting = isWaiting(home, waiting);
    agentWaitsOf(home).set(id, { parent: parent.id, session });
    pauseDeadline(home, waiting, Date.now() + REPEATS_WITHIN_MS, wasWaiting);
    return undefined;
  }
  waitsNoMore(home, id);
  if ("outcome" in reply) return reply.outcome;
  await cancelSession(home, session, id);
  return undefined;
}

function requestOf(parent: LedgerCall, call: Pick<HomeToolRequest, "id" | "name" | "args">): HomeToolRequest {
  const { agent, conversation, caller, flags } = parent;
  const principal = agentSource(agent);
  return {
    ...call,
    viewer: { name: principal, role: "guest", scopes: ["ask"] },
    from: {
      conversation,
      call: idInConversation(parent),
      agent: { id: agent, person: caller.principal },
    },
    origin: {
      principal,
      role: "guest",
      channel: caller.channel,
      ...(flags.limits && { limits: flags.limits }),
    },
    sources: [principal, STRANGER],
  };
}

/** A session has ended that a device began. @returns true: the device waited for it, and gets the outcome */
export async function sessionEnded(home: HomeContext, id: string, outcome: Outcome): Promise<boolean> {
  const parent = ledgerOf(home).get(agentWaitsOf(home).get(id)?.parent ?? "");
  if (!parent || parent.outcome) return false;
  waitsNoMore(home, id);
  // A notice that is lost: the device asks again.
  await sendCalled(home, parent.agent, id, outcome);
  return true;
}

function waitsNoMore(home: HomeContext, id: string): void {
  const parent = ledgerOf(home).get(agentWaitsOf(home).get(id)?.parent ?? "");
  agentWaitsOf(home).delete(id);
  if (!parent || parent.outcome) return;
  resumeDeadline(home, parent);
  home.ctx.waitUntil(home.alarm.arm());
}
