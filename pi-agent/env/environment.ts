/**
 * Where a tool's files and processes are. A tool asks its environment and nothing else, so that all it does
 * happens on one machine: this one, a sandbox on it, or another over ssh. A "remote" tool that quietly works
 * here would be the worst fault that a tool can have; contract-*.test.ts hold all environments to one behaviour.
 */

import type { Writable } from "node:stream";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import type { Target } from "@edgecall/core/tools/contract.ts";
import { AdvisedError } from "@edgecall/core/tools/contract.ts";
import type { ErrorCode } from "@edgecall/core/tools/errors.ts";
import type { ProcessTree } from "./process-tree.ts";

export type Environment = {
  /** Shown in results and the log: `local`, `sandbox`, or the name of a host. */
  readonly name: string;
  readonly kind: "local" | "sandbox" | "ssh";
  /** Absolute path, in this environment: relative paths start here, and nothing outside is written. */
  readonly cwd: string;
  readonly files: FileOps;
  readonly exec: ExecOps;
  /** Ends connections and what still runs. */
  close(): Promise<void>;
};

export type FileKind = "file" | "directory" | "link" | "other";

/** `mode` is the permission bits; `modifiedAt` in ms since 1970. */
export type FileInfo = { kind: FileKind; bytes: number; mode: number; modifiedAt: number };

export type DirEntry = { name: string; kind: FileKind };

/**
 * Files, confined to `cwd` and a list of further paths that may only be read. Paths are absolute or relative
 * to `cwd`; links are followed where they stay inside. Every method rejects with FileError and nothing else,
 * and with the signal's reason when it was aborted.
 */
export type FileOps = {
  /** Of what a link leads to; kind `link` only where it leads nowhere. */
  stat(path: string, options?: Signal): Promise<FileInfo>;
  /** Bytes from `offset` (0) on, at most `length` of them (all). Refuses what is not a regular file. */
  readFile(path: string, options?: Signal & { offset?: number; length?: number }): Promise<Uint8Array>;
  /** All or nothing: whoever reads meanwhile sees the old file or the new one. Keeps the mode of the old. */
  writeFile(path: string, bytes: Uint8Array, options?: Judged & { mode?: number }): Promise<void>;
  /** Sorted by name; links are not followed. */
  readDir(path: string, options?: Signal): Promise<DirEntry[]>;
  mkdirAll(path: string, options?: Judged): Promise<void>;
  /** A file, a link (not what it leads to) or an empty directory. */
  remove(path: string, options?: Judged): Promise<void>;
  /** Finds the file that a write to the path would change; the policy judges it before the write. */
  target(path: string, options?: Signal): Promise<Target>;
  /** The path without links, absolute: a key for locks. Of what is not there, as far as it is there. */
  canonical(path: string, access: "read" | "write", options?: Signal): Promise<string>;
};

type Signal = { signal?: AbortSignal };

/**
 * `judged` as `target` gave it: elsewhere nothing is written or deleted, and no folder is made but the one that the
 * file is to be in. Without it, nothing is written below `.git`.
 */
type Judged = Signal & { judged?: Target | undefined };

/** Why a file operation was refused or failed: what, of which path. */
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
   * Runs a program to its end, or until the signal: then its whole process tree is killed, and `run` resolves
   * all the same, with what became of it. stdin is empty unless given. The environment is made here from an
   * allow-list and `env`; this process's own is not handed on.
   *
   * @param argv the program and its arguments, never a line for a shell
   * @throws ExecError when it could not be started
   */
  run(argv: readonly [string, ...string[]], options: RunOptions): Promise<Ran>;
};

export type RunOptions = {
  /** Below `Environment.cwd`, or that itself. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  stdin?: Uint8Array;
  /** Takes the program's stdin instead, and keeps it open: for one that is spoken with. This machine's environments. */
  onStdin?(stdin: Writable): void;
  signal: AbortSignal;
  /** Output as it comes, in order of arrival; nothing is kept by `run` itself (see captured-output.ts). */
  onOutput?(chunk: Uint8Array, stream: "stdout" | "stderr"): void;
  /** It lives beyond one call, like a server that is spoken with: what it writes is no call's. */
  lasting?: boolean;
  /** Its processes, when they are there. This machine's environments. */
  onStarted?(tree: ProcessTree): void;
  /** What a sandbox leaves out unless it is granted; elsewhere of no effect. */
  grants?: { network?: boolean; devices?: readonly string[] };
};

/** `signal` when a signal ended it, e.g. `SIGKILL`; `stopped` when that was ours, at the abort. */
export type Ran = { exitCode: number | null; signal: string | null; stopped: boolean };

export class ExecError extends Error {
  override readonly name = "ExecError";
  readonly code: Extract<ErrorCode, "spawn_failed" | "cwd_missing" | "blocked" | "io">;
  /** The program is not there; otherwise the same call may work later, e.g. when there is memory for it. */
  readonly absent: boolean;

  constructor(code: ExecError["code"], message: string, options: ErrorOptions & { absent?: boolean } = {}) {
    super(message, options);
    this.code = code;
    this.absent = options.absent ?? false;
  }
}
