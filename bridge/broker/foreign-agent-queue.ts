/**
 * Sends calls to foreign agents (EvoClaw's), which know nothing of our additions:
 *
 *   - A foreign agent works on one call at a time and polls nothing meanwhile, so it is silent while busy.
 *   - It has no ledger, so a call that was published once is never published again.
 *   - Some of its answers carry no request_id (`ping`). They belong to its one open call.
 *   - It may be alive and deaf: heartbeats go on, but after a reconnect it is subscribed to nothing. A call that ran
 *     out unanswered shows that. A harmless `ping` now and then finds out when the agent hears again.
 */
import { randomUUID } from "node:crypto";
import { FOREIGN_TIMEOUT_MAX_MS, topicOf } from "@edgecall/core/protocol/names.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Published, Publisher } from "./broker.ts";
import type { Roster } from "./presence.ts";
import type { ToHome } from "./to-home.ts";

export type ForeignCall = {
  id: string;
  agent: string;
  payload: string;
  command: string;
  /** Monotonic ms by which its answer is wanted. */
  deadline: number;
};

/** Deadlines bound the calls that wait for one agent; this bounds the memory. */
export const QUEUE_MAX = 64;
/** The weight of the newest answer in the mean time of an agent's answers. */
const NEWEST_WEIGHT = 0.3;
/** The number of agents whose mean time is stored. */
const MEANS_MAX = 1_000;
/** A caller gets this while the agent's pace is unknown. */
const RETRY_AFTER_MS = 5_000;
/** An answer that comes this long after its call is still passed on. */
export const LATE_WITHIN_MS = 3_600_000;
const PUBLISHED_MAX = 10_000;
export const FIRST_PROBE_AFTER_MS = 10_000;
export const PROBE_EVERY_MS = 60_000;
const DEAF_TO_CALLS =
  "it sends heartbeats but did not answer a call in its time; it is asked every minute, and if that does not help, restart it";
const NOBODY_LISTENS = "nobody listens to its commands: it was stopped, or it is connecting anew";
const DEAF_TO_BROKER =
  "it sends heartbeats but listens to no commands, as EvoClaw's agent does after it lost the broker: restart it";

/** The ids of our own calls. On a shared broker, any other id comes from somebody else's orchestrator. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Open = ForeignCall & {
  publishedAt: number;
  /** The agent counts as busy until then: twice the call's budget. */
  busyUntil: number;
  /** A heartbeat came since the call, so the agent is not busy with it: heartbeats would wait. */
  beating: boolean;
};
type Lane = { open: Open | undefined; queue: ForeignCall[]; nextProbe: number | undefined };

/** The call that a report answers; undefined: none of ours, or one that was answered before. */
export type Matched = { id: string } | undefined;

export type ForeignQueueParts = {
  /** The topics' prefix. */
  prefix: string;
  clock: Clock;
  roster: Roster;
  broker: Publisher;
  outbox: Pick<ToHome, "accepted" | "refuse">;
};

export class ForeignAgentQueue {
  readonly #parts: ForeignQueueParts;
  readonly #lanes = new Map<string, Lane>();
  /** The weighted mean time of each agent's latest answers, ms. */
  readonly #means = new Map<string, number>();
  /** Every call that was published, by id, oldest first, so that it is never published again. */
  readonly #published = new Map<string, { agent: string; at: number; answered: boolean }>();

  constructor(parts: ForeignQueueParts) {
    this.#parts = parts;
  }

