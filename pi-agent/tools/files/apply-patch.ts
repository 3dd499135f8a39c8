import { dirname } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { type Environment, FileError, type FileOps } from "../../env/environment.ts";
import { orFault } from "./file-fault.ts";
import { writeLock } from "./file-lock.ts";
import { asJudged, targetsOf } from "./file-path.ts";
import { readText } from "./file-text.ts";
import { type FileChange, PATCH_MAX_FILES, parsePatch } from "./patch-format.ts";
import { applyHunks } from "./patch-hunks.ts";
import { fileDiff } from "./text-diff.ts";
import { applyDiff } from "./unified-diff.ts";

const PATCH_MAX_CHARS = 1024 * 1024;
/** The longest time-out of the file tools: a patch may sync a hundred files to an SD card or send them over ssh. */
const PATCH_TIMEOUT_MS = 30_000;

export function applyPatch(environment: Pick<Environment, "name" | "files">): Tool {
  const { files } = environment;
  return defineTool({
    name: "apply_patch",
    description: `Change up to ${PATCH_MAX_FILES} files of this device's workspace folder by one patch; all of it is done or none. A unified diff (git diff, with three unchanged lines around each change), or *** Begin Patch, then for each file *** Add File: PATH (+lines), *** Delete File: PATH or *** Update File: PATH (optional *** Move to: PATH; places as @@ and lines that begin with a blank, - or +), then *** End Patch.`,
    input: z.strictObject({
      patch: z
        .string()
        .check(z.minLength(1), z.maxLength(PATCH_MAX_CHARS), z.describe("The patch; its paths are relative")),
    }),
    effect: "write",
    permission: "file_write",
    idempotent: false,
    timeoutMs: PATCH_TIMEOUT_MS,
    maxTimeoutMs: PATCH_TIMEOUT_MS,
    lock: () => writeLock(environment),
    targets: ({ patch }, signal) => targetsOf(files, pathsOf(patch), signal),
    async execute({ patch }, context): Promise<ToolResult> {
      return await orFault(async () => {
        const plan = new Plan(files, context);
        for (const change of parsePatch(patch)) await plan.add(change);
        await plan.carryOut();
        return resultOf(plan.changed());
      });
    },
  });
}

/** Returns no paths for an unreadable patch, which fails with its own error later. */
function pathsOf(patch: string): string[] {
  try {
    return parsePatch(patch).flatMap((change) =>
      "moveTo" in change && change.moveTo !== undefined ? [change.path, change.moveTo] : [change.path],
    );
  } catch {
    return [];
  }
}

/** A file before and after the patch; undefined where it does not exist. */
type Planned = {
  path: string;
  before: string | undefined;
  after: string | undefined;
  /** The mode of the file that this one is made from. */
  mode: number | undefined;
};

/** Computes all changes in memory, and makes the first one only when all are possible. */
class Plan {
  readonly #files: FileOps;
  readonly #signal: AbortSignal;
  readonly #context: Pick<ToolContext, "targets" | "signal">;
  /** Keyed by the path without links, since a patch may name a file twice. */
  readonly #planned = new Map<string, Planned>();

  constructor(files: FileOps, context: Pick<ToolContext, "targets" | "signal">) {
    this.#files = files;
    this.#context = context;
    this.#signal = context.signal;
  }

  async add(change: FileChange): Promise<void> {
    const file = await this.#fileOf(change.path);
    if (change.op === "add") {
      if (file.after !== undefined) throw exists(change.path);
      file.after = change.content;
      if (change.mode !== undefined) file.mode = change.mode;
      return;
    }
    if (file.after === undefined)
      throw new FileError("not_found", `There is no '${change.path}'. Nothing was changed.`);
    if (change.op === "delete") {
      file.after = undefined;
      return;
    }
    if (change.op === "remove") {
      if (applyDiff(change.path, file.after, change.hunks) !== "")
        throw new FileError(
          "no_match",
          `'${change.path}' has more than the lines that the patch takes away. Nothing was changed.`,
        );
      file.after = undefined;
      return;
    }
    const after =
      change.op === "diff"
        ? applyDiff(change.path, file.after, change.hunks)
        : applyHunks(change.path, file.after, change.hunks);
    if (change.moveTo === undefined) {
      file.after = after;
      return;
    }
    const target = await this.#fileOf(change.moveTo);
    if (target !== file && target.after !== undefined) throw exists(change.moveTo);
    file.after = undefined;
    target.after = after;
    target.mode = file.mode;
  }

