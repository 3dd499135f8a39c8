/**
 * The counter `n` of this agent's messages. It rises with every message, over restarts too, even on a device whose clock
 * starts in 1970. Each connection to the broker has a block of numbers of its own. The block is reserved on disk before its
 * first number is used; single numbers are not written.
 *
 *     birth ── first of its block … everything else … last of its block ── last will
 *
 * The will is signed when the connection is made. It is newer than all messages of that connection and older than the next
 * birth. So a receiver that stores the highest number it saw can tell old messages.
 */
import { readFile } from "node:fs/promises";
import { COUNTER_BLOCK, COUNTER_PER_MS } from "@edgecall/core/protocol/counter.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";

const CounterFile = z.looseObject({ next: z.int().check(z.minimum(0)) });

export type CounterOptions = { file: string; log: Log; wallClock?: () => number };

export class Counter {
  readonly #file: string;
  readonly #log: Log;
  #first: number;
  #next: number;
  #isFirstBlockUsed = false;
  #writing: Promise<void> = Promise.resolve();

  private constructor({ file, log }: CounterOptions, first: number) {
    this.#file = file;
    this.#log = log;
    this.#first = first;
    this.#next = first;
  }

  /** Never fails: if the disk cannot be written, that is logged, and the clock has to be enough. */
  static async open(options: CounterOptions): Promise<Counter> {
    const clock = (options.wallClock ?? Date.now)();
    const first = Math.max(await storedNext(options), clock * COUNTER_PER_MS);
    const counter = new Counter(options, first);
    await counter.#reserve();
    return counter;
  }

  /** A connection is about to be made: takes a new block. */
  connecting(): void {
    if (this.#isFirstBlockUsed) this.#nextBlock();
    this.#isFirstBlockUsed = true;
  }

  /** The number of the connection's last will. */
  get will(): number {
    return this.#first + COUNTER_BLOCK - 1;
  }

  /** Another device signs with this key, up to `n`, so only higher numbers count. @returns true if it was ahead */
  outdo(n: number): boolean {
    if (n < this.#next) return false;
    this.#first = n + 1;
    this.#next = this.#first;
    this.#writing = this.#writing.then(() => this.#reserve());
    return true;
  }

  next(): number {
    // No connection gets here. If one did, its will would be too old to count, and its silence would show its end.
    if (this.#next === this.will) this.#nextBlock();
    const n = this.#next;
    this.#next += 1;
    return n;
  }

  #nextBlock(): void {
    this.#first += COUNTER_BLOCK;
    this.#next = this.#first;
    this.#writing = this.#writing.then(() => this.#reserve());
  }

  /** Reserves this block and the one after it, so that a connection that breaks at once need not wait for the disk. */
  async #reserve(): Promise<void> {
    try {
      await writeAtomic(this.#file, `${JSON.stringify({ next: this.#first + 2 * COUNTER_BLOCK })}\n`);
    } catch (error) {
      this.#log("error", "counter.unwritable", { error: messageOf(error) });
    }
  }

  /** Resolves when the reservation is on disk. */
  async settled(): Promise<void> {
    await this.#writing;
  }
}

async function storedNext({ file, log }: CounterOptions): Promise<number> {
  try {
    const read = checkJson(CounterFile, await readFile(file, "utf8"));
    if (read.ok) return read.value.next;
    log("error", "counter.damaged", { error: read.error });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      log("error", "counter.unreadable", { error: messageOf(error) });
  }
  return 0;
}
