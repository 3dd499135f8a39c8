/** The figures as a table for people. */

import type { Calls, Judged } from "./limits.ts";
import { startWords } from "./node-starts.ts";
import { LEVELS, type RatioOf, ROWS, type Row } from "./rounds.ts";
import { KEPT } from "./worker-start.ts";

const NAMES: Record<Row, string> = {
  a: "(a) floor 1: MQTT there and back, two processes",
  b: "(b) floor 2: HTTP, 2 objects, WebSocket, MQTT, echo",
  c: "(c) a call: model's reply to its next request",
  d: "(d) a turn with one call, less the model's time",
  e: "(e) platform's floor of (c): (b), model and rows",
  f: "(f) platform's floor of (d)",
};
const RATIOS: RatioOf[] = ["c/b", "d/b", "c/a", "c/e", "d/f"];
const LABEL = 52;
const CELL = 9;

export function table({ measured, cpu, batches, sizes, start, memory }: Calls): string {
  const { rows, ratios, rounds } = measured;
  const header = (label: string, columns: string[]) =>
    [
      label.padEnd(LABEL) +
        LEVELS.map((level) => `${level} at a time`.padStart(columns.length * CELL)).join(""),
      " ".repeat(LABEL) + LEVELS.map(() => columns.map((name) => name.padStart(CELL)).join("")).join(""),
    ].join("\n");
  return [
    header(`ms, median of ${rounds.length} rounds`, ["p50", "p99", "a second"]),
    ...ROWS.map(
      (row) =>
        NAMES[row].padEnd(LABEL) +
        LEVELS.map((level) => {
          const { p50, p99, perSecond } = rows[level][row];
          return [ms(p50), ms(p99), perSecond.toFixed(0)].map((text) => text.padStart(CELL)).join("");
        }).join(""),
    ),
    "",
    header("ratio, median of the rounds' ratios", ["p50", "p99", "a second"]),
    ...RATIOS.map(
      (name) =>
        `(${name.replace("/", ")/(")})`.padEnd(LABEL) +
        LEVELS.map((level) => {
          const { p50, p99, perSecond } = ratios[level][name];
          return [p50, p99, perSecond].map((value) => value.toFixed(2).padStart(CELL)).join("");
        }).join(""),
    ),
    "",
    `processor time of a call, its share of the turn included: workerd ${ms(cpu.workerd)} ms, bridge ${ms(cpu.bridge)} ms, agent ${ms(cpu.agent)} ms`,
    `workerd's processor time at ${cpu.among.atOnce} at a time: a call ${ms(cpu.among.call)} ms, the platform's floor ${ms(cpu.among.floorCall)} ms; a turn ${ms(cpu.among.turn)} ms, the floor ${ms(cpu.among.floorTurn)} ms`,
    `${batches.calls} calls of a tool of ${batches.toolMs} ms: at once ${ms(batches.atOnceMs)} ms, one by one ${ms(batches.oneByOneMs)} ms, ${batches.timesFaster.toFixed(2)} times faster`,
    `the Worker: ${kib(sizes.rawBytes)} as bundled, ${kib(sizes.minifiedBytes)} minified, ${kib(sizes.gzipBytes)} of that in gzip; ${ms(start.today)} ms of processor time to start, ${KEPT} ${ms(start.kept)} ms`,
    ...memory.map(({ start, bareNode, idle, afterCalls }) => {
      const how = startWords(start);
      return `the agent's memory, ${how}: bare Node ${mib(bareNode)}, agent idle ${mib(idle)}, after 100 calls ${mib(afterCalls)}`;
    }),
  ].join("\n");
}

export function limitLines(limits: readonly Judged[]): string {
  return [
    "limits",
    ...limits.map(({ what, value, unit, limit, atMost, ok }) => {
      const asked = `${atMost ? "at most" : "at least"} ${limit} ${unit}`;
      const verdict = ok ? "ok  " : atMost ? "OVER" : "LOW ";
      return `  ${verdict}  ${`${value.toFixed(2)} ${unit}`.padStart(16)}  ${asked.padEnd(22)}  ${what}`;
    }),
  ].join("\n");
}

export const NOTES = [
  "Mosquitto with set_tcp_nodelay; the Worker in workerd (Miniflare); bridge and agent as they are shipped.",
  "The load generator and the model endpoint run in one process that shares the cores with all that is measured.",
  "The platform's floor is floor 2 with a model's request for each reply, and a row for the question, each reply and each outcome.",
  "(c) has turns of 4 calls, (d) of 1; each conversation gets 5 turns and then a new one follows, so that its",
  "history stays short; its first turn makes the object and its tables, which counts towards (d).",
];

const ms = (value: number) => value.toFixed(2);
const kib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
const mib = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`;
