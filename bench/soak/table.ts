/** The soak as a table for people. */
import type { SoakFigures } from "./measure.ts";

const CELL = 10;

export function soakTable({ slices, ledger }: SoakFigures): string {
  const { calls, before, after } = ledger;
  const cells = (values: readonly string[]) => values.map((text) => text.padStart(CELL)).join("");
  return [
    "turns through one stack: ms of each, and MB of memory at the end of a slice",
    cells(["turns", "p50", "p99", "CPU ms", "workerd", "bridge", "agent", "broker", "heap"]),
    ...slices.map(({ turns, p50, p99, cpuMs, rss, heapBytes }) =>
      cells([
        String(turns),
        p50.toFixed(1),
        p99.toFixed(1),
        cpuMs.toFixed(1),
        ...[rss.workerd, rss.bridge, rss.agent, rss.broker, heapBytes].map((bytes) =>
          (bytes / 1_000_000).toFixed(1),
        ),
      ]),
    ),
    `${calls} settled calls in Home's ledger: a turn takes ${before.p50.toFixed(1)} ms without and ${after.p50.toFixed(1)} ms with them,` +
      ` ${before.cpuMs.toFixed(1)} and ${after.cpuMs.toFixed(1)} ms of processor time, and reads ${before.rowsRead} and ${after.rowsRead} rows;` +
      ` the turn in which Home looks for old calls, once an hour, reads ${after.mostRowsRead}`,
  ].join("\n");
}
