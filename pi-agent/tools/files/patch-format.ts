/**
 * Parses patches: unified diffs (unified-diff.ts), and the format of codex:
 *
 *     *** Begin Patch
 *     *** Add File: a.txt
 *     +its lines
 *     *** Delete File: b.txt
 *     *** Update File: c.txt
 *     *** Move to: d.txt
 *     @@ a line above the place, when the lines alone are not unique
 *      a line that stays
 *     -a line that goes
 *     +a line that comes
 *     *** End of File
 *     *** End Patch
 */
import { FileError } from "../../env/environment.ts";
import { type DiffChange, isUnifiedDiff, parseUnifiedDiff, wrong } from "./unified-diff.ts";

/** `old`: the present lines; `now`: their replacement. `from` is the index in `old` of a context line. */
export type Hunk = {
  /** A line somewhere above the hunk. */
  after: string | undefined;
  old: string[];
  now: Array<{ line: string; from: number | undefined }>;
  atEnd: boolean;
};

export type FileChange =
  | DiffChange
  | { op: "delete"; path: string }
  | { op: "update"; path: string; moveTo: string | undefined; hunks: Hunk[] };

export const PATCH_MAX_FILES = 100;

const LINE_NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;
const HEADER = /^\*\*\* (Add File|Delete File|Update File): (.+)$/;

/** Parses either format. @throws FileError `invalid_params`, naming the line */
export function parsePatch(patch: string): FileChange[] {
  const isDiff = !/^\s*\*\*\* Begin Patch/.test(patch) && isUnifiedDiff(patch);
  const changes = isDiff ? parseUnifiedDiff(patch) : parseMarked(patch);
  for (const change of changes) {
    checkPath(change.path);
    if ("moveTo" in change && change.moveTo !== undefined) checkPath(change.moveTo);
  }
  if (changes.length === 0) throw new FileError("invalid_params", "The patch is empty: it changes no file.");
  if (changes.length > PATCH_MAX_FILES)
    throw new FileError(
      "invalid_params",
      `The patch changes ${changes.length} files; ${PATCH_MAX_FILES} at most.`,
    );
  return changes;
}

function parseMarked(patch: string): FileChange[] {
  const lines = patch.trim().split(/\r?\n/);
  // Models sometimes add blanks around the markers, which never have a meaning.
  if (lines[0]?.trim() !== "*** Begin Patch")
    throw wrong(
      1,
      "it is no unified diff (--- and +++ before each file), so the first line has to be *** Begin Patch",
    );
  if (lines.at(-1)?.trim() !== "*** End Patch")
    throw wrong(lines.length, "the last line has to be *** End Patch");
  const reader = new Reader(lines.slice(0, -1), 1);
  const changes: FileChange[] = [];
  while (reader.line !== undefined) {
    if (reader.line.trim() === "") {
      reader.next();
      continue;
    }
    changes.push(readChange(reader));
  }
  return changes;
}

class Reader {
  readonly #lines: readonly string[];
  #at: number;

  constructor(lines: readonly string[], at: number) {
    this.#lines = lines;
    this.#at = at;
  }

  get line(): string | undefined {
    return this.#lines[this.#at];
  }

  /** The line's number, from 1. */
  get number(): number {
    return this.#at + 1;
  }

  next(): void {
    this.#at += 1;
  }

  /** The line, or undefined when it begins another change. */
  get body(): string | undefined {
    return this.line !== undefined && HEADER.test(this.line.trim()) ? undefined : this.line;
  }
}

function readChange(reader: Reader): FileChange {
  const [, op, path] = HEADER.exec(reader.line?.trim() ?? "") ?? [];
  if (op === undefined || path === undefined) {
    throw wrong(
      reader.number,
      `'${reader.line?.slice(0, 80)}' is none of *** Add File: PATH, *** Delete File: PATH, *** Update File: PATH`,
    );
  }
  reader.next();
  if (op === "Delete File") return { op: "delete", path };
  if (op === "Add File") return { op: "add", path, content: readAdded(reader) };
  return readUpdate(reader, path);
}

/** Refuses absolute paths, which were written for another machine. */
function checkPath(path: string): void {
  if (path.startsWith("/") || path.startsWith("~"))
    throw new FileError(
      "blocked",
      `'${path}' in the patch has to be relative to the workspace. Nothing was changed.`,
    );
}

function readAdded(reader: Reader): string {
  let content = "";
  for (; reader.body !== undefined; reader.next()) {
    if (reader.body.startsWith("+")) content += `${reader.body.slice(1)}\n`;
    else if (reader.body.trim() !== "")
      throw wrong(reader.number, "each line of an added file begins with +");
  }
  return content;
}

function readUpdate(reader: Reader, path: string): FileChange {
  let moveTo: string | undefined;
  const [, target] = /^\*\*\* Move to: (.+)$/.exec(reader.body?.trim() ?? "") ?? [];
  if (target !== undefined) {
    moveTo = target;
    reader.next();
  }
  const hunks: Hunk[] = [];
  while (reader.body !== undefined) {
    if (reader.body.trim() === "" && hunks.length > 0 && isLastBlank(reader)) break;
    hunks.push(readHunk(reader, hunks.length === 0));
  }
  if (hunks.length === 0 && moveTo === undefined)
    throw wrong(reader.number, `the update of '${path}' has no lines to change`);
  return { op: "update", path, moveTo, hunks };
}

/** A blank line before the next change or the end does not belong to a hunk. */
function isLastBlank(reader: Reader): boolean {
  while (reader.body !== undefined && reader.body.trim() === "") reader.next();
  return reader.body === undefined;
}

function readHunk(reader: Reader, first: boolean): Hunk {
  const hunk: Hunk = { after: undefined, old: [], now: [], atEnd: false };
  const [marked, after] = /^@@(?: (.*))?$/.exec(reader.body ?? "") ?? [];
  if (marked !== undefined) {
    // Some models add line numbers, which have no meaning in this format.
    hunk.after = after?.trim() && !LINE_NUMBERS.test(after) ? after : undefined;
    reader.next();
  } else if (!first) {
    throw wrong(reader.number, "each further place of a file begins with @@");
  }
  const begun = reader.number;
  for (; reader.body !== undefined && !/^@@(?: |$)/.test(reader.body); reader.next()) {
    if (reader.body.trim() === "*** End of File") {
      hunk.atEnd = true;
      reader.next();
      break;
    }
    addLine(hunk, reader);
  }
  if (hunk.old.length === 0 && hunk.now.length === 0) throw wrong(begun, "there are no lines here");
  return hunk;
}

function addLine({ old, now }: Hunk, reader: Reader): void {
  const line = reader.body ?? "";
  const [mark, text] = [line.charAt(0), line.slice(1)];
  switch (mark) {
    // Models omit the leading blank of an empty line.
    case "":
    case " ":
      now.push({ line: text, from: old.length });
      old.push(text);
      return;
    case "-":
      old.push(text);
      return;
    case "+":
      now.push({ line: text, from: undefined });
      return;
    default:
      throw wrong(
        reader.number,
        `'${line.slice(0, 80)}' has to begin with a blank (stays), - (goes), + (comes) or @@`,
      );
  }
}
