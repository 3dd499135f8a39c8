/** The one alarm of a conversation. When it fires, the loop and the outbox look for everything that is due. */

/**
 * A loop is resumed so long after its beginning, if a crash has stopped it. Most turns have ended by then, and their alarm
 * finds nothing to do: the request that it costs is a seventh of the row that another `setAlarm` costs.
 */
const LEASE_MS = 10_000;
/** A turn that takes longer has a slow model or tool, and its alarms come less often. */
const RENEWED_LEASE_MS = 30_000;

export class Alarm {
  readonly #storage: DurableObjectStorage;
  /** The time for which it is set (epoch ms). */
  #at: number | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Of an object that was rebuilt, before anything else happens in it. To set the alarm would cost a thousand times as much. */
  async read(): Promise<void> {
    this.#at = (await this.#storage.getAlarm()) ?? undefined;
  }

  /** Before the loop does what may take time, or end the object. An alarm that stands is near enough. */
  async lease(): Promise<void> {
    const now = Date.now();
    const isNear = this.#at !== undefined && this.#at > now && this.#at <= now + RENEWED_LEASE_MS;
    if (!isNear) await this.wakeBy(now + LEASE_MS);
  }

  /** The lease is over, and the loop still runs. */
  async renew(): Promise<void> {
    await this.wakeBy(Date.now() + RENEWED_LEASE_MS);
  }

  /**
   * Sets the alarm (epoch ms), unless it is set for an earlier time: each time is a row write. So a conversation pays for one
   * alarm per lease. The last one fires, finds nothing to do, and is not set again. Nothing is awaited before it is set: it
   * belongs to the write before it.
   */
  async wakeBy(time: number): Promise<void> {
    if (this.#at !== undefined && this.#at <= time && this.#at > Date.now()) return;
    this.#at = time;
    await this.#storage.setAlarm(time);
  }

  /** It fired, or was deleted. */
  isGone(): void {
    this.#at = undefined;
  }
}
