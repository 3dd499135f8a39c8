/**
 * The versions of the program on this device: the one in use, the one before it, and the way from one to another.
 * Each is a folder with a program `edgecall`, named after its version and its bytes; `current` and `previous` are
 * links, moved in one step, so that there is a whole program whenever the power goes.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { linkAtomic, syncFolder, writeAtomic } from "@edgecall/node/atomic-write.ts";
import { NODE_FLAGS } from "@edgecall/pi-agent/config/node-options.ts";
import { run } from "../programs.ts";
import { LAUNCH, TRIAL } from "./scripts.ts";

/** A program that does not say its version within this does not run here; a small Pi needs some seconds. */
const VERSION_WITHIN_MS = 60_000;
/** What the script `trial` takes for a trial that is still to begin. */
const NOT_BEGUN = "new\n";
const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

export class Releases {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The name of the version in use; undefined: nothing is installed. */
  current(): Promise<string | undefined> {
    return this.#linked("current");
  }

  previous(): Promise<string | undefined> {
    return this.#linked("previous");
  }

  /** Is a version on trial? */
  get onTrial(): boolean {
    return existsSync(join(this.#dir, "on-trial"));
  }

  /** … and not even started yet: whoever began it was ended before. */
  async isTrialToBegin(): Promise<boolean> {
    const mark = await readFile(join(this.#dir, "on-trial"), "utf8").catch(() => "");
    return mark === NOT_BEGUN;
  }

  /** The version that did not come online, from then until another one did. */
  async rolledBack(): Promise<string | undefined> {
    const text = await readFile(join(this.#dir, "rolled-back"), "utf8").catch(() => "");
    return text.trim() === "" ? undefined : basename(text.trim());
  }

  /** Writes what stands beside the versions. */
  async prepare(): Promise<void> {
    await mkdir(join(this.#dir, "versions"), { recursive: true, mode: 0o755 });
    await writeAtomic(join(this.#dir, "launch"), LAUNCH, { mode: 0o755 });
    await writeAtomic(join(this.#dir, "trial"), TRIAL, { mode: 0o755 });
  }

  /**
   * Puts a program beside the others, and tries whether it runs here at all.
   * @param node what runs it, if it is a bundle
   * @returns its name
   * @throws in words for a person
   */
  async add(program: Buffer, node: string): Promise<string> {
    const next = join(this.#dir, "versions", ".next");
    await rm(next, { recursive: true, force: true });
    await mkdir(next, { recursive: true, mode: 0o755 });
    try {
      if (program.subarray(0, ELF.length).equals(ELF))
        await writeAtomic(join(next, "edgecall"), program, { mode: 0o755 });
      else {
        await writeAtomic(join(next, "edgecall.cjs"), program, { mode: 0o644 });
        await writeAtomic(join(next, "edgecall"), starter(node), { mode: 0o755 });
      }
      const { code, out, err } = await run(join(next, "edgecall"), ["--version"], {
        within: VERSION_WITHIN_MS,
      });
      const version = /^edgecall (\S{1,32})$/.exec(out.trim())?.[1];
      if (code !== 0 || version === undefined) {
        throw new Error(
          `this program does not run here: ${(err || out).trim().slice(0, 500) || `exit code ${code}`}`,
        );
      }
      const name = `${version}-${createHash("sha256").update(program).digest("hex").slice(0, 12)}`;
      const path = join(this.#dir, "versions", name);
      // The same bytes are there already, whole, and perhaps in use: only how they are started may have changed.
      if (existsSync(path)) await rename(join(next, "edgecall"), join(path, "edgecall"));
      else await rename(next, path);
      await syncFolder(join(this.#dir, "versions"));
      return name;
    } finally {
      await rm(next, { recursive: true, force: true });
    }
  }

  /** Takes a version into use. @param onTrial it goes back by itself unless it comes online */
  async use(name: string, { onTrial }: { onTrial: boolean }): Promise<void> {
    const before = await this.current();
    if (before !== undefined && before !== name) await this.#link("previous", before);
    await rm(join(this.#dir, "rolled-back"), { force: true });
    // First: were it the other way round, a power cut in between would leave a new version that is not on trial.
    if (onTrial) await writeAtomic(join(this.#dir, "on-trial"), NOT_BEGUN, { mode: 0o644 });
    else await rm(join(this.#dir, "on-trial"), { force: true });
    await this.#link("current", name);
  }

  /** Takes away all but the version in use and the one before it. */
  async prune(): Promise<void> {
    const keep = [await this.current(), await this.previous()];
    const versions = join(this.#dir, "versions");
    for (const name of await readdir(versions)) {
      if (!keep.includes(name)) await rm(join(versions, name), { recursive: true, force: true });
    }
  }

  async #linked(name: string): Promise<string | undefined> {
    return basename(await readlink(join(this.#dir, name)).catch(() => "")) || undefined;
  }

  async #link(name: string, version: string): Promise<void> {
    await linkAtomic(join("versions", version), join(this.#dir, name));
  }
}

/** A bundle's program: Node by its full path, since a service's PATH may have none, or another one. */
function starter(node: string): string {
  const quoted = `'${node.replaceAll("'", "'\\''")}'`;
  return `#!/bin/sh\nexec ${[quoted, ...NODE_FLAGS].join(" ")} "$(dirname "$(readlink -f "$0")")/edgecall.cjs" "$@"\n`;
}
