/**
 * Who waits for a call that belongs to no conversation (a command of the API, a call of an MCP client): a socket
 * of Home's waiting room each. Those that want more than the outcome are told what happens on the way.
 */
import { acceptSocket, closeQuietly } from "../../sockets.ts";
import { tellOutcome } from "./handover.ts";
import type { LedgerCall } from "./ledger.ts";

/** A message of the waiting room before the outcome, which has a `status`. */
export type CallNews =
  /** A device's output as it comes. */
  | { news: "progress"; text: string }
  /** A person has to answer first; nothing goes on until then. */
  | { news: "question"; question: AskedQuestion };

export type AskedQuestion = {
  id: string;
  text: string;
  options: string[];
  /** It is a yes or no to exactly one thing, for who may approve. */
  approval: boolean;
  expiresAt: number;
};

type Sockets = Pick<DurableObjectState, "getWebSockets">;

/** Takes a socket in. @param news what stands in its way right now; false: the outcome alone is wanted */
export function acceptWatcher(
  ctx: DurableObjectState,
  { id, outcome }: LedgerCall,
  news: CallNews[] | false,
): Response {
  const { socket, response } = acceptSocket(ctx, news ? [id, liveTag(id)] : [id]);
  if (outcome) tellOutcome(socket, outcome);
  else if (news) for (const one of news) tellNews(socket, one);
  return response;
}

export function tellWatchers(sockets: Sockets, callId: string, news: CallNews): void {
  for (const socket of sockets.getWebSockets(liveTag(callId))) tellNews(socket, news);
}

const QUESTIONS = "questions";

/** Subscribers that want to know when the open questions change. They are told that, and no more. Home may sleep. */
export function acceptQuestionWatcher(ctx: DurableObjectState): Response {
  return acceptSocket(ctx, [QUESTIONS]).response;
}

export function tellQuestionsChanged(sockets: Sockets): void {
  for (const socket of sockets.getWebSockets(QUESTIONS)) {
    try {
      socket.send("changed");
    } catch {
      closeQuietly(socket, "bye");
    }
  }
}

function tellNews(socket: WebSocket, news: CallNews): void {
  try {
    socket.send(JSON.stringify(news));
  } catch {
    // It closed a moment ago; who still wants the outcome attaches again.
    closeQuietly(socket, "bye");
  }
}

/** Where what a call brings is kept, `home/channel/id`: its conversation, else a place of its own. */
export function placeOf(
  call: { id: string; conversation: string | null; caller: { channel: string } },
  home: string,
): string {
  return call.conversation ?? `${home}/${call.caller.channel === "mcp" ? "mcp" : "command"}/${call.id}`;
}

function liveTag(callId: string): string {
  return `live:${callId}`;
}
