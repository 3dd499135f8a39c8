/** The tools of sessions in a conversation. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import {
  asksSession,
  type BegunSessions,
  type HomeToolRequest,
  sessionId,
} from "../../../kernel/api/home-tools.ts";
import { conversationOf, withRetry } from "../../../kernel/api/stubs.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import type { StoredCall, Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Transcript } from "../../../kernel/conversation/store/transcript.ts";
import { logError } from "../../../kernel/log.ts";
import type { Settings } from "../../../kernel/settings/settings.ts";
import { budgetLeft } from "./budget.ts";

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

/** What Home has to know beside the call. */
export function besideCall(
  context: ConversationContext,
  turn: Turn,
  { id, name }: StoredCall,
  settings: Settings,
): Pick<HomeToolRequest, "budgetLeft" | "begun"> {
  if (!asksSession(name)) return {};
  const left = budgetLeft(context, turn, settings);
  return { ...(left !== undefined && { budgetLeft: left }), begun: begunIn(context.transcript, id) };
}

/**
 * Ends the turn that a call waits for in a session. One that goes on by itself is not ended with the turn that began it.
 * @returns the call's outcome
 */
export async function cancelSession(
  { env, name }: ConversationContext,
  call: StoredCall,
): Promise<Outcome | undefined> {
  if (!asksSession(call.name)) return undefined;
  const session = call.name === "sessions_send" ? String(call.args.session) : sessionId(call.id);
  const home = name.split("/", 1)[0] ?? "";
  try {
    // The turn has the call's id, so no other turn is meant.
    await withRetry(() => conversationOf(env, `${home}/api/${session}`).cancel(call.id));
  } catch (error) {
    logError("session.cancel_failed", error, { call: call.id });
  }
  return CANCELLED;
}

/** Of a call that waited for a session. */
const CANCELLED: Outcome = {
  status: "error",
  errorType: "execution_failed",
  text: "Cancelled. The session's turn was ended too.",
  elapsedMs: 0,
  sources: [],
};

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