  async #fileOf(path: string): Promise<Planned> {
    const signal = this.#signal;
    const key = await this.#files.canonical(path, "write", { signal });
    const known = this.#planned.get(key);
    if (known) return known;
    const info = await this.#files.stat(path, { signal }).catch((error: unknown) => {
      if (!(error instanceof FileError) || error.code !== "not_found") throw error;
      return undefined;
    });
    const there = info && info.kind !== "link";
    const before = there ? await readText(this.#files, path, signal) : undefined;
    const file: Planned = { path, before, after: before, mode: info?.mode };
    this.#planned.set(key, file);
    return file;
  }

  changed(): Planned[] {
    return [...this.#planned.values()].filter(({ before, after }) => before !== after);
  }

  /** Writes before it deletes, so that a moved file exists at any time. */
  async carryOut(): Promise<void> {
    const changed = this.changed();
    if (changed.length === 0)
      throw new FileError("no_change", "The patch changes nothing: the files are already as it wants them.");
    const inOrder = [
      ...changed.filter(({ after }) => after !== undefined),
      ...changed.filter(({ after }) => after === undefined),
    ];
    const done: Planned[] = [];
    try {
      for (const file of inOrder) {
        // Includes the write that fails, which may have changed the file.
        done.push(file);
        await this.#put(file, file.after, this.#signal);
      }
    } catch (error) {
      // A refused file is unchanged, and restoring it would be refused too.
      if (error instanceof FileError && error.code === "access_denied") done.pop();
      await this.#undo(done.reverse(), error);
      throw error;
    }
  }

  async #put(file: Planned, content: string | undefined, signal?: AbortSignal): Promise<void> {
    const { judged } = asJudged(this.#context, file.path);
    const options = { judged, ...(signal && { signal }) };
    if (content === undefined) {
      await this.#files.remove(file.path, options);
      return;
    }
    if (file.before === undefined) await this.#files.mkdirAll(dirname(file.path), options);
    const mode = file.mode === undefined ? {} : { mode: file.mode };
    await this.#files.writeFile(file.path, new TextEncoder().encode(content), { ...options, ...mode });
  }

  /** Ignores the signal, because an abort is one of the reasons to undo. */
  async #undo(done: readonly Planned[], cause: unknown): Promise<void> {
    const lost: string[] = [];
    for (const file of done) {
      await this.#put(file, file.before).catch((error: unknown) => {
        const gone = error instanceof FileError && error.code === "not_found";
        if (!(gone && file.before === undefined)) lost.push(file.path);
      });
    }
    if (lost.length === 0) return;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new FileError(
      "io",
      {
        text: `The patch failed half-way (${why}), and ${lost.join(", ")} could not be put back.`,
        advice: "Read these files before anything else, and tell the user.",
      },
      { cause },
    );
  }
}

function exists(path: string): FileError {
  return new FileError("exists", {
    text: `'${path}' is there already. Nothing was changed.`,
    advice: "Use *** Update File, or *** Delete File before it.",
  });
}

function resultOf(changed: readonly Planned[]): ToolResult {
  const lines = changed.map(({ path, before, after }) => {
    const mark = before === undefined ? "A" : after === undefined ? "D" : "M";
    return `${mark} ${path}`;
  });
  const diffs = changed.flatMap(
    ({ path, before, after }) => fileDiff(path, before ?? "", after ?? "")?.text ?? [],
  );
  const text = `Done:\n${lines.join("\n")}`;
  return {
    content: [{ type: "text", text }],
    forUser: [text, ...diffs].join("\n"),
    details: { files: changed.map(({ path }) => path) },
  };
}
