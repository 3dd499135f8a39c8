/**
 * Watches the retained texts of this agent. Any client with the broker's password can replace them, for instance by an old
 * text of this agent, and later subscribers would get that.
 */

/** This agent's own messages come back in order: after a change of its own, it sees the earlier text first. */
const FIRST_AFTER_MS = 250;
/** The pause doubles up to this, so that an endless fight costs a few messages an hour. */
const LAST_AFTER_MS = 300_000;
/** After this time without a foreign text, the pause starts again at the beginning. */
const QUIET_MS = 900_000;

export class RetainedGuard {
  readonly #onForeign: (topic: string) => void;
  readonly #now: () => number;
  /** By topic: the text that this agent published last, and the text that is there. */
  readonly #topics = new Map<string, { published: string; seen: string | undefined }>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #pauseMs = FIRST_AFTER_MS;
  #lastForeignAt = Number.NEGATIVE_INFINITY;

  /** @param onForeign called when another text stands on a topic: publish this agent's text again */
  constructor(onForeign: (topic: string) => void, now: () => number = () => performance.now()) {
    this.#onForeign = onForeign;
    this.#now = now;
  }

  /** Call it before this agent publishes a retained text. */
  published(topic: string, text: string): void {
    this.#topics.set(topic, { published: text, seen: undefined });
  }

  /** A message came on a topic of this agent. */
  seen(topic: string, text: string): void {
    const known = this.#topics.get(topic);
    // This run has published nothing yet, so the text is from an earlier run.
    if (known === undefined) return;
    known.seen = text;
    if (text === known.published || this.#timers.has(topic)) return;
    if (this.#now() - this.#lastForeignAt > QUIET_MS) this.#pauseMs = FIRST_AFTER_MS;
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
    if (known === undefined || known.seen === undefined || known.seen === known.published) return;
    this.#lastForeignAt = this.#now();
    this.#pauseMs = Math.min(2 * this.#pauseMs, LAST_AFTER_MS);
    this.#onForeign(topic);
  }
}
