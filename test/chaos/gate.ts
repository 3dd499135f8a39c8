/** Decides which faults may run at the same time: at most one at each target, and none beside a timed fault. */

type Entrant = { target: string; alone: boolean; open: () => void };

export class Gate {
  readonly #inside = new Set<Entrant>();
  /** In the order of arrival, because a fault that must run alone would otherwise wait forever. */
  readonly #waiting: Entrant[] = [];

  /** Waits for its turn. @returns the function that leaves. @param alone true: no other fault may run meanwhile */
  async enter(target: string, alone: boolean): Promise<() => void> {
    const opened = Promise.withResolvers<void>();
    const entrant: Entrant = { target, alone, open: () => opened.resolve() };
    this.#waiting.push(entrant);
    this.#admit();
    await opened.promise;
    return () => {
      if (this.#inside.delete(entrant)) this.#admit();
    };
  }

  #admit(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (!next || !this.#fits(next)) return;
      this.#waiting.shift();
      this.#inside.add(next);
      next.open();
    }
  }

  #fits(next: Entrant): boolean {
    const inside = [...this.#inside];
    if (next.alone) return inside.length === 0;
    return inside.every(({ target, alone }) => !alone && target !== next.target);
  }
}
