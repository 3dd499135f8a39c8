/**
 * Bounds how much one run of a program may write into the workspace, and keeps a part of its disk free. The kernel bounds
 * the size of one file, not of a folder, so the disk is looked at while the program runs. That is cheap: only when it
 * has lost as much as one run may write, the files are looked at too. Nobody can tell by a file whose run wrote it: where
 * several runs are under way, or others write to the same disk, the run's own processes have to have written so much.
 */
import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ExecOps, Ran } from "./environment.ts";
import { type ProcessTree, writtenBy } from "./process-tree.ts";

export type WriteBounds = {
  /** One run may write so many bytes. */
  callBytes: number;
  /** So many bytes stay free on the disk of the workspace. */
  freeBytes: number;
};

const EVERY_MS = 100;
/** Below the floor a program may still delete, and write the little that this takes. */
const SLACK_BYTES = 16 * 1024 ** 2;
/** Files that were deleted while they are open stand in no folder: a disk that lost so many times the bound is enough. */
const UNSEEN_FACTOR = 4;
/** Of a disk that is memory, where the kernel counts nothing as written to a disk. */
const TMPFS = 0x01021994;
/** All processes of the machine are read for it. */
const LOOK_AGAIN_MS = 500;
/** Clocks of files are coarser than ours. */
const CLOCK_MS = 1_000;

export function boundedWrites(exec: ExecOps, workspace: string, bounds: WriteBounds): ExecOps {
  return {
    async run(argv, options): Promise<Ran> {
      // One that is spoken with lives as long as the agent: no call of it.
      if (options.lasting) return await exec.run(argv, options);
      const watch = new Watch(workspace, bounds, await freeOf(workspace));
      watch.begin();
      const stop = new AbortController();
      let why: string | undefined;
      const looking = watch.until(stop.signal, (problem) => {
        why = problem;
        stop.abort();
      });
      let ran: Ran;
      try {
        ran = await exec.run(argv, {
          ...options,
          signal: AbortSignal.any([options.signal, stop.signal]),
          onStarted: (tree) => {
            watch.tree = tree;
            options.onStarted?.(tree);
          },
        });
      } finally {
        stop.abort();
        await looking;
        watch.end();
      }
      const killed = why !== undefined;
      // Faster than anybody looks: what it wrote is there, and has to be said.
      why ??= await watch.problem();
      if (why === undefined) return ran;
      options.onOutput?.(Buffer.from(`\n[${why}]\n`), "stderr");
      return killed && !options.signal.aborted ? { exitCode: null, signal: "SIGKILL", stopped: false } : ran;
    },
  };
}

/** Runs that are under way, whose files nobody can tell apart. */
const UNDER_WAY = new Set<Watch>();

class Watch {
  readonly #workspace: string;
  readonly #bounds: WriteBounds;
  readonly #freeBefore: number;
  readonly #begunAt = Date.now() - CLOCK_MS;
  tree: ProcessTree | undefined;
  /** No other run was under way at any time since it began. */
  #isAlone = true;
  #itsBytes: number | undefined = 0;
  #lookAgainAt = 0;

  constructor(workspace: string, bounds: WriteBounds, freeBefore: number) {
    this.#workspace = workspace;
    this.#bounds = bounds;
    this.#freeBefore = freeBefore;
  }

  begin(): void {
    for (const other of UNDER_WAY)
      if (other.#workspace === this.#workspace) other.#isAlone = this.#isAlone = false;
    UNDER_WAY.add(this);
  }

  end(): void {
    UNDER_WAY.delete(this);
  }

  /** Looks now and then. @param onProblem called once, with the reason why the program is stopped */
  async until(end: AbortSignal, onProblem: (why: string) => void): Promise<void> {
    while (!end.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, EVERY_MS);
        function done() {
          clearTimeout(timer);
          end.removeEventListener("abort", done);
          resolve();
        }
        end.addEventListener("abort", done);
      });
      if (end.aborted) return;
      const problem = await this.problem();
      if (problem !== undefined && !end.aborted) onProblem(`${problem} It was stopped.`);
    }
  }

  async problem(): Promise<string | undefined> {
    const free = await freeOf(this.#workspace);
    const lost = this.#freeBefore - free;
    const { callBytes, freeBytes } = this.#bounds;
    if (
      free < freeBytes &&
      lost > SLACK_BYTES &&
      (this.#isAlone || (await this.#wroteItself(SLACK_BYTES, true)))
    )
      return `Only ${megabytes(free)} are free on the disk of the workspace, and ${megabytes(freeBytes)} of it are kept free (min_free_mb in [tools]).`;
    if (lost < callBytes) return undefined;
    const isUnseen = lost >= UNSEEN_FACTOR * callBytes;
    if (!this.#isAlone && !(await this.#wroteItself(callBytes, false))) return undefined;
    if ((await this.#written()) <= callBytes && !(isUnseen && (await this.#wroteItself(callBytes, true))))
      return undefined;
    return `It wrote over ${megabytes(callBytes)} into the workspace, the most that one call may (max_write_mb in [tools]). What it wrote is still there.`;
  }

  /**
   * Whether its own processes wrote more than that: the owner, a package manager or another call may fill the disk too.
   *
   * @param unknown the answer where the system does not tell
   */
  async #wroteItself(most: number, unknown: boolean): Promise<boolean> {
    if (this.tree && performance.now() >= this.#lookAgainAt) {
      const { type } = await statfs(this.#workspace).catch(() => ({ type: 0 }));
      this.#itsBytes = writtenBy(this.tree, type === TMPFS ? "wchar" : "write_bytes");
      this.#lookAgainAt = performance.now() + LOOK_AGAIN_MS;
    }
    return this.#itsBytes === undefined ? unknown : this.#itsBytes > most;
  }

  /** In files that were changed since the run began: their inode's own time, which no program can set. */
  async #written(folder = this.#workspace): Promise<number> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    let bytes = 0;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) bytes += await this.#written(path);
      else if (entry.isFile()) {
        const stats = await stat(path).catch(() => undefined);
        if (stats && stats.ctimeMs >= this.#begunAt) bytes += stats.blocks * 512;
      }
      if (bytes > this.#bounds.callBytes) break;
    }
    return bytes;
  }
}

/** On the disk of a folder, for whoever is not root; of a disk that does not tell, more than any bound. */
export async function freeOf(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return Number.MAX_SAFE_INTEGER;
  }
}

export function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 ** 2)} MB`;
}
