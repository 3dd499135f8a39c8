/**
 * The counter `n` of what this agent says: it rises with every message, over restarts too, also on a device whose
 * clock starts in 1970. So each connection to the broker has a block of numbers of its own, set aside on disk
 * before the first of them is used; a number is never written down by itself.
 *
 *     birth ── first of its block … everything else … last of its block ── last will
 *
 * The will is signed when the connection is made, and is newer than all that is said on it and older than the
 * next birth: whoever keeps the highest number that he saw knows what is of the past.
 */
import { readFile } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";

/** More messages than one connection lives to send: at ten a second, 29 hours of nothing but that. */
export const BLOCK = 2 ** 20;
/**
 * Numbers a millisecond of the clock: a block is used up in a second, and no device reconnects as often as that
 * for long. So the clock stays ahead of the file, and after a loss of the file a set clock is enough.
 */
const PER_MS = 1_024;

const CounterFile = z.looseObject({ next: z.int().check(z.minimum(0)) });

export type CounterOptions = { file: string; log: Log; wallClock?: () => number };

export class Counter {
  readonly #file: string;
  readonly #log: Log;
  #first: number;
  #next: number;
  #begun = false;
  #writing: Promise<void> = Promise.resolve();

  private constructor({ file, log }: CounterOptions, first: number) {
    this.#file = file;
    this.#log = log;
    this.#first = first;
    this.#next = first;
  }

  /** Never fails: a disk that cannot be written is said in the log, and the clock has to do. */
  static async open(options: CounterOptions): Promise<Counter> {
    const clock = (options.wallClock ?? Date.now)();
    const first = Math.max(await kept(options), clock * PER_MS);
    const counter = new Counter(options, first);
    await counter.#setAside();
    return counter;
  }

  /** A connection is made: a new block. */
  connecting(): void {
    if (this.#begun) this.#nextBlock();
    this.#begun = true;
  }

  /** The number of the connection's last will. */
  get will(): number {
    return this.#first + BLOCK - 1;
  }

  /** Another one signs with this key, up to `n`: only what is above it counts. @returns whether it was ahead of us */
  outdo(n: number): boolean {
    if (n < this.#next) return false;
    this.#first = n + 1;
    this.#next = this.#first;
    this.#writing = this.#writing.then(() => this.#setAside());
    return true;
  }

  next(): number {
    // Nobody gets here; should one, its will is too old to count, and silence tells of its death.
    if (this.#next === this.will) this.#nextBlock();
    const n = this.#next;
    this.#next += 1;
    return n;
  }

  #nextBlock(): void {
    this.#first += BLOCK;
    this.#next = this.#first;
    this.#writing = this.#writing.then(() => this.#setAside());
  }

  /** This block and the one after it: a connection that breaks at once need not wait for the disk. */
  async #setAside(): Promise<void> {
    try {
      await writeAtomic(this.#file, `${JSON.stringify({ next: this.#first + 2 * BLOCK })}\n`);
    } catch (error) {
      this.#log("error", "counter.unwritable", { error: messageOf(error) });
    }
  }

  /** Resolves when the disk has what was set aside. */
  async settled(): Promise<void> {
    await this.#writing;
  }
}

async function kept({ file, log }: CounterOptions): Promise<number> {
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
