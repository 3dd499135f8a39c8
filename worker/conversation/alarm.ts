/** The one alarm of a conversation: whoever it wakes looks what is due. */

/** The driver is brought back this long after a crash at the latest; one that lives moves it on. */
const LEASE_MS = 10_000;

export class Alarm {
  readonly #storage: DurableObjectStorage;
  /** When it stands, as far as this instance knows. */
  #at: number | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  async lease(): Promise<void> {
    await this.by(Date.now() + LEASE_MS);
  }

  /**
   * Sets the alarm (epoch ms), unless it stands earlier: it is a row each time, and whoever it wakes looks what is due.
   * So a conversation pays for one alarm per lease, which at the end fires once, finds nothing, and is not set anew.
   */
  async by(time: number): Promise<void> {
    if (this.#at !== undefined && this.#at <= time && this.#at > Date.now()) return;
    this.#at = time;
    await this.#storage.setAlarm(time);
  }

  /** It rang, or was deleted. */
  isGone(): void {
    this.#at = undefined;
  }
}
