/** Shows a change of a text to a person as a unified diff. */
import { linesOf, truncateHead } from "../../output/text-cut.ts";

/** Larger diffs take long, and nobody reads them. */
export const DIFF_MAX_BYTES = 256 * 1024;
const DIFF_MAX_CELLS = 1_000_000;
const DIFF_SHOWN_BYTES = 16 * 1024;
const CONTEXT_LINES = 3;

/** `firstLine`: line of the first change in the new text, from 1. */
export type FileDiff = { text: string; added: number; removed: number; firstLine: number };

type Step = { op: " " | "-" | "+"; line: string };

/** @returns undefined when the texts are equal or too long to compare */
export function fileDiff(path: string, before: string, after: string): FileDiff | undefined {
  if (before === after || before.length + after.length > 2 * DIFF_MAX_BYTES) return undefined;
  const steps = stepsBetween(markedLines(before), markedLines(after));
  const firstStep = steps.findIndex(({ op }) => op !== " ");
  const count = (op: Step["op"]) => steps.filter((step) => step.op === op).length;
  const body = hunks(steps).join("\n");
  const { content, by } = truncateHead(`--- ${path}\n+++ ${path}\n${body}`, { maxBytes: DIFF_SHOWN_BYTES });
  return {
    text: by === null ? content : `${content}\n[The rest of the diff is not shown.]`,
    added: count("+"),
    removed: count("-"),
    firstLine: firstStep + 1,
  };
}

/** Marks a last line without newline as diff does, since it differs from one with a newline. */
function markedLines(text: string): string[] {
  const lines = linesOf(text);
  const last = lines.length - 1;
  if (text !== "" && !text.endsWith("\n")) lines[last] += "\n\\ No newline at end of file";
  return lines;
}

function stepsBetween(before: readonly string[], after: readonly string[]): Step[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail += 1;
  const same = (line: string): Step => ({ op: " ", line });
  return [
    ...before.slice(0, head).map(same),
    ...changes(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

/** Uses the longest common subsequence where that is affordable; otherwise everything counts as replaced. */
function changes(before: readonly string[], after: readonly string[]): Step[] {
  if (before.length * after.length > DIFF_MAX_CELLS) {
    return [
      ...before.map((line): Step => ({ op: "-", line })),
      ...after.map((line): Step => ({ op: "+", line })),
    ];
  }
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const steps: Step[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    if (old !== undefined && old === now) {
      steps.push({ op: " ", line: old });
      i += 1;
      j += 1;
    } else if (old !== undefined && (now === undefined || at(i + 1, j) >= at(i, j + 1))) {
      steps.push({ op: "-", line: old });
      i += 1;
    } else {
      steps.push({ op: "+", line: now ?? "" });
      j += 1;
    }
  }
  return steps;
}

function hunks(steps: readonly Step[]): string[] {
  const changed = steps.flatMap(({ op }, index) => (op === " " ? [] : [index]));
  const ranges: Array<{ from: number; to: number }> = [];
  for (const index of changed) {
    const from = Math.max(0, index - CONTEXT_LINES);
    const to = Math.min(steps.length, index + CONTEXT_LINES + 1);
    const last = ranges.at(-1);
    if (last && from <= last.to) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges.map(({ from, to }) => {
    const lines = (until: number, without: Step["op"]) =>
      steps.slice(0, until).filter(({ op }) => op !== without).length;
    const [oldFrom, newFrom] = [lines(from, "+"), lines(from, "-")];
    const [oldCount, newCount] = [lines(to, "+") - oldFrom, lines(to, "-") - newFrom];
    const at = (start: number, count: number) => `${count === 0 ? start : start + 1},${count}`;
    const body = steps.slice(from, to).map(({ op, line }) => `${op}${line}`);
    return [`@@ -${at(oldFrom, oldCount)} +${at(newFrom, newCount)} @@`, ...body].join("\n");
  });
}
