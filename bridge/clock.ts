/** Time as the bridge uses it; injected, so that the rules can be tested without waiting. */
export type Clock = {
  /** Monotonic ms: ages, budgets and deadlines. Does not jump when NTP sets the clock. */
  now(): number;
  /** Epoch ms: only for what a person reads (`last_seen`). */
  wall(): number;
};

export const systemClock: Clock = { now: () => performance.now(), wall: () => Date.now() };
