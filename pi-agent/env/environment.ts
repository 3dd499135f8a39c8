/**
 * The place of a tool's files and processes: this machine, a sandbox on it, or another machine over ssh or HTTP. A tool uses its
 * environment alone, so that everything it does happens on one machine. A "remote" tool that silently works here would be the
 * worst possible fault. contract-*.test.ts hold all environments to the same behaviour.
 */

import type { Writable } from "node:stream";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import type { Target } from "@edgecall/core/tools/contract.ts";
import { AdvisedError } from "@edgecall/core/tools/contract.ts";
import type { ErrorCode } from "@edgecall/core/tools/errors.ts";
import type { ProcessTree } from "./process-tree.ts";

export type Environment = {
  /** Shown in results and the log: `local`, `sandbox`, or a host's name. */
  readonly name: string;
  readonly kind: "local" | "sandbox" | "ssh" | "http";
  /** Absolute path in this environment. Relative paths start here, and nothing outside is written. */
  readonly cwd: string;
  readonly files: FileOps;
  readonly exec: ExecOps;
  /** Ends connections and running programs. */
  close(): Promise<void>;
};

export type FileKind = "file" | "directory" | "link" | "other";

/** The bits of a mode that a new file may get: neither set-uid, set-gid nor sticky. */
export const PERMISSIONS = 0o777;

/** `mode` is the permission bits; `modifiedAt` in ms since 1970. */
export type FileInfo = { kind: FileKind; bytes: number; mode: number; modifiedAt: number };

export type DirEntry = { name: string; kind: FileKind };

/**
 * Files, confined to `cwd` and further paths that may only be read. Paths are absolute or relative to `cwd`; links are followed
 * while they stay inside. Every method rejects only with FileError, or with the signal's reason when it was aborted.
 */
export type FileOps = {
  /** Describes the target of a link; kind `link` only for a dangling one. */
  stat(path: string, options?: Signal): Promise<FileInfo>;
  /** Reads at most `length` bytes (default all) from `offset` (default 0). Refuses anything but a regular file. */
  readFile(path: string, options?: Signal & { offset?: number; length?: number }): Promise<Uint8Array>;
  /** Writes atomically: a reader sees the old file or the new one. Keeps the mode of the old file. */
  writeFile(path: string, bytes: Uint8Array, options?: Judged & { mode?: number }): Promise<void>;
  /** Sorted by name; links are not followed. */
  readDir(path: string, options?: Signal): Promise<DirEntry[]>;
  mkdirAll(path: string, options?: Judged): Promise<void>;
  /** Removes a file, a link (not its target) or an empty directory. */
  remove(path: string, options?: Judged): Promise<void>;
  /** Finds the file that a write to the path would change; the policy judges it before the write. */
  target(path: string, options?: Signal): Promise<Target>;
  /** Returns the absolute path without links, as far as it exists; a key for locks. */
  canonical(path: string, access: "read" | "write", options?: Signal): Promise<string>;
};

type Signal = { signal?: AbortSignal };

/**
 * `judged` is the result of `target`. Nothing is written or deleted elsewhere, and only the file's own folder is created.
 * Without it, nothing is written below `.git`.
 */
type Judged = Signal & { judged?: Target | undefined };

/** A file operation was refused or failed. It has the path. */
export class FileError extends AdvisedError {
  override readonly name = "FileError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, words: string | Advised, options?: ErrorOptions) {
    super(words, options);
    this.code = code;
  }
}

export type ExecOps = {
  /**
   * Runs a program to its end or until the signal. On the signal its whole process tree is killed, and `run` still resolves.
   * stdin is empty unless given. The environment is made from an allow-list and `env`, without this process's own variables.
   * @param argv the program and its arguments, never a shell line
   * @throws ExecError when it could not be started
   */
  run(argv: readonly [string, ...string[]], options: RunOptions): Promise<Ran>;
  /** Absent where programs end with this process or with its connection. */
  readonly detached?: DetachedOps;
};

/** Programs that go on when this process ends. Each has a folder of its own on this device, outside of the workspace. */
export type DetachedOps = {
  /**
   * Starts a program, and returns when it is recorded in its folder. It runs until its end or until `follow` stops it.
   * @param options.dir absolute; without another program
   * @param options.endAfterMs it is killed then, even if nothing follows it. `follow` calls it lost
   * @throws ExecError when it could not be started
   */
  start(
    argv: readonly [string, ...string[]],
    options: Pick<RunOptions, "cwd" | "env" | "grants"> & { dir: string; endAfterMs: number },
  ): Promise<void>;
  /**
   * Follows the program of a folder to its end, from the first byte of its output, as `run` does. Also works in a later process.
   * On the signal its whole tree is killed, except with the reason LeftRunning, with which `follow` rejects.
   * @throws ProgramLost when nobody knows how it ended
   * @throws ExecError when it could not be started
   */
  follow(dir: string, options: FollowOptions): Promise<Ran>;
};

export type FollowOptions = Pick<RunOptions, "signal" | "onOutput" | "onStarted">;

/** The reason of an abort that leaves a detached program running, because this process ends and a later one follows it. */
export class LeftRunning extends Error {
  override readonly name = "LeftRunning";
}

/** A detached program is gone and its exit code is not known: the device was restarted, or somebody killed its supervisor. */
export class ProgramLost extends Error {
  override readonly name = "ProgramLost";
}

export type RunOptions = {
  /** `Environment.cwd` or a folder below it. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  stdin?: Uint8Array;
  /** Gets the program's stdin, which stays open, to talk with the program. Only on this machine. */
  onStdin?(stdin: Writable): void;
  signal: AbortSignal;
  /** Gets output in order of arrival; `run` itself keeps nothing (see captured-output.ts). */
  onOutput?(chunk: Uint8Array, stream: "stdout" | "stderr"): void;
  /** The program outlives one call, such as a server. What it writes belongs to no call. */
  lasting?: boolean;
  /** Called with its processes once they exist. Only on this machine. */
  onStarted?(tree: ProcessTree): void;
  /** Access that a sandbox gives only when granted; no effect elsewhere. */
  grants?: { network?: boolean; devices?: readonly string[] };
};

/** `signal`: the signal that ended it, e.g. `SIGKILL`; `stopped`: whether we sent it, at the abort. */
export type Ran = { exitCode: number | null; signal: string | null; stopped: boolean };

/** Why a sandbox or another machine did not start a program. */
export type NotStarted = "no-cwd" | "outside" | "no-program";

export function notStarted(why: NotStarted, cwd: string, program: string): ExecError {
  if (why === "no-cwd") return new ExecError("cwd_missing", `The working directory '${cwd}' is not there.`);
  if (why === "outside")
    return new ExecError("blocked", `The working directory '${cwd}' is outside the workspace.`);
  return new ExecError("spawn_failed", `'${program}' could not be started: there is no such program.`, {
    absent: true,
  });
}

export class ExecError extends Error {
  override readonly name = "ExecError";
  readonly code: Extract<ErrorCode, "spawn_failed" | "cwd_missing" | "blocked" | "io">;
  /** True if the program is missing. Otherwise the same call may work later, e.g. with more free memory. */
  readonly absent: boolean;

  constructor(code: ExecError["code"], message: string, options: ErrorOptions & { absent?: boolean } = {}) {
    super(message, options);
    this.code = code;
    this.absent = options.absent ?? false;
  }
}
