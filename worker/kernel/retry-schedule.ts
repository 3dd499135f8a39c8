/**
 * When a failed try is repeated: after as long as it has been tried for, so the pauses double. The times are in memory only:
 * an object that was rebuilt tries at once, which helps after a deployment.
 */

/** A conversation that is being replaced is back within this. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 3_600_000;

export class RetrySchedule {
  readonly #dueAt = new Map<string, number>();

  /** @param since when it was tried first, epoch ms */
  failed(id: string, since: number, now: number): void {
    this.#dueAt.set(id, now + Math.min(Math.max(now - since, FIRST_PAUSE_MS), LONGEST_PAUSE_MS));
  }

  /** It succeeded, or is no longer wanted. */
  remove(id: string): void {
    this.#dueAt.delete(id);
  }

  /** @returns epoch ms; in the past: at once */
  dueAt(id: string): number {
    return this.#dueAt.get(id) ?? 0;
  }

  /** When the first of these is due, epoch ms. */
  nextDue(ids: readonly string[]): number | undefined {
    return ids.length > 0 ? Math.min(...ids.map((id) => this.dueAt(id))) : undefined;
  }
}
