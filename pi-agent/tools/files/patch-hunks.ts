/** Applies the hunks of a patch to a text. It replaces whole lines; all others stay byte for byte. */
import { FileError } from "../../env/environment.ts";
import type { Hunk } from "./patch-format.ts";
import { type FileLine, PatchWork, splitLines } from "./patch-work.ts";

/** Ways to compare two lines, strictest first. */
const LIKENESS: Array<(line: string) => string> = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) =>
    line
      .trim()
      .normalize("NFKC")
      .replaceAll(/[\u2018-\u201b]/g, "'")
      .replaceAll(/[\u201c-\u201f]/g, '"')
      .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
      .replaceAll(/\s/g, " "),
];

/**
 * Searches each hunk below the one before it.
 * @throws FileError `no_match`, naming the hunk, or `too_large` when the search takes too long
 */
export function applyHunks(path: string, text: string, hunks: readonly Hunk[]): string {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const lines = splitLines(text.slice(mark.length));
  const ending = lines.find((line) => line.ending !== "")?.ending ?? "\n";
  const made: FileLine[] = [];
  const work = new PatchWork(path);
  let done = 0;
  hunks.forEach((hunk, index) => {
    const { at, removed, put } = place({ lines, work }, done, hunk, () => noMatch(path, index, hunk));
    const taken = lines.slice(at, at + removed);
    const near = taken.find((one) => one.ending !== "")?.ending ?? ending;
    for (const line of lines.slice(done, at)) made.push(line);
    for (const { line, from } of put) {
      const own = from === undefined ? undefined : taken[from];
      // A context line that matched loosely keeps the file's text.
      made.push(own ?? { text: line, ending: near });
    }
    done = at + removed;
  });
  for (const line of lines.slice(done)) made.push(line);
  // The former last line may now have a line below it, so it needs an ending.
  const body = made.map(
    (line, index) => line.text + (line.ending === "" && index < made.length - 1 ? ending : line.ending),
  );
  return mark + body.join("");
}

type Place = { at: number; removed: number; put: Hunk["now"] };

type Searched = { lines: readonly FileLine[]; work: PatchWork };

function place(file: Searched, from: number, hunk: Hunk, missing: () => FileError): Place {
  let start = from;
  if (hunk.after !== undefined) {
    const above = seek(file, [hunk.after], from, false);
    if (above === undefined) throw missing();
    start = above + 1;
  }
  if (hunk.old.length === 0) {
    const at = hunk.after !== undefined && !hunk.atEnd ? start : file.lines.length;
    return { at, removed: 0, put: hunk.now };
  }
  const at = seek(file, hunk.old, start, hunk.atEnd);
  if (at !== undefined) return { at, removed: hunk.old.length, put: hunk.now };
  // A final newline does not begin another line.
  const last = hunk.old.length - 1;
  if (hunk.old[last] !== "" || last === 0) throw missing();
  const shorter = seek(file, hunk.old.slice(0, -1), start, hunk.atEnd);
  if (shorter === undefined) throw missing();
  return { at: shorter, removed: last, put: hunk.now.filter((line) => line.from !== last) };
}

function seek(
  { lines, work }: Searched,
  wanted: readonly string[],
  from: number,
  atEnd: boolean,
): number | undefined {
  const last = lines.length - wanted.length;
  for (const like of LIKENESS) {
    const goal = wanted.map(like);
    const fits = (at: number) =>
      goal.every((line, index) => {
        const { text } = lines[at + index] ?? { text: "" };
        work.count(text.length);
        return like(text) === line;
      });
    if (atEnd && last >= from && fits(last)) return last;
    for (let at = from; at <= last; at += 1) if (fits(at)) return at;
  }
  return undefined;
}

function noMatch(path: string, index: number, { after, old }: Hunk): FileError {
  const wanted = [...(after === undefined ? [] : [`@@ ${after}`]), ...old].slice(0, 3).join(" / ");
  return new FileError("no_match", {
    text: `Hunk ${index + 1} of '${path}' fits nowhere below the one before it: '${wanted.slice(0, 200)}'. Nothing was changed.`,
    advice: "Read the file and copy its lines.",
  });
}
