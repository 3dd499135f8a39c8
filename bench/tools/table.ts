/** The figures as a table for people. */

import { startWords } from "../node-starts.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { PairFigures } from "./pairs.ts";
import type { StartUp } from "./start-up.ts";
import type { TreeFigures } from "./tree-row.ts";

export type ToolResults = {
  overheads: PairFigures[];
  /** The rows that could not be measured here, with the reasons. */
  missing: string[];
  tree: { bytes: number; files: number; rows: TreeFigures[] };
  memory: AgentMemory[];
  startUp: StartUp[];
};

/** The goal for an idle agent: its memory over that of a Node that does nothing. */
const AGENT_RSS_RATIO = 1.8;
/** The goal for 2,000 calls over 1,000. Garbage collection alone makes two rounds differ by as much. */
const GROWTH_RATIO = 1.05;

export function toolTable({ overheads, missing, tree, memory, startUp }: ToolResults): string {
  return [
    ...(overheads.length > 0 ? [pairTable("a call", overheads, []), ""] : []),
    ...missing.map((why) => `not measured: ${why}`),
    ...(tree.rows.length > 0 ? [treeTable(tree), ""] : []),
    ...memory.map(({ start, bareNode, idle, after, agents }) => {
      const of = (bytes: number) => `${mib(bytes)} (${(bytes / bareNode).toFixed(2)}×)`;
      const how = startWords(start);
      return [
        `the agent's memory, ${how}, median of ${agents}: bare Node ${mib(bareNode)}, idle ${of(idle)}, after 100 mixed calls ${of(after[100])}, after 1000 ${of(after[1_000])}, after 2000 ${of(after[2_000])}`,
        `  ${verdict(idle / bareNode, AGENT_RSS_RATIO)} idle over bare Node;  ${verdict(after[2_000] / after[1_000], GROWTH_RATIO)} after 2000 over after 1000`,
      ].join("\n");
    }),
    ...startUp.map(
      ({ name, wall, cpu, spread, rounds }) =>
        `start to first advert, ${name}: ${wall.toFixed(0)} ms (middle half of ${rounds} within ${percent(spread)}), processor ${cpu.toFixed(0)} ms`,
    ),
  ].join("\n");
}

function treeTable({ files, bytes, rows }: ToolResults["tree"]): string {
  const peaks = rows.map(
    ({ idle, peak }) => `  peak RSS ${mib(peak)}, ${mib(peak - idle)} of it by the calls`,
  );
  return pairTable(`${files} files, ${mib(bytes)}`, rows, peaks);
}

const WHAT = 46;
const PLAIN = 26;
const CELL = 10;

function pairTable(title: string, rows: readonly PairFigures[], more: readonly string[]): string {
  const cells = (...texts: string[]) => texts.map((text) => text.padStart(CELL)).join("");
  return [
    `${title.padEnd(WHAT)}${"beside".padEnd(PLAIN)}${cells("ours ms", "plain ms", "×", "noise", "our CPU", "its CPU")}`,
    ...rows.map(
      ({ what, plainly, ours, plain, ratio, spread }, row) =>
        `${what.padEnd(WHAT)}${plainly.padEnd(PLAIN)}${cells(ms(ours.wall), ms(plain.wall), ratio.toFixed(2), percent(spread), ms(ours.cpu), ms(plain.cpu))}${more[row] ?? ""}`,
    ),
  ].join("\n");
}

function verdict(value: number, limit: number): string {
  return `${value <= limit ? "ok" : "OVER"} ${value.toFixed(2)} (at most ${limit})`;
}

const ms = (value: number) => (value < 0.1 ? value.toFixed(4) : value.toFixed(1));
const mib = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`;
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
