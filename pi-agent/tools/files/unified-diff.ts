/**
 * Parses and applies unified diffs of `git diff` and `diff -u`, by the rules of `git apply`. The lines of a hunk must match
 * the file exactly, but line numbers may be wrong. A hunk that begins at line 1, or has no line below its last change, must
 * match at that end of the file. The prefixes `a/` and `b/` of names are removed.
 */
import { FileError } from "../../env/environment.ts";
import { type FileLine, PatchWork, splitLines } from "./patch-work.ts";

/** A line of the diff; `bare`: it has no newline, as the last line of a file may be. */
type DiffLine = { text: string; bare: boolean };

export type DiffHunk = {
  /** Its first line in the new file, from 1. Only a hint. */
  newStart: number;
  /** It must match at the file's beginning, or at its end. */
  atStart: boolean;
  atEnd: boolean;
  old: DiffLine[];
  /** `from`: index in `old` of a line that stays. */
  now: Array<DiffLine & { from: number | undefined }>;
};

export type DiffChange =
  | { op: "add"; path: string; content: string; mode?: number }
  | { op: "remove"; path: string; hunks: DiffHunk[] }
  | { op: "diff"; path: string; moveTo: string | undefined; hunks: DiffHunk[] };

const NULL = "/dev/null";
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Lines that git writes between header and names. */
const EXTENDED = /^(index |similarity index |dissimilarity index )/;

/** True if a text is a diff rather than a patch of another format. */
export function isUnifiedDiff(text: string): boolean {
  return /^(diff --git |--- )/m.test(text);
}

/** @throws FileError `invalid_params`, naming the line */
export function parseUnifiedDiff(text: string): DiffChange[] {
  const reader = new Lines(text);
  const changes: DiffChange[] = [];
  // Text before the first file, as in a mail, is ignored.
  while (reader.skipToFile()) changes.push(readFile(reader));
  return changes;
}

class Lines {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    // The whole diff passed a system that ends lines with CRLF.
    const crlf = lines.every((line) => line.endsWith("\r"));
    this.#lines = crlf ? lines.map((line) => line.slice(0, -1)) : lines;
  }

  get line(): string | undefined {
    return this.#lines[this.#at];
  }

  get ahead(): string | undefined {
    return this.#lines[this.#at + 1];
  }

  get number(): number {
    return this.#at + 1;
  }

  next(): string | undefined {
    const line = this.line;
    this.#at += 1;
    return line;
  }

  /** True if the reader is at the names of a file without git's header. */
  get atNames(): boolean {
    return this.line?.startsWith("--- ") === true && this.ahead?.startsWith("+++ ") === true;
  }

  skipToFile(): boolean {
    while (this.line !== undefined && !this.line.startsWith("diff --git ") && !this.atNames) {
      if (HUNK.test(this.line)) throw wrong(this.number, "a place (@@) without the --- and +++ of its file");
      this.next();
    }
    return this.line !== undefined;
  }
}

type Header = {
  line: number;
  oldName: string | undefined;
  newName: string | undefined;
  isNew: boolean;
  isDeleted: boolean;
  mode: number | undefined;
};

function readFile(reader: Lines): DiffChange {
  const header = readHeader(reader);
  const hunks: DiffHunk[] = [];
  while (reader.line !== undefined && HUNK.test(reader.line)) hunks.push(readHunk(reader));
  const { line, isNew, isDeleted, mode } = header;
  const oldName = isNew ? undefined : header.oldName;
  const newName = isDeleted ? undefined : header.newName;
  if (oldName === undefined && newName === undefined) throw wrong(line, "no name of a file");
  if (oldName === undefined && newName !== undefined) {
    const lines = hunks.flatMap(({ now }) => now);
    if (hunks.some(({ old }) => old.length > 0))
      throw wrong(line, `'${newName}' is new, but lines of it are there`);
    const content = lines.map(({ text, bare }) => text + (bare ? "" : "\n")).join("");
    return { op: "add", path: newName, content, ...(mode !== undefined && { mode }) };
  }
  const path = oldName ?? "";
  if (newName === undefined) return { op: "remove", path, hunks };
  if (hunks.length === 0 && newName === path) throw wrong(line, `no places (@@) follow for '${path}'`);
  return { op: "diff", path, moveTo: newName === path ? undefined : newName, hunks };
}

function readHeader(reader: Lines): Header {
  const header: Header = {
    line: reader.number,
    oldName: undefined,
    newName: undefined,
    isNew: false,
    isDeleted: false,
    mode: undefined,
  };
  if (reader.line?.startsWith("diff --git ")) {
    const names = gitNames(reader.line.slice("diff --git ".length));
    if (names) [header.oldName, header.newName] = names;
    reader.next();
    while (reader.line !== undefined && readExtended(header, reader)) reader.next();
  }
  if (reader.atNames) readNames(header, reader);
  return header;
}

