/** Counts the requests of each grant, in memory alone: an object that is rebuilt begins to count anew. */
import { slot } from "../../../kernel/home/slot.ts";

const A_MINUTE = 600;
const MINUTE_MS = 60_000;

class RequestRates {
  readonly #counts = new Map<string, { since: number; count: number }>();

  /** Counts a request. @returns false: there were too many in this minute */
  accept(grant: string, now: number): boolean {
    const known = this.#counts.get(grant);
    const current = known && now - known.since < MINUTE_MS ? known : { since: now, count: 0 };
    current.count += 1;
    this.#counts.set(grant, current);
    return current.count <= A_MINUTE;
  }
}

export const requestRatesOf = slot(() => new RequestRates());
