/**
 * Tells a turn as its rows say it: whole, to who looks; and what the last write brought, to who waits. A client
 * that attaches later reads the same events.
 */

import type { PastTurn, TurnResult } from "../answers.ts";
import type { ToldTurn } from "../home/tallies.ts";
import { logInfo } from "../log.ts";
import type { Waiters } from "../waiters.ts";
import type { Transcript } from "./transcript.ts";
import type { Turn } from "./transcript-rows.ts";
import { eventsAfter, resultOf, type TurnEvent, toldTurn } from "./turn-view.ts";

export class TurnTeller {
  readonly #transcript: Transcript;
  readonly #waiters: Waiters;

  constructor(transcript: Transcript, waiters: Waiters) {
    this.#transcript = transcript;
    this.#waiters = waiters;
  }

  result(turn: Turn): TurnResult {
    return resultOf(turn, this.#transcript.entriesOf(turn.n), this.#transcript.questions.of(turn.n));
  }

  /** Every turn with what was said in it. */
  history(): PastTurn[] {
    const turns = this.#transcript.turns();
    const entries = this.#transcript.entries(turns.at(-1)?.n ?? 0);
    return turns.map((turn) => {
      const own = entries.filter((entry) => entry.turn === turn.n);
      const text = own.find((entry) => entry.role === "user")?.text ?? "";
      return {
        text,
        created_at: turn.createdAt,
        ...resultOf(turn, own, this.#transcript.questions.of(turn.n)),
      };
    });
  }

  eventsAfter(turn: Turn, after: number): TurnEvent[] {
    return eventsAfter(
      turn,
      this.#transcript.entriesOf(turn.n),
      this.#transcript.questions.of(turn.n),
      after,
    );
  }

  /** A turn that has ended: one line of the log, and what its home counts of it. */
  counted(turn: Turn, conversation: { name: string; isOneShot: boolean }): ToldTurn | undefined {
    const ended = this.#transcript.turn(turn.id);
    const told = ended && toldTurn(ended, this.#transcript.entriesOf(turn.n));
    if (!told) return undefined;
    const { name, isOneShot } = conversation;
    const { status, iterations, failedCalls, durationMs: ms } = told;
    logInfo("turn.ended", { turn: turn.id, conversation: name, status, iterations, failedCalls, ms });
    return { ...told, ...(!isOneShot && { conversation: name }) };
  }

  /** Sends what the last write brought. */
  newest(turn: Turn): void {
    this.since(turn, this.#transcript.lastSeq() - 1);
  }

  /** Sends what rows say since a seq: the same events that a client gets that attaches later. */
  since(turn: Turn, after: number): void {
    if (!this.#waiters.watched(turn.id)) return;
    for (const event of this.eventsAfter(turn, after)) this.#waiters.tell(turn.id, event);
  }

  /** Sends what happens in a call, and stands in no row. */
  ofCall(event: TurnEvent & { event: "accepted" | "progress" }): void {
    const call = this.#transcript.call(event.data.call);
    const turn = call && this.#transcript.turnAt(call.turn);
    if (turn) this.#waiters.tell(turn.id, event);
  }

  /** The turn has ended: nothing follows. */
  ended(turn: Turn): void {
    const ended = this.#transcript.turn(turn.id);
    if (ended && this.#waiters.any(turn.id)) {
      for (const event of this.eventsAfter(ended, (ended.finishedSeq ?? 1) - 1))
        this.#waiters.tell(turn.id, event);
    }
    this.#waiters.end(turn.id);
  }
}
