/**
 * Tells a turn as its rows say it: whole, to who looks; and what the last write brought, to who waits. A client
 * that attaches later reads the same events.
 */

import type { PastTurn, TurnResult } from "../api/answers.ts";
import type { FollowedEvent, TurnEvent } from "../api/turn-events.ts";
import type { HistoryPage, HistoryPlace } from "../api/turns.ts";
import type { ReportedTurn } from "../api/usage.ts";
import { logInfo } from "../log.ts";
import type { Transcript } from "./store/transcript.ts";
import type { StoredEntry, Turn } from "./store/transcript-rows.ts";
import { eventsAfter, resultOf, toldTurn } from "./turn-view.ts";
import type { Waiters } from "./waiters.ts";

/** Of one answer: results may have 50 KB each, and an answer between two objects 32 MiB. */
const PAGE_MAX_CHARS = 4_000_000;
/** Turns whose entries are read from rows in one go. */
const READ_AT_ONCE = 10;

export class TurnTeller {
  readonly #transcript: Transcript;
  readonly #waiters: Waiters;
  /** The model's words so far, by turn, for clients that attach in the middle. They are not stored: after a stop nobody needs them. */
  readonly #saying = new Map<string, string>();

  constructor(transcript: Transcript, waiters: Waiters) {
    this.#transcript = transcript;
    this.#waiters = waiters;
  }

  result(turn: Turn): TurnResult {
    return resultOf(turn, this.#transcript.entriesOf(turn.n), this.#transcript.questions.of(turn.n));
  }

  /** The newest turns before a place, the oldest of them first, with what was said in them. */
  history({ before, limit }: HistoryPlace): HistoryPage {
    const left = this.#transcript.turns().filter(({ n }) => n < before);
    const turns: PastTurn[] = [];
    let chars = 0;
    let next: number | null = null;
    while (left.length > 0 && turns.length < limit && chars < PAGE_MAX_CHARS) {
      const some = left.splice(-Math.min(READ_AT_ONCE, limit - turns.length));
      next = some[0]?.n ?? null;
      const past = this.#past(some);
      turns.unshift(...past);
      chars += JSON.stringify(past).length;
    }
    return { turns, before: left.length > 0 ? next : null };
  }

  #past(turns: readonly Turn[]): PastTurn[] {
    const entries = this.#transcript.entriesBetween(turns[0]?.n ?? 0, turns.at(-1)?.n ?? 0);
    return turns.map((turn) => {
      const own = entries.filter((entry) => entry.turn === turn.n);
      return {
        ...askedIn(own),
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

  /** The same, with what was said so far of the step that goes on. */
  missedSince(turn: Turn, after: number): TurnEvent[] {
    const text = this.#saying.get(turn.id);
    const said: TurnEvent[] = text === undefined ? [] : [{ event: "delta", data: { text, at: 0 } }];
    return [...this.eventsAfter(turn, after), ...said];
  }

  /** Every turn that runs, from its beginning: for who follows the conversation. */
  running(): FollowedEvent[] {
    return this.#transcript
      .turns()
      .filter(({ status }) => status === "running")
      .flatMap((turn) => [
        this.#begun(turn),
        ...this.missedSince(turn, 0).flatMap((event) =>
          event.event === "turn" ? [] : [{ ...event, turn: turn.id }],
        ),
      ]);
  }

  /** A turn began, here or on another device. */
  began(turn: Turn): void {
    this.#waiters.tellFollowers(this.#begun(turn));
  }

  #begun(turn: Turn): FollowedEvent {
    const asked = askedIn(this.#transcript.entriesOf(turn.n));
    const data = { turn: turn.id, status: "running", ...asked, created_at: turn.createdAt } as const;
    return { turn: turn.id, event: "turn", data };
  }

  /** @param at how much of this step was said before */
  said(turn: Turn, text: string, at: number): void {
    this.#saying.set(turn.id, (this.#saying.get(turn.id) ?? "").slice(0, at) + text);
    this.#waiters.tell(turn.id, { event: "delta", data: { text, at } });
  }

  /** The step is tried again. What was said of a turn that was stopped stays. */
  unsaid(turn: Turn): void {
    if (!this.#saying.delete(turn.id)) return;
    this.#waiters.tell(turn.id, { event: "reset", data: {} });
  }

  /** The step's whole text is a row now. */
  replied(turn: Turn, seq: number): void {
    this.#saying.delete(turn.id);
    this.since(turn, seq - 1);
  }

  /** A turn that has ended: one line of the log, and what its home counts of it. */
  counted(turn: Turn, conversation: { name: string; isOneShot: boolean }): ReportedTurn | undefined {
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
    this.#saying.delete(turn.id);
    const ended = this.#transcript.turn(turn.id);
    if (ended && this.#waiters.any(turn.id)) {
      for (const event of this.eventsAfter(ended, (ended.finishedSeq ?? 1) - 1))
        this.#waiters.tell(turn.id, event);
    }
    this.#waiters.end(turn.id);
  }
}

/** The person's words in a turn; one that a device began has none. */
function askedIn(entries: readonly StoredEntry[]): Pick<PastTurn, "text" | "images"> {
  const entry = entries.find(({ role }) => role === "user");
  if (entry?.role !== "user") return { text: "" };
  return { text: entry.text, ...(entry.images && { images: entry.images }) };
}
