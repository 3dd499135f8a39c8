/** When to try again after a connection was lost or refused. */

/** Full jitter: after a power cut all bridges of a street come back, and must not do so in step. */
export type Backoff = { baseMs: number; capMs: number };

/** Towards the gateway: a deploy drops every socket at once. */
export const GATEWAY_BACKOFF: Backoff = { baseMs: 500, capMs: 30_000 };
/** Towards the broker, which is near and ours: quick enough to hide its restart (BROKER_GRACE_MS). */
export const BROKER_BACKOFF: Backoff = { baseMs: 250, capMs: 10_000 };
/** A connection that lasted this long was a good one: the next failure starts again at the base. */
export const STABLE_AFTER_MS = 30_000;
/** After a refusal that only a person can mend (token, version), or when a newer bridge took over. */
export const STAY_AWAY_MS = 300_000;

/** ms to wait before try `attempt` (0, 1, …); `random` in [0, 1). Never 0, so that no failure spins. */
export function retryDelay(backoff: Backoff, attempt: number, random: number): number {
  const ceiling = Math.min(backoff.capMs, backoff.baseMs * 2 ** Math.min(attempt, 30));
  return Math.max(50, Math.round(ceiling * random));
}
