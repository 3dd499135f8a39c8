/**
 * The broker keeps the texts that this agent said last. Whoever holds the broker's password can put something
 * else there, an old text of the agent's own too; who comes later would find that.
 */

/** Our own messages come back in order: after a change of ours the one before it is seen first. */
const FIRST_AFTER_MS = 250;
/** Each time twice as long: against somebody who writes without end, a few messages an hour. */
const LAST_AFTER_MS = 300_000;
/** Left alone for so long, it begins anew. */
const QUIET_MS = 900_000;

export class RetainedGuard {
  readonly #mend: (topic: string) => void;
  readonly #now: () => number;
  /** By topic: what this agent said last, and what is there. */
  readonly #topics = new Map<string, { said: string; seen: string | undefined }>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #pauseMs = FIRST_AFTER_MS;
  #mendedAt = Number.NEGATIVE_INFINITY;

  constructor(mend: (topic: string) => void, now: () => number = () => performance.now()) {
    this.#mend = mend;
    this.#now = now;
  }

  /** Told before it is published. */
  said(topic: string, text: string): void {
    this.#topics.set(topic, { said: text, seen: undefined });
  }

  /** A message on a topic of this agent's. */
  saw(topic: string, text: string): void {
    const known = this.#topics.get(topic);
    // Nothing was said yet: it is what an earlier run left there.
    if (known === undefined) return;
    known.seen = text;
    if (text === known.said || this.#timers.has(topic)) return;
    if (this.#now() - this.#mendedAt > QUIET_MS) this.#pauseMs = FIRST_AFTER_MS;
    this.#timers.set(
      topic,
      setTimeout(() => this.#look(topic), this.#pauseMs),
    );
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #look(topic: string): void {
    this.#timers.delete(topic);
    const known = this.#topics.get(topic);
    if (known === undefined || known.seen === undefined || known.seen === known.said) return;
    this.#mendedAt = this.#now();
    this.#pauseMs = Math.min(2 * this.#pauseMs, LAST_AFTER_MS);
    this.#mend(topic);
  }
}
