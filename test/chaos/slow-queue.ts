/** A queue whose work runs later but in order, for the pieces of a stream on a slow line. */
export class SlowQueue {
  readonly #queue: Array<{ due: number; work: () => void }> = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param delay ms; with 0 and an empty queue the work runs at once */
  add(delay: number, work: () => void): void {
    if (delay === 0 && this.#queue.length === 0) {
      work();
      return;
    }
    const last = this.#queue.at(-1)?.due ?? 0;
    this.#queue.push({ due: Math.max(last, performance.now() + delay), work });
    this.#arm();
  }

  clear(): void {
    this.#queue.length = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    const next = this.#queue[0];
    if (this.#timer !== undefined || next === undefined) return;
    const wait = Math.max(0, next.due - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (let one = this.#queue[0]; one && one.due <= performance.now(); one = this.#queue[0]) {
        this.#queue.shift();
        one.work();
      }
      this.#arm();
    }, wait);
  }
}
