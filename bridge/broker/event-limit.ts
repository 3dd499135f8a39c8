/**
 * Limits the changes of rules that an agent sends unasked. Each wakes Home, which has a lower limit of its own: this one holds back
 * what only a broken or a hostile device sends. A device repeats a change that is held back, so none is lost.
 */
import type { Clock } from "@edgecall/node/clock.ts";

const HOUR_MS = 3_600_000;
/** Home takes 30, and has to see that there are more. */
const CHANGES_AN_HOUR = 40;
/** The same change again, sooner than any device of ours repeats it. */
const AGAIN_MS = 4_000;

/** `at`: when it was first passed on; `last`: when it was last. Monotonic ms. */
type Passed = { at: number; last: number };

export class EventLimit {
  readonly #now: Clock["now"];
  /** By agent, then by the change's id, oldest first. */
  readonly #passed = new Map<string, Map<string, Passed>>();

  constructor(now: Clock["now"]) {
    this.#now = now;
  }

  /** @returns whether this may be passed on, which counts then */
  takes(agent: string, id: string): boolean {
    const now = this.#now();
    const passed = this.#passed.get(agent) ?? new Map<string, Passed>();
    this.#passed.set(agent, passed);
    for (const [old, { at }] of passed) if (now - at >= HOUR_MS) passed.delete(old);
    const before = passed.get(id);
    if (before ? now - before.last < AGAIN_MS : passed.size >= CHANGES_AN_HOUR) return false;
    passed.set(id, { at: before?.at ?? now, last: now });
    return true;
  }
}
