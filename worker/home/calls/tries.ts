/**
 * When what failed is tried again: after as long as it has been tried for, so that the pauses double. In memory
 * only: an object that was rebuilt tries at once, which after a deploy is what helps.
 */

/** A conversation that is being replaced is back in a moment. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 3_600_000;

export class Tries {
  readonly #dueAt = new Map<string, number>();

  /** @param since when it was tried first, epoch ms */
  failed(id: string, since: number, now: number): void {
    this.#dueAt.set(id, now + Math.min(Math.max(now - since, FIRST_PAUSE_MS), LONGEST_PAUSE_MS));
  }

  /** It was done, or is not wanted any more. */
  over(id: string): void {
    this.#dueAt.delete(id);
  }

  /** Epoch ms; in the past: at once. */
  dueAt(id: string): number {
    return this.#dueAt.get(id) ?? 0;
  }

  /** When the first of these is due. */
  nextOf(ids: readonly string[]): number | undefined {
    return ids.length > 0 ? Math.min(...ids.map((id) => this.dueAt(id))) : undefined;
  }
}
