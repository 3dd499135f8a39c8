/** Decides when to dial again after a connection was lost or refused: doubling waits with jitter. */
import { type Backoff, backoffMs } from "@edgecall/core/backoff.ts";

export type RetryPolicy = Backoff & {
  /**
   * A connection that worked this long was good, and the next wait starts again at the base. This is short, so that two
   * restarts of the peer within a minute do not cost a home half a minute. It is long enough that a peer which accepts a
   * connection and fails at once gets more and more time.
   */
  stableMs: number;
  /**
   * After a power cut or a deploy all peers come back, and must not do so at the same moment. `full`: a wait is anything up
   * to the doubled time, for the bridges of all homes at one gateway. `half`: a wait is at least half of that, for the few
   * agents of a home at its own broker.
   */
  jitter: "full" | "half";
};

/** No wait is shorter, so that no failure makes a program spin. */
const SHORTEST_MS = 50;

/** Counts the tries of one connection, and returns the wait before the next. */
export class ReconnectSchedule {
  readonly #policy: RetryPolicy;
  readonly #random: () => number;
  readonly #now: () => number;
  #attempt = 0;
  /** Monotonic ms of the moment when the last good connection was lost. */
  #since: number | undefined;

  /** @param random in [0, 1) @param now monotonic ms */
  constructor(policy: RetryPolicy, random: () => number = Math.random, now = () => performance.now()) {
    this.#policy = policy;
    this.#random = random;
    this.#now = now;
  }

  /**
   * A connection was lost, or a try failed.
   * @param workedMs time for which the connection worked; 0 when it never did
   * @returns ms to wait before the next try
   */
  lost(workedMs: number): number {
    const now = this.#now();
    if (workedMs >= this.#policy.stableMs) {
      this.#attempt = 0;
      this.#since = now;
    }
    this.#since ??= now;
    const delay = retryDelay(this.#policy, this.#attempt, this.#random(), now - this.#since);
    this.#attempt += 1;
    return delay;
  }
}

/**
 * @param attempt 0, 1, …
 * @param random in [0, 1)
 * @param troubleMs time since the last good connection. With full jitter no wait beyond the base is longer than this: after
 *   five short waits in a row, the sixth could otherwise turn two seconds of trouble into half a minute.
 * @returns ms to wait
 */
export function retryDelay(
  { baseMs, capMs, jitter }: Omit<RetryPolicy, "stableMs">,
  attempt: number,
  random: number,
  troubleMs = Number.POSITIVE_INFINITY,
): number {
  if (jitter === "half") return Math.round(backoffMs({ baseMs, capMs }, attempt) * (0.5 + random / 2));
  const ceiling = backoffMs({ baseMs, capMs: Math.min(capMs, Math.max(baseMs, troubleMs)) }, attempt);
  return Math.max(SHORTEST_MS, Math.round(ceiling * random));
}
