/**
 * The versions of the program on this device: the one in use, the one before it, and the change from one to another. Each is
 * a folder with a program `edgecall`, named after its version and its bytes. `current` and `previous` are links that change
 * in one step, so that there is a whole program at any power cut.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, readlink, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { linkAtomic, syncFolder, writeAtomic } from "@edgecall/node/atomic-write.ts";
import { NODE_FLAGS } from "@edgecall/pi-agent/config/node-options.ts";
import { must, run } from "../programs.ts";
import { LAUNCH, TRIAL } from "./scripts.ts";

/** A program that does not print its version within this does not run here. A small Pi needs some seconds. */
const VERSION_WITHIN_MS = 60_000;
/** For the script `trial` this means a trial that has not begun. */
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

  /** True while a version is on trial. */
  get onTrial(): boolean {
    return existsSync(join(this.#dir, "on-trial"));
  }

  /** True if the version on trial was never started: the process that began the trial was ended before. */
  async isTrialToBegin(): Promise<boolean> {
    const mark = await readFile(join(this.#dir, "on-trial"), "utf8").catch(() => "");
    return mark === NOT_BEGUN;
  }

  /** The last version that did not come online; undefined once another one did. */
  async rolledBack(): Promise<string | undefined> {
    const text = await readFile(join(this.#dir, "rolled-back"), "utf8").catch(() => "");
    return text.trim() === "" ? undefined : basename(text.trim());
  }

  /** Writes the scripts beside the versions. */
  async prepare(): Promise<void> {
    await mkdir(join(this.#dir, "versions"), { recursive: true, mode: 0o755 });
    await writeAtomic(join(this.#dir, "launch"), LAUNCH, { mode: 0o755 });
    await writeAtomic(join(this.#dir, "trial"), TRIAL, { mode: 0o755 });
  }

  /**
   * Adds a program beside the others, and tries whether it runs here at all.
   * @param node runs the program if it is a bundle
   * @returns the release's name
   * @throws with a text for a person
   */
  add(program: Buffer, node: string): Promise<string> {
    return this.#add(node, program, async (next) => {
      if (program.subarray(0, ELF.length).equals(ELF))
        await writeAtomic(join(next, "edgecall"), program, { mode: 0o755 });
      else await writeAtomic(join(next, "edgecall.cjs"), program, { mode: 0o644 });
    });
  }

  /** The same for a whole folder, which holds `edgecall.cjs` and what that needs. @param marks the files that tell versions apart */
  async addFolder(folder: string, marks: readonly string[], node: string): Promise<string> {
    const bytes = Buffer.concat(await Promise.all(marks.map((name) => readFile(join(folder, name)))));
    return await this.#add(node, bytes, async (next) => {
      await cp(folder, next, { recursive: true });
      // Anybody may have unpacked it.
      await must("chown", "-R", "root:root", next);
      await must("chmod", "-R", "a+rX,go-w", next);
      // Else a power cut could leave a version of which parts are missing.
      await must("sync", "--file-system", next);
    });
  }

  /** @param bytes what the version's name is made of */
  async #add(node: string, bytes: Buffer, fill: (next: string) => Promise<void>): Promise<string> {
    const next = join(this.#dir, "versions", ".next");
    await rm(next, { recursive: true, force: true });
    await mkdir(next, { recursive: true, mode: 0o755 });
    try {
      await fill(next);
      if (!existsSync(join(next, "edgecall")))
        await writeAtomic(join(next, "edgecall"), starter(node), { mode: 0o755 });
      const { code, out, err } = await run(join(next, "edgecall"), ["--version"], {
        within: VERSION_WITHIN_MS,
      });
      const version = /^edgecall (\S{1,32})$/.exec(out.trim())?.[1];
      if (code !== 0 || version === undefined) {
        throw new Error(
          `this program does not run here: ${(err || out).trim().slice(0, 500) || `exit code ${code}`}`,
        );
      }
      const name = `${version}-${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}`;
      const path = join(this.#dir, "versions", name);
      // The same bytes exist already, whole, and perhaps in use. Only the way to start them may have changed.
      if (existsSync(path)) await rename(join(next, "edgecall"), join(path, "edgecall"));
      else await rename(next, path);
      await syncFolder(join(this.#dir, "versions"));
      return name;
    } finally {
      await rm(next, { recursive: true, force: true });
    }
  }

  /**
   * Takes a version into use.
   * @param how.onTrial true: the version before comes back unless this one comes online
   * @param how.state the service's state and the copy of what the version before wrote: it comes back with that version
   */
  async use(
    name: string,
    { onTrial, state }: { onTrial: boolean; state?: { place: string; copy: string } | undefined },
  ): Promise<void> {
    const before = await this.current();
    if (before !== undefined && before !== name) await this.#link("previous", before);
    await rm(join(this.#dir, "rolled-back"), { force: true });
    const stateCopy = join(this.#dir, "state-copy");
    if (onTrial && state) await writeAtomic(stateCopy, `${state.place}\n${state.copy}\n`, { mode: 0o644 });
    else await rm(stateCopy, { force: true });
    // The mark comes first: otherwise a power cut in between would leave a new version that is not on trial.
    if (onTrial) await writeAtomic(join(this.#dir, "on-trial"), NOT_BEGUN, { mode: 0o644 });
    else await rm(join(this.#dir, "on-trial"), { force: true });
    await this.#link("current", name);
  }

  /** Removes all but the version in use and the one before it. */
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

/** The script that runs a bundle. It has Node's full path, since a service's PATH may have no Node, or another one. */
function starter(node: string): string {
  const quoted = `'${node.replaceAll("'", "'\\''")}'`;
  return `#!/bin/sh\nexec ${[quoted, ...NODE_FLAGS].join(" ")} "$(dirname "$(readlink -f "$0")")/edgecall.cjs" "$@"\n`;
}
