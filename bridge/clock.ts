/** The bridge's clock. It is passed in, so that rules about time can be tested without waiting. */
export type Clock = {
  /** Monotonic ms, for ages, budgets and deadlines. It does not jump when NTP sets the clock. */
  now(): number;
  /** Epoch ms, only for what a person reads (`last_seen`). */
  wall(): number;
};

export const systemClock: Clock = { now: () => performance.now(), wall: () => Date.now() };
