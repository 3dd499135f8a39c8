/** The profile that an orchestrator set for this agent (strategies, tuning, a genome). It is versioned and stored on disk. */
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { Genome } from "./genome.ts";
import { PROFILE_FILE } from "./parts.ts";
import { Tuning } from "./tuning.ts";

/** A genome or strategy is small; more is a mistake, or an attack on the SD card. */
export const PROFILE_MAX_BYTES = 64 * 1024;
/** Earlier versions that can be restored. */
export const KEPT_VERSIONS = 10;

const Taught = z.object({
  strategies: z.record(z.string(), z.record(z.string(), z.unknown())),
  /** Keys that override agent.toml's. */
  agent: z._default(Tuning, {}),
  genome: z.optional(Genome),
});
export type Taught = z.infer<typeof Taught>;

const Version = z.object({
  ...Taught.shape,
  /** Rises with every change, including the restoring of an earlier version. 0 = no change yet. */
  version: z._default(z.int().check(z.minimum(0)), 1),
  /** ISO 8601 */
  at: z._default(z.string(), ""),
  /** A short description of the change. */
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
  /** Changes run one after another, each on the result of the one before. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, stored: Stored) {
    this.#path = path;
    this.#stored = stored;
  }

  static async open(stateDir: string, log: Log): Promise<Profile> {
    const path = join(stateDir, PROFILE_FILE);
    return new Profile(path, (await readStored(path, log)) ?? NOTHING);
  }

  /** An immutable snapshot. */
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
   * Makes a change, which is in force and on disk when this resolves. On any failure nothing has changed. A change without effect
   * makes no version.
   * @param change a short description
   * @param next returns the new profile, or why it is refused
   */
  change(change: string, next: (now: Readonly<Taught>) => Taught | string): Promise<Change> {
    const made = this.#last.then(() => this.#change(change, next));
    this.#last = made.catch(() => {});
    return made;
  }

  /** Restores an earlier version as a new one. */
  back(version: number): Promise<Change> {
    return this.change(`back to version ${version}`, () => {
      if (version === this.version) return this.#stored;
      const found = this.#stored.earlier.find((one) => one.version === version);
      if (found) return found;
      const versions = this.history().map((one) => one.version);
      return `version: there is no version ${version} here; right would be one of: ${versions.join(", ")}`;
    });
  }

  /** @returns a function that removes the listener */
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
    // The next version would overwrite a file that a person may still want to repair.
    await rename(path, `${path}.unreadable`);
    log("error", "profile.unreadable", { error: read.error, kept: `${path}.unreadable` });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      log("error", "profile.unreadable", { error: messageOf(error) });
    }
  }
  return undefined;
}
