/** Looks after commands that were told as done: a device may take back what it reported, and what was told is corrected then. */
import type { MessageWatch } from "./message-watch.ts";
import type { Outcome } from "./reports.ts";

/** A report after this is news of its own. */
const WITHIN_MS = 10_000;
/** A state of before may come once more, so the other one has to hold for so long. */
const HOLDS_MS = 1_000;

/** A command that was told as done. */
export type Confirmed = {
  /** Each place that it sent to. */
  targets: readonly string[];
  /** @returns what is to be told of it in place of that, as its device reports it now; undefined: it is as it was told */
  takenBack: () => Outcome | undefined;
};

/** @property end it is not looked after any more */
type Watched = { targets: readonly string[]; isEnded: boolean; end: () => void };

export class Corrections {
  readonly #watch: MessageWatch;
  readonly #watched = new Set<Watched>();

  constructor(watch: MessageWatch) {
    this.#watch = watch;
  }

  /** Another command is sent to these places: what is reported from now on is its doing. @param targets undefined: it may change anything */
  superseded(targets: readonly string[] | undefined): void {
    for (const watched of this.#watched)
      if (targets === undefined || watched.targets.some((one) => targets.includes(one))) watched.end();
  }

  /** Resolves when the device takes the command back, or does not within the time. */
  async follow({ targets, takenBack }: Confirmed): Promise<Outcome | undefined> {
    let wake = () => {};
    const watched: Watched = {
      targets,
      isEnded: false,
      end: () => {
        watched.isEnded = true;
        wake();
      },
    };
    this.#watched.add(watched);
    try {
      return await this.#other(watched, takenBack, (look) => {
        wake = look;
      });
    } finally {
      this.#watched.delete(watched);
    }
  }

  /** @returns what has held for long enough; undefined: nothing did, or it was ended */
  async #other(
    watched: Watched,
    takenBack: () => Outcome | undefined,
    onWake: (look: () => void) => void,
  ): Promise<Outcome | undefined> {
    const until = performance.now() + WITHIN_MS;
    for (;;) {
      const left = until - performance.now();
      const look = () => watched.isEnded || takenBack() !== undefined || undefined;
      if (left <= 0 || !(await this.#watch.until(left, look, onWake)) || watched.isEnded) return undefined;
      const isBack = () => watched.isEnded || takenBack() === undefined || undefined;
      if (!(await this.#watch.until(HOLDS_MS, isBack, onWake))) return takenBack();
    }
  }
}
