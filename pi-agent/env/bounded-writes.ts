/**
 * Limits how much one run of a program may write into the workspace, and keeps a part of the disk free. The kernel limits the
 * size of a file but not of a folder, so the disk is checked while the program runs. The check is cheap: the files are read
 * only when the disk has lost as much as one run may write. A file does not show which run wrote it. So when several runs
 * are active, or others write to the same disk, the bytes written by the run's own processes decide.
 */
import { lstat, readdir, statfs } from "node:fs/promises";
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
  /** The most that was free: what others free meanwhile is not this run's to fill. */
  #mostFree: number;
  readonly #begunAt = Date.now() - CLOCK_MS;
  tree: ProcessTree | undefined;
  /** True if no other run was active since it began. */
  #isAlone = true;
  #itsBytes: number | undefined = 0;
  #lookAgainAt = 0;

  constructor(workspace: string, bounds: WriteBounds, freeBefore: number) {
    this.#workspace = workspace;
    this.#bounds = bounds;
    this.#mostFree = freeBefore;
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
    this.#mostFree = Math.max(this.#mostFree, free);
    const lost = this.#mostFree - free;
    const { callBytes, freeBytes } = this.#bounds;
    if (
      free < freeBytes &&
      lost > SLACK_BYTES &&
      (this.#isAlone || (await this.#wroteItself(SLACK_BYTES, true)))
    )
      return `Only ${megabytes(free)} are free on the disk of the workspace, and ${megabytes(freeBytes)} of it are kept free (min_free_mb in [tools]).`;
    const wroteMuch = await this.#wroteItself(callBytes, false);
    // Another program may free as much as this one takes, so its own bytes count too. What it hides is measured by the disk alone.
    const isSuspect = lost >= callBytes ? this.#isAlone || wroteMuch : wroteMuch && !this.#isHidden;
    if (!isSuspect) return undefined;
    const { bytes, isWhole } = await this.#written();
    const isUnseen = !isWhole || lost >= UNSEEN_FACTOR * callBytes;
    // Not every file system counts folders as written by a program. What cannot be read is judged by what the disk lost.
    const isLost = !isWhole && this.#isAlone && lost >= callBytes;
    const isOver = isUnseen && (isLost || (await this.#wroteItself(callBytes, true)));
    if (bytes <= callBytes && !isOver) return undefined;
    return `It wrote over ${megabytes(callBytes)} into the workspace, the most that one call may (max_write_mb in [tools]). What it wrote is still there.`;
  }

  /** True if a program of the run does not show what it wrote. */
  get #isHidden(): boolean {
    return this.#itsBytes === Number.POSITIVE_INFINITY;
  }

  /**
   * True if the run's own processes wrote more than `most`, since the owner, a package manager or another call may fill the
   * disk too.
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

  /**
   * Returns the bytes of what changed since the run began, by the inode's change time, which no program can set. Folders, links and
   * attributes take space as well, and a name need not be text. `isWhole` is false if a part could not be read, such as one below a path
   * that is too long.
   */
  async #written(): Promise<{ bytes: number; isWhole: boolean }> {
    const folders = [Buffer.from(this.#workspace)];
    let bytes = 0;
    let isWhole = true;
    const count = async (path: Buffer) => {
      try {
        const stats = await lstat(path);
        if (stats.ctimeMs >= this.#begunAt) bytes += stats.blocks * 512;
      } catch (error) {
        isWhole &&= isGone(error);
      }
    };
    for (let folder = folders.pop(); folder && bytes <= this.#bounds.callBytes; folder = folders.pop()) {
      await count(folder);
      try {
        for (const entry of await readdir(folder, { withFileTypes: true, encoding: "buffer" })) {
          const path = Buffer.concat([folder, SLASH, entry.name]);
          if (entry.isDirectory()) folders.push(path);
          else await count(path);
          if (bytes > this.#bounds.callBytes) break;
        }
      } catch (error) {
        isWhole &&= isGone(error);
      }
    }
    return { bytes, isWhole };
  }
}

const SLASH = Buffer.from("/");

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
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
