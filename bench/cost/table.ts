/** The costs as a table for people. */
import type { Costs, TurnCost } from "./measure.ts";
import { MODEL_SECOND_USD, objectRequests } from "./prices.ts";

const LABEL = 44;
const CELL = 9;

type Column = { head: string; of(turn: TurnCost): string };

const COUNTS: Column[] = [
  { head: "Worker", of: ({ tally }) => count(tally.workerRequests) },
  { head: "rpc", of: ({ tally }) => count(tally.rpc) },
  { head: "fetch", of: ({ tally }) => count(tally.fetches) },
  { head: "alarms", of: ({ tally }) => count(tally.alarms) },
  { head: "messages", of: ({ tally }) => count(tally.messages) },
  { head: "= billed", of: ({ tally }) => objectRequests(tally).toFixed(2) },
  { head: "read", of: ({ tally }) => count(tally.rowsRead) },
  { head: "written", of: ({ tally }) => count(tally.rowsWritten) },
  { head: "awake ms", of: ({ awakeMs }) => awakeMs.asTheDocsSay.toFixed(0) },
];

const USD: Column[] = [
  { head: "Worker", of: ({ usd }) => dollars(usd.asTheDocsSay.workerRequests) },
  { head: "objects", of: ({ usd }) => dollars(usd.asTheDocsSay.objectRequests) },
  { head: "read", of: ({ usd }) => dollars(usd.asTheDocsSay.rowsRead) },
  { head: "written", of: ({ usd }) => dollars(usd.asTheDocsSay.rowsWritten) },
  { head: "GB-s", of: ({ usd }) => dollars(usd.asTheDocsSay.duration) },
  { head: "in all", of: ({ usd }) => dollars(usd.asTheDocsSay.total) },
  { head: "at worst", of: ({ usd }) => dollars(usd.atWorst.total) },
];

export function costTable({ turns, idle }: Costs): string {
  const { tally, usdAMonth } = idle;
  const { pings, stored, ifPingsAreMessages } = usdAMonth;
  return [
    ...rows("counted for a turn with one call of an action", COUNTS, turns),
    "",
    ...rows("computed: USD a million such turns", USD, turns),
    `and ${dollars(MODEL_SECOND_USD)} for each second that the model takes in a turn`,
    "",
    `a home at rest: in ${idle.forMs / 1_000} s counted ${objectRequests(tally)} requests, ${tally.rowsRead} rows read, ${tally.rowsWritten} written`,
    `an idle agent's month, computed: USD ${stored.toFixed(6)} for ${idle.homeBytes / 1_024} KiB of rows;` +
      ` USD ${ifPingsAreMessages.toFixed(6)} if the ${pings} pings of its bridge are billed as messages`,
  ].join("\n");
}

export const COST_NOTES = [
  "Costs: requests, rows and alarms are counted in a real run with counters in front of the objects' storage and",
  "methods; money is computed with the prices in bench/cost/prices.ts, beyond what a plan includes. A row is",
  "written for each index entry and each alarm that is set, too. 'At worst': each object is billed for 10 s more",
  "after everything that woke it. workerd's clock stands still while code runs, so that 'awake' lacks some of that.",
];

function rows(label: string, columns: readonly Column[], turns: readonly TurnCost[]): string[] {
  return [
    label.padEnd(LABEL) + columns.map(({ head }) => head.padStart(CELL)).join(""),
    ...turns.map(
      (turn) => turn.what.padEnd(LABEL) + columns.map(({ of }) => of(turn).padStart(CELL)).join(""),
    ),
  ];
}

const count = (value: number) => (Number.isInteger(value) ? `${value}` : value.toFixed(1));
const dollars = (value: number) => value.toFixed(2);
