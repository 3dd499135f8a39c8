/**
 * Sockets of the requests that wait for a call which belongs to no conversation: a command of the API, or a call of an MCP
 * client. Each gets the outcome, and some get what happens until then.
 */
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import type { CallNews, SettledOutcome } from "../../api/calls.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError } from "../../log.ts";
import { acceptSocket, closeQuietly } from "../../sockets.ts";
import type { HomeContext } from "../context.ts";
import { idInConversation, type LedgerCall } from "../ledger/ledger.ts";

type Sockets = Pick<DurableObjectState, "getWebSockets">;

/** Accepts a socket. @param news what the call waits for right now; false: only the outcome is wanted */
export function acceptWatcher(
  ctx: DurableObjectState,
  { id, outcome }: LedgerCall,
  news: CallNews[] | false,
): Response {
  const { socket, response } = acceptSocket(ctx, news ? [id, liveTag(id)] : [id]);
  if (outcome) sendOutcome(socket, outcome);
  else if (news) for (const one of news) sendNews(socket, one);
  return response;
}

export function notifyWatchers(sockets: Sockets, callId: string, news: CallNews): void {
  for (const socket of sockets.getWebSockets(liveTag(callId))) sendNews(socket, news);
}

/**
 * Shows what happens in a call to the clients that watch it right now, and stores nothing.
 * @param note words for the call's line in a chat, until its outcome or the next note; "": none
 */
export function showProgress(
  { ctx, env }: Pick<HomeContext, "ctx" | "env">,
  call: LedgerCall,
  text: string,
  { tool, note }: { tool?: string | undefined; note?: string } = {},
): void {
  const shownAs = idInConversation(call);
  if (call.conversation === null) {
    notifyWatchers(ctx, shownAs, { news: "progress", text });
    return;
  }
  const sent = conversationOf(env, call.conversation).progress({ call: shownAs, tool, text }, note);
  ctx.waitUntil(sent.catch((error: unknown) => logError("progress.lost", error, { call: call.id })));
}

export function notifyOutcome(sockets: Sockets, callId: string, outcome: SettledOutcome): void {
  for (const socket of sockets.getWebSockets(callId)) sendOutcome(socket, outcome);
}

function sendNews(socket: WebSocket, news: CallNews): void {
  try {
    socket.send(JSON.stringify(news));
  } catch {
    // It closed a moment ago. A client that still wants the outcome attaches again.
    closeQuietly(socket, "bye");
  }
}

function sendOutcome(socket: WebSocket, outcome: SettledOutcome): void {
  try {
    socket.send(JSON.stringify(outcome));
    socket.close(1000, "done");
  } catch {
    // It closed a moment ago. The outcome is in its row.
  }
}

/** Where a call's media are stored, as `home/channel/id`: with its conversation, else in a place of the call with which its chain began. */
export function placeOf(
  {
    id,
    conversation,
    caller,
  }: { id: string; conversation: string | null; caller: Pick<Caller, "channel" | "chain"> },
  home: string,
): string {
  return conversation ?? `${home}/${caller.channel === "mcp" ? "mcp" : "command"}/${caller.chain?.id ?? id}`;
}

function liveTag(callId: string): string {
  return `live:${callId}`;
}
