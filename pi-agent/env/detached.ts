/**
 * Programs that outlive this process. A small shell supervises each one: it writes the output into files of bounded size, and the
 * exit code into another when the program ends. So any later process can follow the program, or read how it ended.
 *
 *   DIR/program.json   the supervisor's process, written before the program starts
 *   DIR/out, DIR/err   the first 16 MiB of each stream
 *   DIR/entered        what a sandbox's script says before the program starts
 *   DIR/exit           the exit code, as a shell tells it; renamed into place
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { type FSWatcher, readFileSync, watch } from "node:fs";
import { type FileHandle, mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { ExecError, type FollowOptions, LeftRunning, ProgramLost, type Ran } from "./environment.ts";
import { toShellExit } from "./exit-status.ts";
import { removeGroup } from "./process-group-limit.ts";
import { killTree, MARK_VARIABLE, type ProcessTree, startOf, treeOf } from "./process-tree.ts";
import { spawnFailed } from "./run-process.ts";

/** Most bytes that are kept of each stream. */
export const OUTPUT_MAX_BYTES = 16 * 1024 ** 2;
/** Names of the files with the output. */
export const OUTPUT_FILES = { stdout: "out", stderr: "err" } as const;
const PROGRAM_FILE = "program.json";

/**
 * It waits for a line, so that no program runs that is not recorded. `cat` is unbuffered; the kernel ends it at the bound of the
 * file, and the second one reads on, so that the program does not block. The shell would write "Killed" into the output. At the
 * end the whole group is killed: its clock, and what the program left running.
 */
const SUPERVISOR = `read -r go || exit
exec </dev/null
dir=$1
( sleep "$2"; kill -9 -$$ ) &
shift 2
kept() {
  ( ulimit -c 0; ulimit -f ${OUTPUT_MAX_BYTES / 512}; exec cat >"$dir/$1" ) 2>/dev/null
  cat >/dev/null
}
{
  {
    exec 2>/dev/null
    ( exec "$@" >&5 2>&6 3>"$dir/entered" 5>&- 6>&- )
    echo $? >"$dir/exit.next"
    mv "$dir/exit.next" "$dir/exit"
  } 6>&1 | kept err
} 5>&1 | kept out
kill -9 -$$`;

/** Time for the rest of the output after the program's end; its children may still write. */
const GRACE_MS = 1_000;
/** A watch of the folder may be missing or silent, so the files are read this often as well. */
const POLL_MS = 1_000;
/** A chatty program would wake this process at each line. */
const SHORTEST_POLL_MS = 50;
const CHUNK_BYTES = 64 * 1024;

export type HostCommand = {
  argv: readonly [string, ...string[]];
  cwd: string;
  /** The complete environment. */
  env: Readonly<Record<string, string>>;
  /** All of it is killed after this time, even if nothing follows it. */
  endAfterMs: number;
  /** The control group that the command joins; removed after its end. */
  group?: string;
};

const Program = z.looseObject({
  /** Ids of processes count within one boot of the system. */
  boot: z.string(),
  pid: z.int(),
  /** In clock ticks since boot. */
  started_at: z.number(),
  mark: z.string(),
  group: z.optional(z.string()),
});
type Program = z.infer<typeof Program>;

/** True where a process is recognised after a restart of this one: its id alone may belong to another by then. */
export function isDetachable(): boolean {
  return startOf(process.pid) !== undefined;
}

/** @throws ExecError `spawn_failed` or `io`; nothing runs then */
export async function startDetached(
  dir: string,
  { argv, cwd, env, endAfterMs, group }: HostCommand,
): Promise<void> {
  const mark = randomUUID();
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ExecError("io", `The job cannot be recorded: ${messageOf(error)}.`, { cause: error });
  }
  const child = supervisor([dir, String(endAfterMs / 1_000), ...argv], {
    cwd,
    env: { ...env, [MARK_VARIABLE]: mark },
  });
  const failure = new Promise<Error>((resolve) => child.once("error", resolve));
  child.on("error", () => {});
  if (child.pid === undefined) throw spawnFailed(argv[0], await failure);
  child.unref();
  // A supervisor that somebody killed has closed its end.
  child.stdin.on("error", () => {});
  const { root: pid, since: started_at } = treeOf(child.pid, mark);
  const program: Program = { boot: bootId(), pid, started_at, mark, ...(group !== undefined && { group }) };
  try {
    await writeAtomic(join(dir, PROGRAM_FILE), JSON.stringify(program));
  } catch (error) {
    child.stdin.destroy();
    throw new ExecError("io", `The job cannot be recorded: ${messageOf(error)}.`, { cause: error });
  }
  child.stdin.end("go\n");
}

