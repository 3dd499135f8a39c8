/**
 * A file that is written before anything is done that rests on it. Work waits until a write that was wanted after it is on the disk; a
 * disk that refuses is tried again, and holds the work back until then.
 */
import { windowMs } from "@edgecall/core/test-clock.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";

/** A write that failed is tried again so often. */
const WRITE_AGAIN_MS = windowMs(10_000, 500);

/** The content of one write. `onWritten`: it is on the disk, and the work that rests on it comes next. */
export type Snapshot = { text: string; onWritten(): void };

type DurableFileParts = {
  path: string;
  snapshot(): Snapshot;
  clock: Pick<Clock, "now">;
  log: Log;
};

/** Work for after a write is on the disk. */
type Later = { write: number; work(): void };

export class DurableFile {
  readonly #parts: DurableFileParts;
  /** The newest write that is wanted, and the newest that is on the disk. */
  #wanted = 0;
  #durable = 0;
  #later: Later[] = [];
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failure: string | undefined;
  #waitingSince: number | undefined;
  #isStopped = false;

  constructor(parts: DurableFileParts) {
    this.#parts = parts;
  }

  /** The path of the file. */
  get path(): string {
    return this.#parts.path;
  }

  /** Why the last write failed; undefined: it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Monotonic ms: since when work waits for the disk; undefined: none waits. */
  get waitingSince(): number | undefined {
    return this.#waitingSince;
  }

  /** Does `work` after the next write that is wanted: call `write` behind it. */
  afterWrite(work: () => void): void {
    this.#later.push({ write: this.#wanted + 1, work });
    this.#waitingSince ??= this.#parts.clock.now();
  }

  /** Writes the file until it holds what there is now. @returns when it does, or the disk refused */
  write(): Promise<void> {
    this.#wanted += 1;
    this.#writing ??= this.#writeAll();
    return this.#writing;
  }

  /** Writes what is wanted. Work that waits is not done any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    if (this.#wanted > this.#durable) await this.write();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { path, snapshot, log } = this.#parts;
    // Steps of one message become one write.
    await Promise.resolve();
    while (this.#durable < this.#wanted) {
      clearTimeout(this.#retry);
      const write = this.#wanted;
      const { text, onWritten } = snapshot();
      try {
        await writeAtomic(path, text);
      } catch (error) {
        this.#failure = messageOf(error);
        log("error", "automations.not_written", { error: messageOf(error) });
        if (!this.#isStopped) this.#retry = setTimeout(() => void this.write(), WRITE_AGAIN_MS);
        break;
      }
      this.#failure = undefined;
      this.#durable = write;
      const due = this.#later.filter((one) => one.write <= write);
      this.#later = this.#later.filter((one) => one.write > write);
      if (this.#later.length === 0) this.#waitingSince = undefined;
      if (this.#isStopped) continue;
      onWritten();
      for (const { work } of due) this.#do(work);
    }
    this.#writing = undefined;
  }

  /** Does work that waited. A fault in it ends neither the work behind it nor later writes. */
  #do(work: () => void): void {
    try {
      work();
    } catch (error) {
      const text = error instanceof Error ? error.stack : String(error);
      this.#parts.log("error", "bridge.internal_error", { side: "automations", error: text });
    }
  }
}