/** @returns true if git writes this line between header and names */
function readExtended(header: Header, { line = "", number }: Lines): boolean {
  if (EXTENDED.test(line)) return true;
  const [, key = "", value = ""] =
    /^(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to) (.*)$/.exec(
      line,
    ) ?? [];
  switch (key) {
    case "rename from":
      header.oldName = unquoted(value, number);
      return true;
    case "rename to":
      header.newName = unquoted(value, number);
      return true;
    case "new file mode":
      header.isNew = true;
      header.mode = fileMode(value, number);
      return true;
    case "deleted file mode":
      header.isDeleted = true;
      return true;
    case "old mode":
    case "new mode":
      throw wrong(number, "the mode of a file is not changed by a patch; use bash with chmod");
    case "copy from":
    case "copy to":
      throw wrong(number, "files are not copied by a patch; add the new one with its content");
  }
  if (/^(GIT binary patch|Binary files )/.test(line))
    throw wrong(number, "binary files are not patched; only texts are");
  return false;
}

/** Reads the mode of a text file; links and submodules are refused. */
function fileMode(value: string, line: number): number {
  if (!/^100(644|755)$/.test(value.trim()))
    throw wrong(line, `only files can be added (mode 100644 or 100755), not mode ${value.slice(0, 20)}`);
  return Number.parseInt(value.trim().slice(3), 8);
}

function readNames(header: Header, reader: Lines): void {
  const [from, to] = [reader, reader].map((it) => {
    const { number } = it;
    // A date may follow after a tab.
    const name = unquoted((it.next() ?? "").slice(4).replace(/\t.*$/, "").trimEnd(), number);
    return { name, number };
  }) as [{ name: string; number: number }, { name: string; number: number }];
  if (from.name === NULL) header.isNew = true;
  if (to.name === NULL) header.isDeleted = true;
  if (header.isNew && header.isDeleted) throw wrong(from.number, `both names are ${NULL}`);
  const stripped =
    (from.name === NULL || from.name.startsWith("a/")) && (to.name === NULL || to.name.startsWith("b/"));
  const bare = (name: string) => (stripped && name !== NULL ? name.slice(2) : name);
  header.oldName = bare(from.name);
  header.newName = bare(to.name);
}

/** Splits `a/x b/x` when no other line has the names. Both are equal then, so the second begins in the middle. */
function gitNames(text: string): [string, string] | undefined {
  const quoted = /^("a\/.*") ("b\/.*")$/.exec(text);
  const middle = (text.length - 1) / 2;
  const [first, second] = quoted
    ? [unquoted(quoted[1] ?? "", 0), unquoted(quoted[2] ?? "", 0)]
    : [text.slice(0, middle), text.slice(middle + 1)];
  if (!first?.startsWith("a/") || !second?.startsWith("b/") || first.slice(2) !== second.slice(2))
    return undefined;
  return [first.slice(2), second.slice(2)];
}

/** Decodes names that git quotes with C escapes. */
function unquoted(name: string, line: number): string {
  if (!name.startsWith('"')) return name;
  if (!/^"(?:[^"\\]|\\.)*"$/.test(name))
    throw wrong(line, `the name ${name.slice(0, 80)} has no closing quote`);
  const bytes: number[] = [];
  const letters: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };
  for (const [, octal, letter, plain] of name.slice(1, -1).matchAll(/\\([0-3][0-7]{2})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (letter !== undefined) bytes.push(letters[letter] ?? letter.charCodeAt(0));
    else bytes.push(...Buffer.from(plain ?? ""));
  }
  return Buffer.from(bytes).toString("utf8");
}

function readHunk(reader: Lines): DiffHunk {
  const begun = reader.number;
  const [, oldStart = "0", oldCount = "1", newStart = "0", newCount = "1"] =
    HUNK.exec(reader.next() ?? "") ?? [];
  const hunk: DiffHunk = {
    newStart: Number(newStart),
    atStart: Number(oldStart) <= 1,
    atEnd: true,
    old: [],
    now: [],
  };
  const left = { old: Number(oldCount), now: Number(newCount) };
  let last = "";
  const short = () =>
    wrong(
      begun,
      `its @@ promises ${oldCount} old and ${newCount} new lines, and ${hunk.old.length} and ${hunk.now.length} follow; correct the counts`,
    );
  while (left.old > 0 || left.now > 0) {
    const { line } = reader;
    if (line === undefined) throw short();
    // Some programs omit the leading blank of an empty line.
    const mark = line === "" ? " " : line.charAt(0);
    const text = line.slice(1);
    if (mark === "\\") markBare(hunk, last);
    else if (mark === " ") {
      hunk.now.push({ text, bare: false, from: hunk.old.length });
      hunk.old.push({ text, bare: false });
      left.old -= 1;
      left.now -= 1;
    } else if (mark === "-") {
      hunk.old.push({ text, bare: false });
      left.old -= 1;
    } else if (mark === "+") {
      hunk.now.push({ text, bare: false, from: undefined });
      left.now -= 1;
    } else throw short();
    if (left.old < 0 || left.now < 0) throw short();
    if (mark !== "\\") {
      hunk.atEnd = mark !== " ";
      last = mark;
    }
    reader.next();
  }
  if (reader.line?.startsWith("\\")) {
    markBare(hunk, last);
    reader.next();
  }
  return hunk;
}

