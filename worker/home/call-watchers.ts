/**
 * Who waits for a call that belongs to no conversation (a command of the API, a call of an MCP client): a socket
 * of Home's waiting room each. Those that want more than the outcome are told what happens on the way.
 */
import { closeQuietly } from "../waiters.ts";

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

/** Tags of a waiting socket: of the call, and of who watches it. */
export function watcherTags(callId: string, live: boolean): string[] {
  return live ? [callId, liveTag(callId)] : [callId];
}

export function tellWatchers(sockets: Sockets, callId: string, news: CallNews): void {
  for (const socket of sockets.getWebSockets(liveTag(callId))) tellNews(socket, news);
}

export function tellNews(socket: WebSocket, news: CallNews): void {
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
