/** The figures of agents among themselves as a table for people. */
import type { Among, AmongRow, ProbedRow } from "./measure.ts";

const NAMES: ReadonlyArray<readonly [AmongRow | ProbedRow, string]> = [
  ["direct", "a call of a named agent"],
  ["any", "a call of any"],
  ["group", "a call of a group of three"],
  ["probed", "the same, nobody heard for 5 s: asked by a ping"],
  ["frozen", "the same, the first chosen one is frozen"],
  ["delegated", "A's own loop calls B"],
  ["words", "A is asked in words, uses its own tool"],
  ["step", "A is asked in words, calls B"],
  ["neighbour", "a lent agent, two homes at one gateway"],
  ["far", "a lent agent, two gateways over HTTP"],
  ["accepted", "sessions_spawn, accepted"],
  ["ended", "sessions_spawn, until its end"],
];
const LABEL = 52;
const CELL = 9;

export function amongTable({ rounds, rows, stepOverWords }: Among): string {
  const line = (label: string, cells: readonly string[]) =>
    label.padEnd(LABEL) + cells.map((cell) => cell.padStart(CELL)).join("");
  return [
    line(`agents among themselves, ms, median of ${rounds} rounds`, ["p50", "p99", "ratio", "samples"]),
    ...NAMES.map(([row, name]) => {
      const { p50, p99, overDirect, samples } = rows[row];
      return line(name, [p50.toFixed(2), p99.toFixed(2), overDirect.toFixed(2), String(samples)]);
    }),
    `a step of delegation: ${stepOverWords.toFixed(2)} times the question in words without it`,
  ].join("\n");
}

export const AMONG_NOTES = [
  "Agents among themselves: one call at a time, from the asking model's reply to its next request, less the time of models",
  "within the call; the rows take turns in each round, with the same number of calls, and the ratio is the median of the",
  "rounds' to a call of a named agent. All agents of a home are at its one gateway, whose model has the session tools.",
];
