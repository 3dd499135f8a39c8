/** Ends a stream that has been silent for too long. */

/** The gateway sends something every 15 s. After three times that, the connection is dead. */
const SILENCE_MS = 45_000;

export class SilenceGuard {
  readonly #silent = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly signal: AbortSignal;

  constructor(outer: AbortSignal | undefined) {
    this.signal = outer ? AbortSignal.any([outer, this.#silent.signal]) : this.#silent.signal;
    this.heard();
  }

  get isSilent(): boolean {
    return this.#silent.signal.aborted;
  }

  /** A sign of life came. */
  readonly heard = (): void => {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#silent.abort(new Error("the connection was silent")), SILENCE_MS);
  };

  end(): void {
    clearTimeout(this.#timer);
    this.#silent.abort();
  }
}
