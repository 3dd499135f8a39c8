/** What a call says before its end: its steps, and a sign of life when there are none. */

/** The caller gives up after 60 s of silence; three signs may be lost before that. */
export const SIGN_OF_LIFE_MS = 20_000;
/** More would be noise to a person and load to a broker. */
export const BETWEEN_MS = 250;

export class Progress {
  readonly #publish: (text: string) => void;
  readonly #startedAt = performance.now();
  #saidAt = Number.NEGATIVE_INFINITY;
  #next: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(publish: (text: string) => void) {
    this.#publish = publish;
    this.#wait(SIGN_OF_LIFE_MS);
  }

  /** Says it now, or as soon as the last one is long enough ago; of several that wait, the newest. */
  say(text: string): void {
    this.#next = text;
    const wait = this.#saidAt + BETWEEN_MS - performance.now();
    if (wait <= 0) this.#speak();
    else this.#wait(wait);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #speak(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    this.#publish(this.#next ?? `still working (${seconds} s)`);
    this.#next = undefined;
    this.#saidAt = performance.now();
    this.#wait(SIGN_OF_LIFE_MS);
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#speak(), ms);
  }
}
