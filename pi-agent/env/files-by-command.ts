/**
 * Files of a place where only programs can run: a sandbox or another machine. Each operation is a script there
 * (file-scripts.ts) that confines itself, so check and use happen in the same place.
 */

import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Target } from "@edgecall/core/tools/contract.ts";
import {
  type DirEntry,
  ExecError,
  type ExecOps,
  FileError,
  type FileInfo,
  type FileKind,
  type FileOps,
  PERMISSIONS,
} from "./environment.ts";
import {
  type Access,
  absent,
  behindFile,
  changedMeanwhile,
  gitFolder,
  isFolder,
  notFolder,
  notRegular,
  outside,
  systemError,
} from "./file-errors.ts";
import { FILE_SCRIPT, SCRIPT_FAILURES, type ScriptFailure } from "./file-scripts.ts";

export type CommandPlace = {
  /** Absolute path there; the only folder that may be written. */
  cwd: string;
  /** Further files and folders that may be read. */
  readable: readonly string[];
};

/** Most output of a script, which is held in memory here. No tool needs more. */
const OUTPUT_MAX_BYTES = 256 * 1024 * 1024;
/** Time to remove what a stopped write left. */
const DISCARD_MS = 5_000;

type Operation = "canonical" | "stat" | "read" | "write" | "discard" | "list" | "mkdir" | "remove" | "target";
/** Operations that take the judged place as their last argument. */
const CHANGES: ReadonlySet<Operation> = new Set(["write", "mkdir", "remove"]);
type Script = {
  operation: Operation;
  path: string;
  access: Access;
  judged?: Target | undefined;
  more?: readonly string[];
  stdin?: Uint8Array;
  signal: AbortSignal | undefined;
};

