/**
 * Limits how much one run of a program may write into the workspace, and keeps a part of the disk free. The kernel limits the
 * size of a file but not of a folder, so the disk is checked while the program runs. The check is cheap: the files are read
 * only when the disk has lost as much as one run may write. A file does not show which run wrote it. So when several runs
 * are active, or others write to the same disk, the bytes written by the run's own processes decide.
 */
import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ExecOps, FollowOptions, Ran } from "./environment.ts";
import { type ProcessTree, writtenBy } from "./process-tree.ts";

export type WriteBounds = {
  /** Most bytes that one run may write. */
  callBytes: number;
  /** Bytes that stay free on the disk of the workspace. */
  freeBytes: number;
};

const EVERY_MS = 100;
/** Below the limit a program may still delete files, and write the little that this takes. */
const SLACK_BYTES = 16 * 1024 ** 2;
/** Deleted open files are in no folder, so a disk that lost this many times the limit also counts. */
const UNSEEN_FACTOR = 4;
/** The type of a file system in memory, for which the kernel counts no bytes as written to a disk. */
const TMPFS = 0x01021994;
/** Pause between checks, each of which reads all processes of the machine. */
const LOOK_AGAIN_MS = 500;
/** File times are coarser than our clock. */
const CLOCK_MS = 1_000;

export function boundedWrites(exec: ExecOps, workspace: string, bounds: WriteBounds): ExecOps {
  const { detached } = exec;
  return {
    async run(argv, options): Promise<Ran> {
      // A server that the agent talks to lives as long as the agent and belongs to no call.
      if (options.lasting) return await exec.run(argv, options);
      return await watched(workspace, bounds, options, (more) => exec.run(argv, { ...options, ...more }));
    },
    // A job that a later process follows is measured from then on.
    ...(detached && {
      detached: {
        ...detached,
        follow: (dir, options) =>
          watched(workspace, bounds, options, (more) => detached.follow(dir, { ...options, ...more })),
      },
    }),
  };
}

async function watched(
  workspace: string,
  bounds: WriteBounds,
  options: FollowOptions,
  run: (options: Pick<FollowOptions, "signal" | "onStarted">) => Promise<Ran>,
): Promise<Ran> {
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
    ran = await run({
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
  // It ended before the first check, but what it wrote must still be reported.
  why ??= await watch.problem();
  if (why === undefined) return ran;
  options.onOutput?.(Buffer.from(`\n[${why}]\n`), "stderr");
  return killed && !options.signal.aborted ? { exitCode: null, signal: "SIGKILL", stopped: false } : ran;
}

/** Active runs, whose files cannot be told apart. */
const UNDER_WAY = new Set<Watch>();

class Watch {
  readonly #workspace: string;
  readonly #bounds: WriteBounds;
  readonly #freeBefore: number;
  readonly #begunAt = Date.now() - CLOCK_MS;
  tree: ProcessTree | undefined;
  /** True if no other run was active since it began. */
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

  /** Checks repeatedly until `end`. @param onProblem called once, with the reason for stopping the program */
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
   * True if the run's own processes wrote more than `most`, since the owner, a package manager or another call may fill the
   * disk too.
   *
   * @param unknown the result where the system does not tell
   */
  async #wroteItself(most: number, unknown: boolean): Promise<boolean> {
    if (this.tree && performance.now() >= this.#lookAgainAt) {
      const { type } = await statfs(this.#workspace).catch(() => ({ type: 0 }));
      this.#itsBytes = writtenBy(this.tree, type === TMPFS ? "wchar" : "write_bytes");
      this.#lookAgainAt = performance.now() + LOOK_AGAIN_MS;
    }
    return this.#itsBytes === undefined ? unknown : this.#itsBytes > most;
  }

  /** Returns the bytes in files changed since the run began, by the inode's change time, which no program can set. */
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

/** Returns the bytes free for ordinary users on a folder's disk; Infinity where the disk does not tell. */
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
