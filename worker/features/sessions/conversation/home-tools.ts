/** Calls of the tools that Home runs. One that waits for a session is parked like a device's, and Home is asked again at its deadline. */
import type { Source } from "@edgecall/core/loop/taint.ts";
import { asksSession, type BegunSessions, isHomeTool, sessionId } from "../../../kernel/api/home-tools.ts";
import { conversationOf, withRetry } from "../../../kernel/api/stubs.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import { settleCall } from "../../../kernel/conversation/settle-call.ts";
import type { StoredCall, Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Transcript } from "../../../kernel/conversation/store/transcript.ts";
import { traceOfCall } from "../../../kernel/conversation/trace.ts";
import { logError, logInfo } from "../../../kernel/log.ts";
import type { Settings } from "../../../kernel/settings/settings.ts";
import { unfolded } from "../../rules/tool-contract.ts";
import { budgetLeft } from "./budget.ts";
import { hasOthers } from "./session-view.ts";

/** A session that has not ended after a day is not waited for. */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Names of tools that are answered here where they are offered: session tools in conversations that go on. */
export function hasSessionTools(
  { isOneShot, name }: ConversationContext,
  { origin }: Turn,
  settings: Settings,
): boolean {
  // A turn that a rule began only reads.
  const mayAsk = !isOneShot && origin.event !== "rule";
  return settings.tools.sessions && mayAsk && name.split("/")[1] !== "openai";
}

/** @returns the call, when Home did not answer */
export async function askHome(
  context: ConversationContext,
  turn: Turn,
  call: StoredCall,
  { sources, settings }: { sources: readonly Source[]; settings: Settings },
): Promise<StoredCall | undefined> {
  const { id, problem } = call;
  const { name: tool, args } = unfolded(call.name, call.args);
  if (!isHomeTool(tool)) return undefined;
  const { transcript, sent, name } = context;
  const { principal, role, channel, privateChat, limits, model, session, reply: place } = turn.origin;
  context.unsent.delete(id);
  const at = sent.get(id)?.at ?? Date.now();
  const left = asksSession(tool) ? budgetLeft(context, turn, settings) : undefined;
  try {
    const reply = await context.home().calls.runTool({
      id,
      name: tool,
      args,
      ...(problem !== undefined && { problem }),
      viewer: { name: principal, role, scopes: ["ask"] },
      from: {
        conversation: name,
        privateChat,
        call: id,
        depth: session?.depth ?? 0,
        others: hasOthers(transcript, turn),
      },
      origin: {
        principal,
        role,
        channel,
        ...(limits && { limits }),
        ...(place && { reply: place }),
        ...(model !== undefined && { model }),
        ...traceOfCall(context, turn, id),
      },
      sources: [...sources],
      ...(left !== undefined && { budgetLeft: left }),
      ...(asksSession(tool) && { begun: begunIn(transcript, id) }),
    });
    if ("outcome" in reply) settleCall(context, id, reply.outcome);
    // The session may have ended before the reply.
    else if (!transcript.call(id)?.outcome)
      sent.set(id, { at, deadline: Math.max(reply.waitsUntil, sent.get(id)?.deadline ?? 0) });
    if (isCancelled(transcript, turn)) await endSession(context, call);
    logInfo("call.asked_home", { turn: turn.id, call: id, tool, waits: "waitsUntil" in reply });
    return undefined;
  } catch (error) {
    logError("home_tool.failed", error, { turn: turn.id, call: id, tool });
    return call;
  }
}

function isCancelled(transcript: Transcript, { id }: Turn): boolean {
  return transcript.turn(id)?.error === "cancelled";
}

/** Ends the turn that a call waits for in a session. One that goes on by itself is not ended with the turn that began it. */
export async function endSession({ env, name }: ConversationContext, call: StoredCall): Promise<void> {
  if (!asksSession(call.name)) return;
  const session = call.name === "sessions_send" ? String(call.args.session) : sessionId(call.id);
  const home = name.split("/", 1)[0] ?? "";
  try {
    // The turn has the call's id, so no other turn is meant.
    await withRetry(() => conversationOf(env, `${home}/api/${session}`).cancel(call.id));
  } catch (error) {
    logError("session.cancel_failed", error, { call: call.id });
  }
}

/** The sessions that the calls of this conversation began before this one. Calls that were refused began none. */
function begunIn(transcript: Transcript, id: string): BegunSessions {
  const now = Date.now();
  const calls = transcript.callsSince(now - DAY_MS).filter(({ name }) => asksSession(name));
  const before = calls
    .slice(
      0,
      Math.max(
        0,
        calls.findIndex((call) => call.id === id),
      ),
    )
    .filter(({ outcome }) => outcome?.status !== "error");
  return {
    running: before.filter(({ outcome }) => outcome === undefined || outcome.job !== undefined).length,
    lastHour: before.filter(({ turn }) => (transcript.turnAt(turn)?.createdAt ?? 0) > now - HOUR_MS).length,
  };
}
