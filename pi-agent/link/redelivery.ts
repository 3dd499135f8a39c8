/** Sends results again that the gateway has not acknowledged, until it does or a day is over. */
import { backoffMs } from "@edgecall/core/backoff.ts";
import type { Log } from "@edgecall/node/log.ts";

/** The results that the ledger keeps until they are acknowledged. */
export type KeptResults = {
  /** The ids of those that are not acknowledged. */
  unacked(): readonly string[];
  reportOf(id: string): Promise<string | undefined>;
};

const FIRST_AGAIN_MS = 30_000;
const LAST_AGAIN_MS = 10 * 60 * 1_000;
/** The number of results sent at once. After a long outage the broker must not be flooded. */
const BATCH = 100;

/** `tries`: how often it was sent since the connection was made. */
type Waiting = { dueAt: number; tries: number };

export class Redelivery {
  readonly #kept: KeptResults;
  readonly #publish: (report: string) => Promise<boolean>;
  readonly #log: Log;
  readonly #firstMs: number;
  readonly #waiting = new Map<string, Waiting>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending = false;
  #stopped = false;

  constructor(
    kept: KeptResults,
    publish: (report: string) => Promise<boolean>,
    log: Log,
    { firstMs = FIRST_AGAIN_MS } = {},
  ) {
    this.#kept = kept;
    this.#publish = publish;
    this.#log = log;
    this.#firstMs = firstMs;
  }

  /** A result was sent (or could not be), and waits for its acknowledgement. */
  add(id: string): void {
    this.#waiting.set(id, { dueAt: performance.now() + this.#firstMs, tries: 1 });
    this.#arm();
  }

  acked(id: string): void {
    this.#waiting.delete(id);
    this.#arm();
  }

  /**
   * Call it on every connect: all unacknowledged results of the ledger are sent at once. The pauses begin anew, since a broker that
   * has just come back may drop a report for a bridge that is not there yet.
   */
  connected(): void {
    const dueAt = performance.now();
    for (const id of this.#kept.unacked()) this.#waiting.set(id, { dueAt, tries: 0 });
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#stopped || this.#sending || this.#waiting.size === 0) return;
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#waiting.values()) next = Math.min(next, dueAt);
    this.#timer = setTimeout(() => void this.#send(), Math.max(0, next - performance.now()));
  }

  async #send(): Promise<void> {
    this.#sending = true;
    try {
      const unacked = new Set(this.#kept.unacked());
      const due = [...this.#waiting].filter(([, { dueAt }]) => dueAt <= performance.now()).slice(0, BATCH);
      for (const [id, waiting] of due) {
        if (!unacked.has(id)) {
          this.#waiting.delete(id);
          continue;
        }
        const delayMs = backoffMs({ baseMs: this.#firstMs, capMs: LAST_AGAIN_MS }, waiting.tries);
        waiting.tries += 1;
        waiting.dueAt = performance.now() + delayMs;
        const report = await this.#kept.reportOf(id);
        if (report === undefined) this.#waiting.delete(id);
        else if (await this.#publish(report)) this.#log("info", "result.sent_again", { request_id: id });
      }
    } finally {
      this.#sending = false;
      this.#arm();
    }
  }
}