  /** The number of calls that wait behind an open one. */
  get waiting(): number {
    return [...this.#lanes.values()].reduce((sum, { queue }) => sum + queue.length, 0);
  }

  /** True if the call was published or waits for its turn. */
  has(id: string): boolean {
    return this.#published.has(id) || this.#queued(id);
  }

  /** Publishes the call, lets it wait behind the open one, or refuses it. Home is told which. */
  submit(call: ForeignCall): void {
    const latest = this.#parts.clock.now() + FOREIGN_TIMEOUT_MAX_MS;
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
    this.#parts.outbox.accepted(call.id);
  }

  /** Takes a result or error report. @returns the call that it answers */
  answered(agent: string, requestId: string | undefined, payload: Record<string, unknown>): Matched {
    this.#parts.roster.answered(agent);
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

  /** Asks an agent for a sign of life: one that started long before this bridge is silent for half a minute. */
  ping(agent: string): void {
    this.#probe(agent, PROBE_EVERY_MS / 2);
  }

  heartbeat(agent: string): void {
    const lane = this.#lanes.get(agent);
    if (lane?.open === undefined) return;
    lane.open.beating = true;
    if (this.#parts.clock.now() >= lane.open.deadline) this.#deaf(agent, lane, DEAF_TO_CALLS);
  }

  /** The agent has just started, so it is no longer busy with an earlier call. */
  advertisedAfresh(agent: string): void {
    const lane = this.#lanes.get(agent);
    if (lane === undefined) return;
    lane.nextProbe = undefined;
    lane.open = undefined;
    this.#parts.roster.busy(agent, undefined);
    this.#next(lane);
  }

  /** Ends calls that have run out, and probes deaf agents. Call it about every second. */
  tick(): void {
    const now = this.#parts.clock.now();
    for (const [agent, lane] of this.#lanes) {
      const { open } = lane;
      if (open !== undefined && now >= open.deadline && (open.beating || now >= open.busyUntil)) {
        this.#deaf(agent, lane, DEAF_TO_CALLS);
      }
      this.#refuseLate(lane);
      if (lane.nextProbe !== undefined && now >= lane.nextProbe && this.#parts.roster.isDeafButAlive(agent)) {
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
    const { clock, outbox, roster } = this.#parts;
    const budget = call.deadline - clock.now();
    if (budget <= 0) {
      outbox.refuse(call, "expired", "its time ran out before the bridge could publish it");
      return;
    }
    const judged = roster.judge(call.agent);
    if (judged?.online !== true) {
      outbox.refuse(call, "agent_offline", `${call.agent} is not online: ${judged?.reason ?? "not known"}`);
      return;
    }
    const publishedAt = clock.now();
    const open = { ...call, publishedAt, busyUntil: publishedAt + 2 * budget, beating: false };
    lane.open = open;
    this.#remember(call, publishedAt);
    roster.busy(call.agent, open.busyUntil);
    void this.#send(call.agent, call.payload, budget).then((published) => this.#after(lane, open, published));
  }

  #send(agent: string, payload: string, expiresInMs: number): Promise<Published> {
    const { broker, prefix } = this.#parts;
    return broker.publish(topicOf(prefix, agent, "commands"), payload, expiresInMs);
  }

  #after(lane: Lane, open: Open, published: Published): void {
    if (published.kind === "unsure" || (published.kind === "delivered" && published.listening)) {
      this.#parts.outbox.accepted(open.id);
      return;
    }
    // It reached nobody: it counts as never published.
    this.#published.delete(open.id);
    if (published.kind === "delivered") {
      this.#parts.outbox.refuse(open, "not_listening", `${open.agent}: ${NOBODY_LISTENS}`);
      if (lane.open === open) this.#deaf(open.agent, lane, NOBODY_LISTENS);
      return;
    }
    const message = published.kind === "offline" ? "the broker is not connected" : published.message;
    this.#parts.outbox.refuse(open, "broker_offline", message);
    if (lane.open === open) this.#free(lane, open.agent);
  }

  #close(lane: Lane, open: Open): Matched {
    const published = this.#published.get(open.id);
    if (published !== undefined) published.answered = true;
    this.#recordTime(open.agent, this.#parts.clock.now() - open.publishedAt);
    this.#free(lane, open.agent);
    return { id: open.id };
  }

  /** Home decides what to do with a late answer, and gets it only once. */
  #matchLate(agent: string, requestId: string): Matched {
    const published = this.#published.get(requestId);
    if (published === undefined) {
      if (!UUID.test(requestId)) return undefined;
      // This bridge may have published it before it was restarted.
      this.#remember({ id: requestId, agent }, this.#parts.clock.now()).answered = true;
      return { id: requestId };
    }
    if (published.agent !== agent || published.answered) return undefined;
    published.answered = true;
    return { id: requestId };
  }

  #deaf(agent: string, lane: Lane, why: string): void {
    this.#parts.roster.deaf(agent, why, why === NOBODY_LISTENS ? DEAF_TO_BROKER : why);
    lane.nextProbe ??= this.#parts.clock.now() + FIRST_PROBE_AFTER_MS;
    this.#free(lane, agent);
  }

  #free(lane: Lane, agent: string): void {
    lane.open = undefined;
    this.#parts.roster.busy(agent, undefined);
    this.#next(lane);
  }

  /** Publishes the next call that still can be; refuses those before it. */
  #next(lane: Lane): void {
    while (lane.open === undefined) {
      this.#refuseLate(lane);
      const call = lane.queue.shift();
      if (call === undefined) return;
      this.#publish(lane, call);
    }
  }

  /** Refuses the waiting calls that can no longer be answered in their time. */
  #refuseLate(lane: Lane): void {
    const waiting = lane.queue;
    lane.queue = [];
    for (const call of waiting) {
      if (this.#isInTime(lane, call, lane.queue.length)) lane.queue.push(call);
      else this.#refuseBusy(lane, call);
    }
  }

  /** True if a call can be answered in its time behind `before` others, at the agent's recent pace. */
  #isInTime(lane: Lane, call: ForeignCall, before: number): boolean {
    const now = this.#parts.clock.now();
    if (now >= call.deadline) return false;
    const mean = this.#means.get(call.agent);
    // While the agent's pace is unknown, only the call's time decides.
    return mean === undefined || now + this.#waitMs(lane, mean, before) + mean <= call.deadline;
  }

  /** @returns ms until the open call and `before` others are answered */
  #waitMs(lane: Lane, mean: number, before: number): number {
    const { open } = lane;
    const left = open === undefined ? 0 : Math.max(0, mean - (this.#parts.clock.now() - open.publishedAt));
    return left + before * mean;
  }

  #refuseBusy(lane: Lane, call: ForeignCall): void {
    const mean = this.#means.get(call.agent);
    const retryAfterMs = mean === undefined ? RETRY_AFTER_MS : this.#waitMs(lane, mean, lane.queue.length);
    const others = lane.queue.length + (lane.open === undefined ? 0 : 1);
    const message = `${call.agent} takes one call at a time, and with ${others} before this one it cannot answer in the call's time`;
    this.#parts.outbox.refuse(call, "agent_busy", message, Math.max(1_000, Math.ceil(retryAfterMs)));
  }

  #recordTime(agent: string, ms: number): void {
    const before = this.#means.get(agent);
    if (before === undefined && this.#means.size >= MEANS_MAX) return;
    this.#means.set(agent, before === undefined ? ms : before + NEWEST_WEIGHT * (ms - before));
  }

  #probe(agent: string, expiresInMs: number): void {
    // The id is no UUID, so the answer is never taken for a call's.
    const probe = { command: "ping", payload: {}, request_id: `probe-${randomUUID()}` };
    void this.#send(agent, JSON.stringify(probe), expiresInMs);
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
