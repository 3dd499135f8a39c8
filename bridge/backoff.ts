/** When to try again after a connection was lost or refused. */
import { systemClock } from "./clock.ts";

/** Full jitter: after a power cut all bridges of a street come back, and must not do so in step. */
export type Backoff = { baseMs: number; capMs: number };

/** Towards the gateway: a deploy drops every socket at once. */
export const GATEWAY_BACKOFF: Backoff = { baseMs: 500, capMs: 30_000 };
/** Towards the broker, which is near and ours: quick enough to hide its restart (BROKER_GRACE_MS). */
export const BROKER_BACKOFF: Backoff = { baseMs: 250, capMs: 10_000 };
/**
 * A connection that worked this long was a good one: the next try starts again at the base. Short, since two
 * restarts of the peer within a minute must not cost a home half a minute; long enough that a peer which
 * takes us in and falls over at once is left more and more time.
 */
export const STABLE_AFTER_MS = 1_000;
/** The wait after a refusal that only a person can mend (token, version), or after a newer bridge took over an older gateway. */
export const STAY_AWAY_MS = 300_000;
/** A bridge that was replaced asks this often whether its place is free: with KEEPALIVE_LOST_MS within half a minute. */
export const STANDBY_EVERY_MS = 5_000;

/** Counts the tries of one side. */
export class Retries {
  readonly #backoff: Backoff;
  readonly #random: () => number;
  readonly #now: () => number;
  #attempt = 0;
  /** Monotonic ms: when the last good connection was lost. */
  #since: number | undefined;

  constructor(backoff: Backoff, random: () => number = Math.random, now: () => number = systemClock.now) {
    this.#backoff = backoff;
    this.#random = random;
    this.#now = now;
  }

  /**
   * A connection was lost, or a try failed. Beyond the base no wait is longer than the trouble has lasted: the
   * dice may throw five short ones in a row, and the sixth would otherwise make half a minute of two seconds.
   * @param workedMs how long the connection worked; 0 when it never did
   * @returns ms to wait before the next try
   */
  lost(workedMs: number): number {
    const now = this.#now();
    if (workedMs >= STABLE_AFTER_MS) {
      this.#attempt = 0;
      this.#since = now;
    }
    this.#since ??= now;
    const { baseMs, capMs } = this.#backoff;
    const capSoFar = Math.min(capMs, Math.max(baseMs, now - this.#since));
    const delay = retryDelay({ baseMs, capMs: capSoFar }, this.#attempt, this.#random());
    this.#attempt += 1;
    return delay;
  }
}

/** ms to wait before try `attempt` (0, 1, …); `random` in [0, 1). Never 0, so that no failure spins. */
export function retryDelay(backoff: Backoff, attempt: number, random: number): number {
  const ceiling = Math.min(backoff.capMs, backoff.baseMs * 2 ** Math.min(attempt, 30));
  return Math.max(50, Math.round(ceiling * random));
}