/** Handles "\ No newline at end of file". @param mark the mark of the line before it */
function markBare(hunk: DiffHunk, mark: string): void {
  const old = hunk.old.at(-1);
  const now = hunk.now.at(-1);
  if (mark !== "+" && old) old.bare = true;
  if (mark !== "-" && now) now.bare = true;
}

/**
 * The lines of a file while hunks change it, in two parts that meet at the last change. Hunks are nearly always in order, so
 * few lines move for the next one.
 */
class Changing {
  readonly #above: FileLine[] = [];
  /** In reverse order: the next line is the last element. */
  readonly #below: FileLine[];
  readonly #work: PatchWork;

  constructor(lines: FileLine[], work: PatchWork) {
    this.#below = lines.reverse();
    this.#work = work;
  }

  get length(): number {
    return this.#above.length + this.#below.length;
  }

  line(at: number): FileLine | undefined {
    return at < this.#above.length
      ? this.#above[at]
      : this.#below[this.#below.length - 1 - (at - this.#above.length)];
  }

  /** @returns `count` lines from `at`, which `put` may replace */
  take(at: number, count: number): FileLine[] {
    this.#meetAt(at);
    return count === 0 ? [] : this.#below.splice(-count).reverse();
  }

  put(lines: readonly FileLine[]): void {
    for (const line of lines) this.#above.push(line);
  }

  text(): string {
    this.#meetAt(this.length);
    return this.#above.map((line) => line.text + line.ending).join("");
  }

  #meetAt(at: number): void {
    const move = (from: FileLine[], to: FileLine[]) => {
      this.#work.count(0);
      to.push(from.pop() as FileLine);
    };
    while (this.#above.length > at) move(this.#above, this.#below);
    while (this.#above.length < at) move(this.#below, this.#above);
  }
}

/** @throws FileError `no_match`, naming the hunk, or `too_large` when the search takes too long */
export function applyDiff(path: string, text: string, hunks: readonly DiffHunk[]): string {
  const split = splitLines(text);
  const ending = split.find((line) => line.ending !== "")?.ending ?? "\n";
  const work = new PatchWork(path);
  const lines = new Changing(split, work);
  hunks.forEach((hunk, index) => {
    const at = positionOf(hunk, lines, work);
    if (at === undefined) throw noMatch(path, index, hunk);
    const taken = lines.take(at, hunk.old.length);
    const near = taken.find((one) => one.ending !== "")?.ending ?? ending;
    const put = hunk.now.map((line): FileLine => {
      const own = line.from === undefined ? undefined : taken[line.from];
      return own ?? { text: line.text, ending: line.bare ? "" : near };
    });
    lines.put(put);
  });
  return lines.text();
}

/** Finds the matching place that is nearest to the hunk's line number, as git does. */
function positionOf(
  { newStart, atStart, atEnd, old }: DiffHunk,
  lines: Changing,
  work: PatchWork,
): number | undefined {
  const last = lines.length - old.length;
  if (last < 0) return undefined;
  const fits = (at: number) => {
    work.count(0);
    return old.every(({ text, bare }, index) => {
      const line = lines.line(at + index);
      work.count(line?.text.length === text.length ? text.length : 0);
      return line?.text === text && (line.ending === "") === bare;
    });
  };
  if (atStart) return (!atEnd || last === 0) && fits(0) ? 0 : undefined;
  if (atEnd) return fits(last) ? last : undefined;
  const wanted = Math.min(Math.max(newStart - 1, 0), last);
  for (let distance = 0; distance <= Math.max(wanted, last - wanted); distance += 1) {
    if (wanted - distance >= 0 && fits(wanted - distance)) return wanted - distance;
    if (wanted + distance <= last && fits(wanted + distance)) return wanted + distance;
  }
  return undefined;
}

function noMatch(path: string, index: number, { old, atStart, atEnd }: DiffHunk): FileError {
  const shown = old
    .slice(0, 3)
    .map(({ text }) => text)
    .join(" / ");
  const where = atStart ? " at the file's beginning" : atEnd ? " at the file's end" : "";
  return new FileError("no_match", {
    text: `Hunk ${index + 1} of '${path}' does not apply${where}: '${shown.slice(0, 200)}'. Nothing was changed.`,
    advice: "Read the file, and give three unchanged lines around each change.",
  });
}

export function wrong(line: number, what: string): FileError {
  return new FileError("invalid_params", `Line ${line} of the patch: ${what}. Nothing was changed.`);
}
