/** What an orchestrator taught this agent (strategies, tuning, a genome): versioned, and kept over restarts. */
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { Genome } from "./genome.ts";
import { Tuning } from "./tuning.ts";

/** A genome or a strategy is small; more is a mistake or an attack on the SD card. */
export const PROFILE_MAX_BYTES = 64 * 1024;
/** Versions before the present one that can be brought back. */
export const KEPT_VERSIONS = 10;

const Taught = z.object({
  strategies: z.record(z.string(), z.record(z.string(), z.unknown())),
  /** The agent's own keys, where they are not agent.toml's. */
  agent: z._default(Tuning, {}),
  genome: z.optional(Genome),
});
export type Taught = z.infer<typeof Taught>;

const Version = z.object({
  ...Taught.shape,
  /** Rises with every change, also with one that brings an earlier version back. 0: nothing was taught yet. */
  version: z._default(z.int().check(z.minimum(0)), 1),
  /** ISO 8601 */
  at: z._default(z.string(), ""),
  /** What brought it, in a few words. */
  change: z._default(z.string(), ""),
});
type Version = z.infer<typeof Version>;

const Stored = z.object({ ...Version.shape, earlier: z._default(z.array(Version), []) });
type Stored = z.infer<typeof Stored>;

export type Change = { ok: true; version: number } | { ok: false; error: string };

const NOTHING: Stored = { strategies: {}, agent: {}, version: 0, at: "", change: "", earlier: [] };

export class Profile {
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  #stored: Stored;
  /** Changes go one after another: each is made from what the one before it left. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, stored: Stored) {
    this.#path = path;
    this.#stored = stored;
  }

  static async open(stateDir: string, log: Log): Promise<Profile> {
    const path = join(stateDir, "profile.json");
    return new Profile(path, (await readStored(path, log)) ?? NOTHING);
  }

  /** A snapshot, never changed. */
  get taught(): Readonly<Taught> {
    return this.#stored;
  }

  get version(): number {
    return this.#stored.version;
  }

  get genome(): Genome | undefined {
    return this.#stored.genome;
  }

  /** Oldest first; the last one is in force. */
  history(): Array<Pick<Version, "version" | "at" | "change">> {
    const { earlier, ...now } = this.#stored;
    return [...earlier, now].map(({ version, at, change }) => ({ version, at, change }));
  }

  /**
   * In force, and on disk, when it resolves; on any failure nothing has changed. What changes nothing makes
   * no version.
   *
   * @param change what it is, in a few words
   * @param next what is taught afterwards, or in words why not
   */
  change(change: string, next: (now: Readonly<Taught>) => Taught | string): Promise<Change> {
    const made = this.#last.then(() => this.#change(change, next));
    this.#last = made.catch(() => {});
    return made;
  }

  /** Brings all of an earlier version back, as a new one. */
  back(version: number): Promise<Change> {
    return this.change(`back to version ${version}`, () => {
      if (version === this.version) return this.#stored;
      const found = this.#stored.earlier.find((one) => one.version === version);
      if (found) return found;
      const kept = this.history().map((one) => one.version);
      return `version: there is no version ${version} here; right would be one of: ${kept.join(", ")}`;
    });
  }

  /** @returns takes that back */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #change(change: string, next: (now: Readonly<Taught>) => Taught | string): Promise<Change> {
    const { earlier, ...now } = this.#stored;
    const wanted = next(now);
    if (typeof wanted === "string") return { ok: false, error: wanted };
    const taught = taughtOf(wanted);
    if (canonicalJson(taught) === canonicalJson(taughtOf(now))) return { ok: true, version: now.version };
    if (Buffer.byteLength(JSON.stringify(taught)) > PROFILE_MAX_BYTES) {
      return {
        ok: false,
        error: `too large: strategies and genome together may have ${PROFILE_MAX_BYTES} bytes`,
      };
    }
    const stored: Stored = {
      version: now.version + 1,
      at: new Date().toISOString(),
      change,
      ...taught,
      earlier: [...earlier, now].slice(-KEPT_VERSIONS),
    };
    try {
      await writeAtomic(this.#path, JSON.stringify(stored));
    } catch (error) {
      return { ok: false, error: `not kept, so nothing was changed: ${messageOf(error)}` };
    }
    this.#stored = stored;
    for (const listener of this.#listeners) listener();
    return { ok: true, version: stored.version };
  }
}

function taughtOf({ strategies, agent, genome }: Readonly<Taught>): Taught {
  return { strategies, agent, ...(genome && { genome }) };
}

async function readStored(path: string, log: Log): Promise<Stored | undefined> {
  try {
    const read = checkJson(Stored, await readFile(path, "utf8"));
    if (read.ok) return read.value;
    // Its next version would overwrite what a person may still want to mend.
    await rename(path, `${path}.unreadable`);
    log("error", "profile.unreadable", { error: read.error, kept: `${path}.unreadable` });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      log("error", "profile.unreadable", { error: messageOf(error) });
    }
  }
  return undefined;
}
