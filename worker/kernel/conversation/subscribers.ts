/**
 * Clients that follow a turn or the whole conversation, each over a WebSocket from the Worker that the object accepted with
 * the hibernation API: the object sleeps while they wait, and nothing is billed. They are told what the rows say; a client
 * that attaches later reads the same events. Deltas and progress stand in no row.
 */
import type { FollowedEvent, TurnEvent } from "../api/turn-events.ts";
import { acceptSocket, closeQuietly } from "../sockets.ts";
import { HeldStarts } from "./held-starts.ts";
import type { Turn } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import { eventsOf, userMessage } from "./turn-view.ts";

/** The tag of clients that follow every turn, also those to come. */
const FOLLOWS = "follows";

export class Subscribers {
  readonly #ctx: DurableObjectState;
  readonly #transcript: Transcript;
  readonly held = new HeldStarts();
  /** The model's words so far in the step that goes on, by turn: for clients that attach in the middle. */
  readonly #deltas = new Map<string, string>();

  constructor(ctx: DurableObjectState, transcript: Transcript) {
    this.#ctx = ctx;
    this.#transcript = transcript;
  }

  /**
   * Accepts a client of one turn, and sends it the events after a seq.
   * @param live it wants every event, not only the end
   * @returns undefined: the turn has ended, and there is nothing after that seq
   */
  attach(turn: Turn, after: number, live: boolean): Response | undefined {
    const missed = this.#missed(turn, after);
    const hasEnded = turn.status !== "running";
    if (hasEnded && missed.length === 0) return undefined;
    const { socket, response } = acceptSocket(this.#ctx, live ? [turn.id, liveTag(turn.id)] : [turn.id]);
    const begin: TurnEvent = { event: "turn", data: { turn: turn.id, status: "running" } };
    const events = live ? [begin, ...missed] : missed.filter(({ event }) => event === "done");
    for (const event of events) socket.send(JSON.stringify(event));
    if (hasEnded) socket.close(1000, "done");
    return response;
  }

  /** Accepts a client of all turns, and sends it those that run from their beginning. */
  follow(running: readonly Turn[]): Response {
    const { socket, response } = acceptSocket(this.#ctx, [FOLLOWS]);
    for (const turn of running) {
      const events = this.#missed(turn, 0).flatMap((event): FollowedEvent[] =>
        event.event === "turn" ? [] : [{ ...event, turn: turn.id }],
      );
      for (const event of [this.#begun(turn), ...events]) socket.send(JSON.stringify(event));
    }
    return response;
  }

  /** True if a client waits for this turn. */
  has(turnId: string): boolean {
    return this.held.has(turnId) || this.#ctx.getWebSockets(turnId).length > 0 || this.#hasFollowers();
  }

  /** True if a client wants to see the turn as it goes. */
  isWatched(turnId: string): boolean {
    return this.#ctx.getWebSockets(liveTag(turnId)).length > 0 || this.#hasFollowers();
  }

  #hasFollowers(): boolean {
    return this.#ctx.getWebSockets(FOLLOWS).length > 0;
  }

  began(turn: Turn): void {
    this.#sendToFollowers(this.#begun(turn));
  }

  #begun(turn: Turn): FollowedEvent {
    const data = {
      turn: turn.id,
      status: "running",
      ...userMessage(this.#transcript.entriesOf(turn.n)),
      created_at: turn.createdAt,
    } as const;
    return { turn: turn.id, event: "turn", data };
  }

  /** @param at how many characters of this step came before the text */
  delta(turn: Turn, text: string, at: number): void {
    this.#deltas.set(turn.id, (this.#deltas.get(turn.id) ?? "").slice(0, at) + text);
    this.#send(turn.id, { event: "delta", data: { text, at } });
  }

  /** The step is retried: its partial text is void. The text of a turn that was stopped stays. */
  reset(turn: Turn): void {
    if (this.#deltas.delete(turn.id)) this.#send(turn.id, { event: "reset", data: {} });
  }

  /** The model's reply is stored. @param seq of its message */
  replied(turn: Turn, seq: number): void {
    this.#deltas.delete(turn.id);
    this.#sendSince(turn, seq - 1);
  }

  /** The last write was to a turn. */
  changed(turn: Turn): void {
    this.#sendSince(turn, this.#transcript.lastSeq() - 1);
  }

  /** The model is asked again at `until` (epoch ms). @param text the reason, for a person */
  waits(turn: Turn, until: number, text: string): void {
    this.#send(turn.id, { event: "waiting", data: { until, text } });
  }

  /** Something that happens in a call, and stands in no row. */
  callEvent(event: TurnEvent & { event: "accepted" | "progress" }): void {
    const turn = this.#transcript.turnAt(this.#transcript.heldTurnOf(event.data.call) ?? -1);
    if (turn) this.#send(turn.id, event);
  }

  /** The turn has ended: nothing follows. */
  ended(turn: Turn): void {
    this.#deltas.delete(turn.id);
    const ended = this.#transcript.turn(turn.id);
    if (ended && this.has(turn.id))
      for (const event of eventsOf(this.#transcript, ended, (ended.finishedSeq ?? 1) - 1))
        this.#send(turn.id, event);
    for (const socket of this.#ctx.getWebSockets(turn.id)) closeQuietly(socket, "done");
    this.held.release("ended", turn.id);
  }

  /** Something was added to a turn. Who follows the conversation gets the result of one that has ended again. */
  changedAfterEnd({ id, finishedSeq }: Turn): void {
    const turn = this.#transcript.turn(id);
    if (!turn || finishedSeq === null || !this.#hasFollowers()) return;
    for (const event of eventsOf(this.#transcript, turn, finishedSeq - 1))
      if (event.event === "done") this.#sendToFollowers({ ...event, turn: id });
  }

  /** Writes to every client of a turn: only a write shows whether a client has left. One that is held attaches first. */
  probe(turnId: string): void {
    this.held.release("later", turnId);
    sendAll(this.#ctx.getWebSockets(turnId), { event: "probe", data: {} } satisfies TurnEvent);
  }

  closeAll(): void {
    this.held.release("left");
    for (const socket of this.#ctx.getWebSockets()) closeQuietly(socket, "forgotten");
  }

  #missed(turn: Turn, after: number): TurnEvent[] {
    const events = eventsOf(this.#transcript, turn, after);
    const text = this.#deltas.get(turn.id);
    return text === undefined ? events : [...events, { event: "delta", data: { text, at: 0 } }];
  }

  #sendSince(turn: Turn, after: number): void {
    if (!this.isWatched(turn.id)) return;
    for (const event of eventsOf(this.#transcript, turn, after)) this.#send(turn.id, event);
  }

  #send(turnId: string, event: TurnEvent): void {
    sendAll(this.#ctx.getWebSockets(event.event === "done" ? turnId : liveTag(turnId)), event);
    if (event.event !== "turn") this.#sendToFollowers({ ...event, turn: turnId });
  }

  #sendToFollowers(event: FollowedEvent): void {
    sendAll(this.#ctx.getWebSockets(FOLLOWS), event);
  }
}

function sendAll(sockets: readonly WebSocket[], message: object): void {
  if (sockets.length === 0) return;
  const text = JSON.stringify(message);
  for (const socket of sockets) {
    try {
      socket.send(text);
    } catch {
      // It closed a moment ago; its client attaches again and reads the same from the rows.
    }
  }
}

function liveTag(turnId: string): string {
  return `live:${turnId}`;
}