function supervisor(args: readonly string[], place: Pick<HostCommand, "cwd" | "env">) {
  try {
    return spawn("/bin/sh", ["-c", SUPERVISOR, "sh", ...args], {
      ...place,
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
  } catch (error) {
    throw spawnFailed(args[2] ?? "", error);
  }
}

/** Returns the living processes of a folder's program; undefined when there are none. */
export async function treeOfDetached(dir: string): Promise<ProcessTree | undefined> {
  const program = await programOf(dir);
  return program && isOfThisBoot(program) ? treeOfProgram(program) : undefined;
}

/** Follows the program of a folder: see DetachedOps. @returns also what a sandbox's script reported */
export async function followDetached(
  dir: string,
  { signal, onOutput, onStarted }: FollowOptions,
): Promise<Ran & { entered: string }> {
  const program = await programOf(dir);
  if (!program) throw new ProgramLost("it was not started, or its record is damaged");
  const tree = treeOfProgram(program);
  const streams = (["stdout", "stderr"] as const).map(
    (name) => new GrowingFile(join(dir, OUTPUT_FILES[name]), (chunk) => onOutput?.(chunk, name)),
  );
  const output = async () => {
    for (const stream of streams) await stream.read();
  };
  const changes = new Changes(dir);
  if (isOfThisBoot(program)) onStarted?.(tree);
  let isLeft = false;
  try {
    for (;;) {
      // In this order: what is gone now has written its exit code before.
      const isThere = isRunning(program);
      const exitCode = await exitCodeOf(dir);
      await output();
      if (exitCode !== undefined) {
        await ended(program, output);
        const ran = toShellExit({ exitCode, signal: null, stopped: false });
        return { ...ran, entered: await textOf(join(dir, "entered")) };
      }
      if (!isThere) throw new ProgramLost("it is gone, and left no exit code");
      if (signal.aborted) {
        isLeft = signal.reason instanceof LeftRunning;
        if (isLeft) throw signal.reason;
        await killTree(tree);
        await output();
        return { exitCode: null, signal: "SIGKILL", stopped: true, entered: "" };
      }
      await changes.next(signal);
    }
  } finally {
    changes.close();
    for (const stream of streams) await stream.close();
    if (!isLeft) await clear(program, tree);
  }
}

/** Waits for the rest of the output, which processes that the program left running may hold back. */
async function ended(program: Program, output: () => Promise<void>): Promise<void> {
  const end = performance.now() + GRACE_MS;
  while (isRunning(program) && performance.now() < end) await delay(10);
  await output();
}

/** Ends what the program left running. */
async function clear(program: Program, tree: ProcessTree): Promise<void> {
  if (!isOfThisBoot(program)) return;
  await killTree(tree);
  if (program.group !== undefined) await removeGroup(program.group);
}

async function programOf(dir: string): Promise<Program | undefined> {
  const read = checkJson(Program, await textOf(join(dir, PROGRAM_FILE)));
  return read.ok ? read.value : undefined;
}

function treeOfProgram({ pid: root, mark, started_at: since }: Program): ProcessTree {
  return { root, mark, since };
}

function isOfThisBoot({ boot }: Program): boolean {
  return boot === bootId();
}

function isRunning(program: Program): boolean {
  return isOfThisBoot(program) && startOf(program.pid) === program.started_at;
}

export function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

async function exitCodeOf(dir: string): Promise<number | undefined> {
  const text = await textOf(join(dir, "exit"));
  return text === "" ? undefined : Number.parseInt(text, 10);
}

async function textOf(path: string): Promise<string> {
  return (await readFile(path, "utf8").catch(() => "")).trim();
}

/** Reads what a file has more than at the last time. */
class GrowingFile {
  readonly #path: string;
  readonly #onChunk: (chunk: Uint8Array) => void;
  #file: FileHandle | undefined;
  #offset = 0;

  constructor(path: string, onChunk: (chunk: Uint8Array) => void) {
    this.#path = path;
    this.#onChunk = onChunk;
  }

  async read(): Promise<void> {
    // The supervisor makes it.
    this.#file ??= await open(this.#path, "r").catch(() => undefined);
    if (!this.#file) return;
    for (;;) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await this.#file.read(buffer, 0, CHUNK_BYTES, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      this.#onChunk(buffer.subarray(0, bytesRead));
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

/** Waits for changes of a folder's files. */
class Changes {
  #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #wake = () => {};

  constructor(dir: string) {
    try {
      this.#watcher = watch(dir, () => {
        this.#hasChanged = true;
        this.#wake();
      });
      this.#watcher.on("error", () => {});
    } catch {
      // The system has no watches left: the poll alone finds changes.
    }
  }

  /** Resolves after a change, some time or an abort. */
  async next(signal: AbortSignal): Promise<void> {
    await within(SHORTEST_POLL_MS, signal, () => {});
    if (!this.#hasChanged && !signal.aborted)
      await within(POLL_MS, signal, (wake) => {
        this.#wake = wake;
      });
    this.#wake = () => {};
    this.#hasChanged = false;
  }

  close(): void {
    this.#watcher?.close();
  }
}

/** Resolves after `ms`, at an abort, or when `wake` is called. */
async function within(ms: number, signal: AbortSignal, arm: (wake: () => void) => void): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
    arm(done);
  });
}
