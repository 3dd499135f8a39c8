/** Waits for a message of a device, or for a time. */
export class MessageWatch {
  readonly #looks = new Set<() => void>();

  /** A message of a device came, and the catalog has read it. */
  came(): void {
    for (const look of this.#looks) look();
  }

  /**
   * Resolves with what `look` returns, as soon as that is not undefined.
   * @param look is called at once and after each message
   * @param wake gets a function that calls it too, for what ends a wait without a message
   * @returns undefined when the time is over
   */
  until<T>(ms: number, look: () => T | undefined, wake?: (look: () => void) => void): Promise<T | undefined> {
    return new Promise((resolve) => {
      let last: NodeJS.Immediate | undefined;
      const end = (value: T | undefined) => {
        this.#looks.delete(tryNow);
        clearTimeout(timer);
        clearImmediate(last);
        resolve(value);
      };
      const tryNow = () => {
        const value = look();
        if (value !== undefined) end(value);
      };
      const timer = setTimeout(
        () => {
          // A busy machine may have come late to the timer, and what came in time may be here, unread.
          last = setImmediate(() => end(look()));
        },
        Math.max(0, ms),
      );
      this.#looks.add(tryNow);
      wake?.(tryNow);
      tryNow();
    });
  }
}
