/** The model's counts from a run of the bench. */
import type { Costs, TurnCost } from "../cost/measure.ts";
import { objectRequests } from "../cost/prices.ts";
import type { FleetResult } from "../fleet/measure.ts";
import type { Counts, TurnCounts } from "./model.ts";

/** @param fleets with at least two sizes of real adverts, measured to the end */
export function countsOf({ turns, growth, idle }: Costs, fleets: readonly FleetResult[]): Counts {
  const [first, later] = turns;
  const real = fleets.filter(({ advert, problem }) => advert === "real" && problem === undefined);
  const smallest = real[0];
  const small = real[1];
  const large = real.findLast(({ agents }) => agents <= 1_000);
  if (!first || !later || !smallest || !small || !large) throw new Error("the bench has not counted enough");
  const each = (of: (fleet: FleetResult) => number | undefined) =>
    ((of(large) ?? Number.NaN) - (of(smallest) ?? Number.NaN)) / (large.agents - smallest.agents);
  const changes = 2 * (large.agents - 1);
  return {
    first: turnCounts(first),
    later: turnCounts(later),
    presence: {
      messages: (large.storm?.frames ?? Number.NaN) / changes,
      rowsRead: (large.storm?.rowsRead ?? Number.NaN) / changes,
      rowsWritten: (large.storm?.rowsWritten ?? Number.NaN) / changes,
    },
    homeBytes: idle.homeBytes,
    agentBytes: each(({ homeBytes }) => homeBytes),
    conversationBytes: growth.conversation,
    turnBytes: growth.turn,
    turnBytesInHome: growth.turnInHome,
    heapBytes: smallest.heapBytes ?? Number.NaN,
    agentHeapBytes: each(({ heapBytes }) => heapBytes),
    agentListBytes: each(({ list }) => list?.bytes),
    turnCpuMs: small.turnCpuMs ?? Number.NaN,
  };
}

function turnCounts({ tally, homeRequests, awakeMs }: TurnCost): TurnCounts {
  return {
    workerRequests: tally.workerRequests,
    objectRequests: objectRequests(tally),
    homeRequests,
    rowsRead: tally.rowsRead,
    rowsWritten: tally.rowsWritten,
    awakeMs: awakeMs.asTheDocsSay,
  };
}
