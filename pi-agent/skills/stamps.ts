import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";

/**
 * Remembers how files looked when they were read, and says whether any looks different now. Not fs.watch: that
 * sees nothing on network file systems, nothing of a folder that comes later, and loses events under load; a
 * look at some ten files costs less than a millisecond.
 */
export class Stamps {
  readonly #seen = new Map<string, string>();

  /** To be called before the file is read: a change in between is then seen later. Undefined: it is not there. */
  async look(path: string): Promise<BigIntStats | undefined> {
    const stats = await statOf(path);
    this.#seen.set(path, stampOf(stats));
    return stats;
  }

  async changed(): Promise<boolean> {
    const now = await Promise.all(
      [...this.#seen].map(async ([path, stamp]) => stampOf(await statOf(path)) !== stamp),
    );
    return now.includes(true);
  }
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** The time of change too: an old file moved into place has an old time of writing. */
function stampOf(stats: BigIntStats | undefined): string {
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : "";
}
