/**
 * Quirk rules for foreign agents: EvoClaw's, which know nothing of our additions.
 *
 *   - One call at a time: it works serially and polls nothing meanwhile, so it is silent while busy.
 *   - No ledger: whatever was published once is never published again.
 *   - Some answers carry no request_id (`ping`); they belong to its one open call.
 *   - It may be alive and deaf: heartbeats go on, but after a reconnect it is subscribed to nothing. A call
 *     that ran out unanswered shows that; a harmless `ping` now and then finds out when it hears again.
 */
import { randomUUID } from "node:crypto";
import type { Refusal } from "@edgecall/core/protocol/frames.ts";
import { FOREIGN_TIMEOUT_MAX_MS } from "@edgecall/core/protocol/names.ts";
import type { Published } from "./broker.ts";
import type { Roster } from "./presence.ts";

export type ForeignCall = {
  id: string;
  agent: string;
  payload: string;
  command: string;
  /** Monotonic ms by which its answer is wanted. */
  deadline: number;
};

export type ForeignEffects = {
  now(): number;
  publish(agent: string, payload: string, expiresInMs: number): Promise<Published>;
  /** The broker has the call, or it waits for its turn; in the latter case a refusal may still follow. */
  taken(id: string): void;
  refuse(id: string, code: Refusal, message: string, retryAfterMs?: number): void;
};

/** Deadlines bound the calls that wait for one agent; this bounds the memory. */
export const QUEUE_MAX = 64;
/** Of the mean time of an agent's answers: what the newest one weighs. */
const NEWEST_WEIGHS = 0.3;
/** Agents of which that is kept. */
const MEANS_MAX = 1_000;
/** A caller is told this while nothing is known of the agent's pace. */
const RETRY_AFTER_MS = 5_000;
/** Its answer may come this long after the call, and is still told. */
export const LATE_WITHIN_MS = 3_600_000;
const PUBLISHED_MAX = 10_000;
export const FIRST_PROBE_AFTER_MS = 10_000;
export const PROBE_EVERY_MS = 60_000;
const DEAF_TO_CALLS =
  "it sends heartbeats but did not answer a call in its time; it is asked every minute, and if that does not help, restart it";
const NOBODY_LISTENS = "nobody listens to its commands: it was stopped, or it is connecting anew";
const DEAF_TO_BROKER =
  "it sends heartbeats but listens to no commands, as EvoClaw's agent does after it lost the broker: restart it";

/** Ids of our own calls; anything else on a shared broker was asked by somebody else's orchestrator. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Open = ForeignCall & {
  publishedAt: number;
  /** It is held to be busy until then: twice the call's budget. */
  busyUntil: number;
  /** A heartbeat came since: it is not busy with this call, or heartbeats would wait. */
  beating: boolean;
};
type Lane = { open: Open | undefined; queue: ForeignCall[]; nextProbe: number | undefined };

/** The call that a report answers; undefined when it answers none of ours, or one that was answered. */
export type Matched = { id: string } | undefined;

export class ForeignAgentQueue {
  readonly #roster: Roster;
  readonly #effects: ForeignEffects;
  readonly #lanes = new Map<string, Lane>();
  /** The weighted mean time of each agent's latest answers, ms. */
  readonly #means = new Map<string, number>();
  /** By call id, oldest first: what was ever published, so that it never is again. */
  readonly #published = new Map<string, { agent: string; at: number; answered: boolean }>();

  constructor(roster: Roster, effects: ForeignEffects) {
    this.#roster = roster;
    this.#effects = effects;
  }

