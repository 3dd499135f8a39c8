/** Who may break what at the same time: never two at one target, and nothing beside a fault that is timed. */

type Entrant = { target: string; alone: boolean; open: () => void };

export class Gate {
  readonly #inside = new Set<Entrant>();
  /** In their order: one that wants to be alone would otherwise never be. */
  readonly #waiting: Entrant[] = [];

  /** Resolves with the way out. @param alone with nobody else inside */
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
