/** The last welcome by the home's gateway. Without one for long it is not known which rules are still wanted. */
import { DAY_MS } from "@edgecall/core/time/zone.ts";

/** No rule begins a run after so many days without a welcome. */
export const ALONE_DAYS = 30;
/** A welcome is written down so often. */
const KEPT_MS = 6 * 3_600_000;

export class LastWelcome {
  #at: number | undefined;
  /** The clock that gave this time is the one that goes on. */
  #isOfThisRun = false;

  /** @param at of the file, epoch ms */
  constructor(at: number | undefined) {
    this.#at = at;
  }

  /** Epoch ms. */
  get at(): number | undefined {
    return this.#at;
  }

  /** @returns whether it is to be written down */
  welcomed(now: number): boolean {
    const isNews = this.#at === undefined || now - this.#at > KEPT_MS;
    this.#at = now;
    this.#isOfThisRun = true;
    return isNews;
  }

  /** The last welcome is too long ago for a rule to begin. What was begun still comes to its end. */
  isAlone(now: number): boolean {
    return this.#at !== undefined && now - this.#at > ALONE_DAYS * DAY_MS;
  }

  /** The clock was set by so many ms. A welcome from before the start stays: the time that the bridge was off counts. */
  clockSet(by: number): void {
    if (this.#at !== undefined && this.#isOfThisRun) this.#at += by;
  }
}
