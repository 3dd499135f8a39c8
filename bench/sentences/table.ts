/** The figures of plain sentences as a table for people. */
import type { Sentences } from "./measure.ts";

const LABEL = 52;
const CELL = 9;

export function sentencesTable({ files, first, turns }: Sentences): string {
  const line = (label: string, cells: readonly string[]) =>
    label.padEnd(LABEL) + cells.map((cell) => cell.padStart(CELL)).join("");
  const kib = (bytes: number) => (bytes / 1_024).toFixed(1);
  return [
    line(`a cold first sentence, ${first.names} names, ms of processor`, [
      "request",
      "with it",
      "its own",
      "+threads",
    ]),
    ...first.cold.map(({ language, floor, first }) =>
      line(language, [
        floor.main.toFixed(2),
        first.main.toFixed(2),
        (first.main - floor.main).toFixed(2),
        (first.all - floor.all).toFixed(2),
      ]),
    ),
    "",
    line(
      "KiB of gzip of a language",
      files.map(({ language }) => language),
    ),
    line(
      "words that are read",
      files.map(({ words }) => kib(words)),
    ),
    line(
      "answers",
      files.map(({ answers }) => kib(answers)),
    ),
    "",
    line("ms of a turn in the demo home, one at a time", ["p50", "p95", "samples"]),
    line("a question", [
      turns.question.p50.toFixed(1),
      turns.question.p95.toFixed(1),
      String(turns.question.samples),
    ]),
    line("a command, until its device has confirmed it", [
      turns.act.p50.toFixed(1),
      turns.act.p95.toFixed(1),
      String(turns.act.samples),
    ]),
    "",
    `requests to the model ${turns.modelRequests}, tokens ${turns.tokens}; the heap with the words and ${first.heap.names} names: ${(first.heap.bytes / 1_000_000).toFixed(2)} MB more`,
  ].join("\n");
}

export const SENTENCES_NOTES = [
  "A cold first sentence: a new workerd for each, its main thread, the words and names parsed in the same request; the floor is a request",
  "with the same body and names. “+threads”: with V8's threads that compile and collect beside it. The home around the reader is not in it.",
];