  /** Calls that wait behind an open one. */
  get waiting(): number {
    return [...this.#lanes.values()].reduce((sum, { queue }) => sum + queue.length, 0);
  }

  /** Published, or waiting for its turn. */
  has(id: string): boolean {
    return this.#published.has(id) || this.#queued(id);
  }

  /** Publishes the call, or lets it wait behind the open one; says which through `effects`. */
  submit(call: ForeignCall): void {
    const latest = this.#effects.now() + FOREIGN_TIMEOUT_MAX_MS;
    const capped = { ...call, deadline: Math.min(call.deadline, latest) };
    const lane = this.#lane(call.agent);
    if (lane.open === undefined) {
      this.#publish(lane, capped);
      return;
    }
    if (lane.queue.length >= QUEUE_MAX || !this.#isInTime(lane, capped, lane.queue.length)) {
      this.#refuseBusy(lane, capped);
      return;
    }
    lane.queue.push(capped);
    // Home holds a call that is not taken within 5 s to be undelivered.
    this.#effects.taken(call.id);
  }

  /** A result or error report. Which of our calls does it answer? */
  answered(agent: string, requestId: string | undefined, payload: Record<string, unknown>): Matched {
    this.#roster.answered(agent);
    const lane = this.#lane(agent);
    lane.nextProbe = undefined;
    const open = lane.open;
    if (requestId === undefined) {
      // A pong while a call other than ping is open answers a probe.
      if (open === undefined || (payload.pong === true && open.command !== "ping")) return undefined;
      return this.#close(lane, open);
    }
    if (open?.id === requestId) return this.#close(lane, open);
    return this.#matchLate(agent, requestId);
  }

  /** Asks an agent whether it hears: one that was started long before this bridge says nothing for half a minute. */
  ping(agent: string): void {
    this.#probe(agent, PROBE_EVERY_MS / 2);
  }

  heartbeat(agent: string): void {
    const lane = this.#lanes.get(agent);
    if (lane?.open === undefined) return;
    lane.open.beating = true;
    if (this.#effects.now() >= lane.open.deadline) this.#deaf(agent, lane, DEAF_TO_CALLS);
  }

  /** A fresh advert: whatever it was busy with before, it has just started. */
  advertisedAfresh(agent: string): void {
    const lane = this.#lanes.get(agent);
    if (lane === undefined) return;
    lane.nextProbe = undefined;
    lane.open = undefined;
    this.#roster.busy(agent, undefined);
    this.#next(lane);
  }

  /** Judges what has run out, and probes the deaf. To be called every second or so. */
  tick(): void {
    const now = this.#effects.now();
    for (const [agent, lane] of this.#lanes) {
      const { open } = lane;
      if (open !== undefined && now >= open.deadline && (open.beating || now >= open.busyUntil)) {
        this.#deaf(agent, lane, DEAF_TO_CALLS);
      }
      this.#sift(lane);
      if (lane.nextProbe !== undefined && now >= lane.nextProbe && this.#roster.isDeafButAlive(agent)) {
        lane.nextProbe = now + PROBE_EVERY_MS;
        this.#probe(agent, PROBE_EVERY_MS / 2);
      }
      if (lane.open === undefined && lane.queue.length === 0 && lane.nextProbe === undefined) {
        this.#lanes.delete(agent);
      }
    }
    for (const [id, published] of this.#published) {
      if (now - published.at < LATE_WITHIN_MS) break;
      this.#published.delete(id);
    }
  }

  #publish(lane: Lane, call: ForeignCall): void {
    const { now, refuse, publish } = this.#effects;
    const budget = call.deadline - now();
    if (budget <= 0) {
      refuse(call.id, "expired", "its time ran out before the bridge could publish it");
      return;
    }
    const judged = this.#roster.judge(call.agent);
    if (judged?.online !== true) {
      refuse(call.id, "agent_offline", `${call.agent} is not online: ${judged?.reason ?? "not known"}`);
      return;
    }
    const publishedAt = now();
    const open = { ...call, publishedAt, busyUntil: publishedAt + 2 * budget, beating: false };
    lane.open = open;
    this.#remember(call, publishedAt);
    this.#roster.busy(call.agent, open.busyUntil);
    void publish(call.agent, call.payload, budget).then((published) => this.#after(lane, open, published));
  }

  #after(lane: Lane, open: Open, published: Published): void {
    if (published.kind === "unsure" || (published.kind === "delivered" && published.listening)) {
      this.#effects.taken(open.id);
      return;
    }
    // It reached nobody: it counts as never published.
    this.#published.delete(open.id);
    if (published.kind === "delivered") {
      this.#effects.refuse(open.id, "not_listening", `${open.agent}: ${NOBODY_LISTENS}`);
      if (lane.open === open) this.#deaf(open.agent, lane, NOBODY_LISTENS);
      return;
    }
    const message = published.kind === "offline" ? "the broker is not connected" : published.message;
    this.#effects.refuse(open.id, "broker_offline", message);
    if (lane.open === open) this.#free(lane, open.agent);
  }

  #close(lane: Lane, open: Open): Matched {
    const published = this.#published.get(open.id);
    if (published !== undefined) published.answered = true;
    this.#took(open.agent, this.#effects.now() - open.publishedAt);
    this.#free(lane, open.agent);
    return { id: open.id };
  }

