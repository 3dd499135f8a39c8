/**
 * Clients that wait for a turn, each a WebSocket from the Worker that the object accepted with the
 * hibernation API: the object sleeps while they wait, and nothing is billed.
 */
import type { FollowedEvent, TurnEvent } from "../api/turn-events.ts";
import { acceptSocket, closeQuietly } from "../sockets.ts";

/** Of those who follow every turn of the conversation, those to come too. */
const FOLLOWS = "follows";

export class Waiters {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /**
   * Takes a socket in and sends it what it missed. A turn that is done already ends it.
   * @param live it wants everything as it comes, not only the end
   * @param over nothing will follow
   */
  accept(turnId: string, missed: readonly TurnEvent[], live: boolean, over: boolean): Response {
    const { socket, response } = acceptSocket(this.#ctx, live ? [turnId, liveTag(turnId)] : [turnId]);
    const begin: TurnEvent = { event: "turn", data: { turn: turnId, status: "running" } };
    const events = live ? [begin, ...missed] : missed.filter(({ event }) => event === "done");
    for (const event of events) socket.send(JSON.stringify(event));
    if (over) socket.close(1000, "done");
    return response;
  }

  /** Takes a socket in for all turns. @param running what is known of those that run */
  follow(running: readonly FollowedEvent[]): Response {
    const { socket, response } = acceptSocket(this.#ctx, [FOLLOWS]);
    for (const event of running) socket.send(JSON.stringify(event));
    return response;
  }

  /** Whether anybody waits: for this turn, or at all. */
  any(turnId?: string): boolean {
    const { length } = this.#ctx.getWebSockets(turnId);
    return length > 0 || this.#ctx.getWebSockets(FOLLOWS).length > 0;
  }

  /** Whether somebody wants to see the turn as it goes. */
  watched(turnId: string): boolean {
    return this.#ctx.getWebSockets(liveTag(turnId)).length > 0 || this.any(FOLLOWS);
  }

  tell(turnId: string, event: TurnEvent): void {
    sendAll(this.#ctx.getWebSockets(event.event === "done" ? turnId : liveTag(turnId)), event);
    if (event.event !== "turn") this.tellFollowers({ ...event, turn: turnId });
  }

  tellFollowers(event: FollowedEvent): void {
    sendAll(this.#ctx.getWebSockets(FOLLOWS), event);
  }

  /** Has something written to every client of a turn. */
  probe(turnId: string): void {
    const text = JSON.stringify({ event: "probe", data: {} } satisfies TurnEvent);
    for (const socket of this.#ctx.getWebSockets(turnId)) {
      try {
        socket.send(text);
      } catch {
        // It closed a moment ago.
      }
    }
  }

  end(turnId: string): void {
    for (const socket of this.#ctx.getWebSockets(turnId)) closeQuietly(socket, "done");
  }

  closeAll(): void {
    for (const socket of this.#ctx.getWebSockets()) closeQuietly(socket, "forgotten");
  }

  closed(socket: WebSocket): void {
    closeQuietly(socket, "bye");
  }
}

function sendAll(sockets: readonly WebSocket[], message: object): void {
  if (sockets.length === 0) return;
  const text = JSON.stringify(message);
  for (const socket of sockets) {
    try {
      socket.send(text);
    } catch {
      // It closed a moment ago; its client re-attaches and reads the same from rows.
    }
  }
}

function liveTag(turnId: string): string {
  return `live:${turnId}`;
}
