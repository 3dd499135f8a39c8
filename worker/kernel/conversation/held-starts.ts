/**
 * Requests that began a turn and wait for its end: it comes as the return of `start`. They wait only while the loop runs, which
 * keeps the object awake anyway. A turn that waits for a device or a person is waited for over a socket (subscribers.ts).
 */

/** Why a request waits no longer. `later`: the turn goes on, and its client waits elsewhere. `left`: its client has hung up. */
type Released = "ended" | "later" | "left";

type Held = { turn: string; release: (why: Released) => void };

export class HeldStarts {
  /** By the id of the turn that each asked for. It may have been given another one. */
  readonly #held = new Map<string, Held>();

  /** @param withinMs after so long the answer is `later` */
  async hold(request: string, turn: string, withinMs: number): Promise<Released> {
    const { promise, resolve: release } = Promise.withResolvers<Released>();
    const timer = setTimeout(() => release("later"), withinMs);
    const held = { turn, release };
    this.#held.set(request, held);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      // Its second try may be held under the same id by now.
      if (this.#held.get(request) === held) this.#held.delete(request);
    }
  }

  has(turn: string): boolean {
    for (const held of this.#held.values()) if (held.turn === turn) return true;
    return false;
  }

  /** @param turn absent: those of all turns */
  release(why: Released, turn?: string): void {
    for (const [request, held] of this.#held) {
      if (turn !== undefined && held.turn !== turn) continue;
      this.#held.delete(request);
      held.release(why);
    }
  }

  /** The client of this request has hung up. */
  left(request: string): void {
    const held = this.#held.get(request);
    this.#held.delete(request);
    held?.release("left");
  }
}