  /** Home decides what a late answer is worth; but it hears it only once. */
  #matchLate(agent: string, requestId: string): Matched {
    const published = this.#published.get(requestId);
    if (published === undefined) {
      if (!UUID.test(requestId)) return undefined;
      // Published, perhaps, by this bridge before it was restarted.
      this.#remember({ id: requestId, agent }, this.#effects.now()).answered = true;
      return { id: requestId };
    }
    if (published.agent !== agent || published.answered) return undefined;
    published.answered = true;
    return { id: requestId };
  }

  #deaf(agent: string, lane: Lane, why: string): void {
    this.#roster.deaf(agent, why, why === NOBODY_LISTENS ? DEAF_TO_BROKER : why);
    lane.nextProbe ??= this.#effects.now() + FIRST_PROBE_AFTER_MS;
    this.#free(lane, agent);
  }

  #free(lane: Lane, agent: string): void {
    lane.open = undefined;
    this.#roster.busy(agent, undefined);
    this.#next(lane);
  }

  /** The next that can be published; those before it are refused with their reason. */
  #next(lane: Lane): void {
    while (lane.open === undefined) {
      this.#sift(lane);
      const call = lane.queue.shift();
      if (call === undefined) return;
      this.#publish(lane, call);
    }
  }

  /** Refuses those that cannot be answered in their time any more. */
  #sift(lane: Lane): void {
    const waiting = lane.queue;
    lane.queue = [];
    for (const call of waiting) {
      if (this.#isInTime(lane, call, lane.queue.length)) lane.queue.push(call);
      else this.#refuseBusy(lane, call);
    }
  }

  /** Tells whether a call can be answered in its time behind so many others, at the agent's recent pace. */
  #isInTime(lane: Lane, call: ForeignCall, before: number): boolean {
    const now = this.#effects.now();
    if (now >= call.deadline) return false;
    const mean = this.#means.get(call.agent);
    // Nothing is known of its pace yet: then only its time decides.
    return mean === undefined || now + this.#waitMs(lane, mean, before) + mean <= call.deadline;
  }

  /** ms until the open call and so many others are answered. */
  #waitMs(lane: Lane, mean: number, before: number): number {
    const { open } = lane;
    const left = open === undefined ? 0 : Math.max(0, mean - (this.#effects.now() - open.publishedAt));
    return left + before * mean;
  }

  #refuseBusy(lane: Lane, call: ForeignCall): void {
    const mean = this.#means.get(call.agent);
    const retryAfterMs = mean === undefined ? RETRY_AFTER_MS : this.#waitMs(lane, mean, lane.queue.length);
    const others = lane.queue.length + (lane.open === undefined ? 0 : 1);
    const message = `${call.agent} takes one call at a time, and with ${others} before this one it cannot answer in the call's time`;
    this.#effects.refuse(call.id, "agent_busy", message, Math.max(1_000, Math.ceil(retryAfterMs)));
  }

  #took(agent: string, ms: number): void {
    const before = this.#means.get(agent);
    if (before === undefined && this.#means.size >= MEANS_MAX) return;
    this.#means.set(agent, before === undefined ? ms : before + NEWEST_WEIGHS * (ms - before));
  }

  #probe(agent: string, expiresInMs: number): void {
    // No UUID, so that its answer is never taken for a call's.
    const probe = { command: "ping", payload: {}, request_id: `probe-${randomUUID()}` };
    void this.#effects.publish(agent, JSON.stringify(probe), expiresInMs);
  }

  #queued(id: string): boolean {
    for (const lane of this.#lanes.values()) {
      if (lane.queue.some((call) => call.id === id)) return true;
    }
    return false;
  }

  #remember(call: { id: string; agent: string }, at: number): { answered: boolean } {
    const published = { agent: call.agent, at, answered: false };
    this.#published.set(call.id, published);
    if (this.#published.size > PUBLISHED_MAX) {
      for (const oldest of this.#published.keys()) {
        this.#published.delete(oldest);
        break;
      }
    }
    return published;
  }

  #lane(agent: string): Lane {
    const lane = this.#lanes.get(agent) ?? { open: undefined, queue: [], nextProbe: undefined };
    this.#lanes.set(agent, lane);
    return lane;
  }
}
