/**
 * Finds the turn that has lost its client. A client whose connection broke asks the same once more: it gets the turn that it
 * lost, since a second one would have the devices act twice. Anybody else who asks the same asks anew.
 */

import { slot } from "./slot.ts";
import type { Turn } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import type { Subscribers } from "./subscribers.ts";

/** OpenAI's clients give up a try after ten minutes. */
const RETRY_WITHIN_MS = 15 * 60_000;
/** Between the start of a turn and its waiting room: two requests of the same Worker. */
const ATTACH_WITHIN_MS = 15_000;
/** A client that seems to be there is written to; when it is gone, that is noticed within this time. */
const PROBE_MS = 3_000;

/** Those of a conversation. */
export const lostClientsOf = slot(({ transcript, subscribers }) => new LostClients(transcript, subscribers));

class LostClients {
  readonly #transcript: Transcript;
  readonly #subscribers: Subscribers;
  /** Turns whose client is about to attach, and until when (epoch ms). In memory: with the object its subscribers go. */
  readonly #expected = new Map<string, number>();
  /** Turns that a second try would like to have. */
  readonly #wanted = new Map<string, (lost: boolean) => void>();

  constructor(transcript: Transcript, subscribers: Subscribers) {
    this.#transcript = transcript;
    this.#subscribers = subscribers;
  }

  expect(turn: string): void {
    this.#expected.set(turn, Date.now() + ATTACH_WITHIN_MS);
  }

  attached(turn: string): void {
    this.#expected.delete(turn);
    if (this.#wanted.has(turn)) this.#subscribers.probe(turn);
  }

  /** True if a client waited for the turn and has no answer of it. */
  isWithout({ id, status, meanwhile, origin: { client } }: Turn): boolean {
    if (meanwhile || client?.lost) return true;
    return client !== undefined && status === "running" && !this.#isThere({ id });
  }

  /** The client has the answer after all. */
  received(turn: Turn): void {
    if (turn.origin.client) this.#transcript.clientLost(turn.n, false);
  }

  /** The client hung up. @returns whether its second try takes the turn over */
  left(turn: Turn): boolean {
    const take = this.#wanted.get(turn.id);
    take?.(true);
    if (!take && turn.origin.client) this.#transcript.clientLost(turn.n, true);
    return take !== undefined;
  }

  /** A turn has ended: if nobody was there, its answer waits for the second try. */
  ended(turn: Turn): void {
    // One that was told something in place of the answer did not lose it.
    const wasNotified = this.#transcript.turn(turn.id)?.meanwhile !== undefined;
    if (turn.origin.client && !wasNotified && !this.#isThere(turn)) this.#transcript.clientLost(turn.n, true);
    this.#expected.delete(turn.id);
  }

  /**
   * The turn that this very request began, when its client was lost and nobody took its answer. It is the caller's then.
   * @param request as `origin.client` has it
   */
  async adopt(request: string, principal: string): Promise<Turn | undefined> {
    const since = Date.now() - RETRY_WITHIN_MS;
    const same = this.#transcript
      .turns()
      .filter(
        ({ origin, createdAt }) =>
          origin.client?.request === request && origin.principal === principal && createdAt >= since,
      );
    const lost =
      same.findLast((turn) => this.#isLost(turn)) ??
      (await this.#probed(
        same.findLast(
          ({ id, status, error }) => status === "running" && error === null && !this.#wanted.has(id),
        ),
      ));
    if (!lost) return undefined;
    this.expect(lost.id);
    if (lost.origin.client?.lost) this.#transcript.clientLost(lost.n, false);
    return lost;
  }

  #isLost(turn: Turn): boolean {
    // A turn that is being stopped counts too: its end says what was done.
    if (turn.status === "running")
      return turn.error === null ? !this.#isThere(turn) : turn.origin.client?.lost === true;
    // A turn that was stopped before anything was done is best asked anew.
    const acted = this.#transcript
      .entriesOf(turn.n)
      .some((entry) => entry.role === "assistant" && entry.calls.length > 0);
    return turn.origin.client?.lost === true && (turn.status !== "cancelled" || acted);
  }

  #isThere({ id }: Pick<Turn, "id">): boolean {
    return this.#subscribers.has(id) || (this.#expected.get(id) ?? 0) > Date.now();
  }

  /** Only a write shows that a client has left. */
  async #probed(turn: Turn | undefined): Promise<Turn | undefined> {
    if (!turn) return undefined;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // One that was held attaches first; one that does not is gone with its Worker.
    const timer = setInterval(() => {
      const attaches = this.#isThere(turn) && !this.#subscribers.has(turn.id);
      const now = this.#transcript.turn(turn.id);
      if (!attaches) resolve(now !== undefined && this.#isLost(now));
    }, PROBE_MS);
    this.#wanted.set(turn.id, resolve);
    this.#subscribers.probe(turn.id);
    const lost = await promise;
    clearInterval(timer);
    this.#wanted.delete(turn.id);
    return lost ? turn : undefined;
  }
}