export function filesByCommand(exec: ExecOps, place: CommandPlace): FileOps {
  const run = (script: Script) => runScript(exec, place, script);
  return {
    async stat(path, { signal } = {}) {
      return infoOf(text(await run({ operation: "stat", path, access: "read", signal })), path);
    },

    async readFile(path, { signal, offset = 0, length } = {}) {
      const part = [String(offset), length === undefined ? "all" : String(length)];
      return await run({ operation: "read", path, access: "read", more: part, signal });
    },

    async writeFile(path, bytes, { signal, mode, judged } = {}) {
      const temporary = `.edgecall-${randomBytes(6).toString("hex")}.tmp`;
      if (path.endsWith("/") && locate(place, path, "write") !== undefined) throw isFolder(path);
      const more = [
        temporary,
        mode === undefined ? "umask" : (mode & PERMISSIONS).toString(8),
        String(bytes.length),
      ];
      try {
        await run({ operation: "write", path, access: "write", judged, more, stdin: bytes, signal });
      } catch (error) {
        if (signal?.aborted) await discard(run, path, temporary);
        throw error;
      }
    },

    async readDir(path, { signal } = {}) {
      const names = text(await run({ operation: "list", path, access: "read", signal })).split("\0");
      return names
        .slice(0, -1)
        .map((entry): DirEntry => ({ name: entry.slice(1), kind: KINDS[entry.slice(0, 1)] ?? "other" }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async mkdirAll(path, { signal, judged } = {}) {
      await run({ operation: "mkdir", path, access: "write", judged, signal });
    },

    async remove(path, { signal, judged } = {}) {
      await run({ operation: "remove", path, access: "write", judged, signal });
    },

    async target(path, { signal } = {}) {
      const target = text(await run({ operation: "target", path, access: "write", signal }));
      return { path, real: target.slice(2), link: target[1] === "l", git: target[0] === "g" };
    },

    async canonical(path, access, { signal } = {}) {
      return text(await run({ operation: "canonical", path, access, signal }));
    },
  };
}

async function runScript(
  exec: ExecOps,
  place: CommandPlace,
  { operation, path, access, judged, more = [], stdin, signal }: Script,
): Promise<Uint8Array> {
  signal?.throwIfAborted();
  const where = locate(place, path, access);
  const slash = path.endsWith("/") ? "1" : "0";
  const roots = [place.cwd, String(place.readable.length), judged?.git ? "1" : "0", ...place.readable];
  // The path could not be resolved when it was judged, so it matches no place.
  const expected = CHANGES.has(operation) ? [judged ? judged.real || "nowhere" : ""] : [];
  const output = new Collected();
  const words = new Collected();
  const ran = await exec
    .run(["sh", "-c", FILE_SCRIPT, "sh", operation, where, access, slash, ...roots, ...more, ...expected], {
      // Its own signal, for callers that have none.
      signal: signal ?? new AbortController().signal,
      stdin: stdin ?? new Uint8Array(),
      onOutput: (chunk, stream) => (stream === "stdout" ? output : words).add(chunk),
    })
    .catch((error: unknown) => {
      throw error instanceof ExecError
        ? new FileError("io", `'${path}' cannot be reached: ${error.message}`, { cause: error })
        : error;
    });
  if (ran.stopped) {
    signal?.throwIfAborted();
    throw new FileError("io", `'${path}': the operation was stopped.`);
  }
  if (ran.exitCode !== 0)
    throw failure(ran.exitCode, { path, access, place, errorText: text(words.bytes()) });
  if (output.total > OUTPUT_MAX_BYTES)
    throw new FileError("too_large", `'${path}' has more than ${OUTPUT_MAX_BYTES} bytes; read it in parts.`);
  return output.bytes();
}

/** Returns the absolute path as named, links included. @throws FileError for an invalid path */
function locate(place: CommandPlace, path: string, access: Access): string {
  if (path === "")
    throw new FileError("invalid_params", {
      text: "The path is empty.",
      advice: "Use '.' for the workspace.",
    });
  if (path.includes("\0")) throw outside(path, access, place.readable);
  const plain = posix.resolve(place.cwd, path);
  return plain;
}

function failure(
  exitCode: number | null,
  {
    path,
    access,
    place,
    errorText,
  }: { path: string; access: Access; place: CommandPlace; errorText: string },
): FileError {
  const known: Record<number, ScriptFailure | undefined> = SCRIPT_FAILURES;
  switch (exitCode === null ? undefined : known[exitCode]) {
    case "absent":
      return absent(path);
    case "behind-file":
      return behindFile(path);
    case "is-folder":
      return isFolder(path);
    case "not-folder":
      return notFolder(path);
    case "not-regular":
      return notRegular(path);
    case "outside":
      return outside(path, access, access === "read" ? place.readable : []);
    case "git":
      return gitFolder(path);
    case "denied":
      return asSystem("EACCES", path, access, errorText);
    case "not-empty":
      return asSystem("ENOTEMPTY", path, access, errorText);
    case "changed":
      return changedMeanwhile(path);
    case "too-many-links":
      return asSystem("ELOOP", path, access, errorText);
    case "incomplete":
      return asSystem(/No space left|quota/i.test(errorText) ? "ENOSPC" : "EIO", path, access, errorText);
    case undefined:
      return asSystem("EIO", path, access, `exit code ${exitCode}: ${errorText}`);
  }
}

/** Converts the failure to the same error as on this machine. */
function asSystem(code: string, path: string, access: Access, errorText: string): FileError {
  return systemError(Object.assign(new Error(cutText(errorText, 500)), { code }), path, access);
}

/** Removes the temporary file that a stopped write may have left. */
async function discard(run: (script: Script) => Promise<unknown>, path: string, name: string): Promise<void> {
  const signal = AbortSignal.timeout(DISCARD_MS);
  // Best effort: the place may be unreachable, which may be why the write was stopped.
  await run({ operation: "discard", path, access: "write", more: [name], signal }).catch(() => {});
}

const KINDS: Readonly<Record<string, FileKind>> = { f: "file", d: "directory", l: "link", o: "other" };

/** Parses `stat -c '%f %s %Y %y'`: mode in hex, bytes, seconds since 1970, and the same time as text with its fraction. */
function infoOf(line: string, path: string): FileInfo {
  const match = /^([0-9a-f]+) (\d+) (-?\d+) \S+ [\d:]+(\.\d{1,9})?/.exec(line);
  if (!match) throw new FileError("io", `'${path}' cannot be looked at: 'stat' answered something else.`);
  const [, mode = "0", bytes, seconds, fraction = "0"] = match;
  const bits = Number.parseInt(mode, 16);
  return {
    kind: kindOf(bits),
    bytes: Number(bytes),
    mode: bits & 0o7777,
    modifiedAt: Math.round((Number(seconds) + Number(fraction)) * 1_000),
  };
}

/** Returns the kind of a stat(2) mode. */
function kindOf(mode: number): FileKind {
  const type = mode & 0o170000;
  if (type === 0o100000) return "file";
  if (type === 0o040000) return "directory";
  return type === 0o120000 ? "link" : "other";
}

class Collected {
  #chunks: Uint8Array[] = [];
  total = 0;

  add(chunk: Uint8Array): void {
    this.total += chunk.length;
    if (this.total <= OUTPUT_MAX_BYTES) this.#chunks.push(chunk);
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
