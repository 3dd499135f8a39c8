/** The one alarm of a conversation. When it fires, the loop and the outbox look for everything that is due. */

/** The loop is resumed this long after a crash at the latest. A loop that runs moves the alarm on. */
const LEASE_MS = 10_000;

export class Alarm {
  readonly #storage: DurableObjectStorage;
  /** The time for which it is set, as far as this instance knows (epoch ms). */
  #at: number | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  async lease(): Promise<void> {
    await this.by(Date.now() + LEASE_MS);
  }

  /**
   * Sets the alarm (epoch ms), unless it is set for an earlier time: each time is a row write. So a conversation pays for one
   * alarm per lease. The last one fires, finds nothing to do, and is not set again.
   */
  async by(time: number): Promise<void> {
    if (this.#at !== undefined && this.#at <= time && this.#at > Date.now()) return;
    this.#at = time;
    await this.#storage.setAlarm(time);
  }

  /** It fired, or was deleted. */
  isGone(): void {
    this.#at = undefined;
  }
}
