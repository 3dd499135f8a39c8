/** Judges a whole run. */

import type { Rows } from "./rows.ts";
import type { Result } from "./run.ts";

/** The most that memory may grow, as a share, between half time and the end. */
const GROWTH_MAX = 0.1;
/**
 * Runs of so many requests say whether memory grows. The heap is warm early. The resident bytes of workerd grow until about
 * 90,000 requests though the heap does not, and then stay the same until 300,000 (docs/decisions/070-hostile-requests.md).
 */
const LONG = { heap: 3_000, rss: 200_000 };
/**
 * The most pairing codes for strangers who write to a bot. The platform vouched for these strangers
 * (kernel/home/people/senders.ts).
 */
const PAIRINGS_MAX = 50;
/** Each home has so many places for reports of calls that it has not added to its sums yet (home/usage/usage-reports.ts). */
const REPORTS_MAX = 2 * 128;
/** Rows that the bridge of home b makes with its own token: its agents, itself, and the count of its connections. */
const OF_A_BRIDGE = ["Home.agent", "Home.bridge", "Home.tally"];

/** @param requests how many the run had. @returns the broken promises, in words */
export function judge(
  { faults, faultCount, rows, modelRequests, deviceCalls, badLines, memory }: Result,
  requests: number,
): string[] {
  return [
    ...faults,
    ...(faultCount > faults.length ? [`and ${faultCount - faults.length} more`] : []),
    ...(modelRequests > 0 ? [`the model was asked ${modelRequests} times`] : []),
    ...(deviceCalls > 0 ? [`a device was called ${deviceCalls} times`] : []),
    ...newRows(rows.before, rows.after),
    ...badLines.map((line) => `the Worker wrote: ${line.slice(0, 500)}`),
    ...(["heap", "rss"] as const).flatMap((what) => {
      const grown = memory.end[what] / memory.half[what] - 1;
      return requests >= LONG[what] && !(grown <= GROWTH_MAX)
        ? [`memory (${what}) grew by ${(grown * 100).toFixed(1)} % in the second half`]
        : [];
    }),
  ];
}

function newRows(before: Rows, after: Rows): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((table) => {
    const [was = 0, is = 0] = [before[table], after[table]];
    if (was === is || OF_A_BRIDGE.includes(table)) return [];
    // Some requests have valid tokens and look at conversations that do not exist. Their files have no tables; a file
    // with tables counts as an object.
    if (table === "Conversation databases") return [];
    // The answer to the chat was still recorded as being delivered when the requests began.
    if (table === "Conversation.reply" && is === 0) return [];
    // A request with a valid token for commands named an unknown agent. The audit log records that, and its size is
    // bounded.
    if (table === "Home.audit") return [];
    // The counts have it, too, in a ring of bounded length.
    if (table === "Home.usage_report" && is <= REPORTS_MAX) return [];
    // The audit log's count per agent never has more rows than the audit log.
    if (table === "Home.audit_share" && is <= (after["Home.audit"] ?? 0)) return [];
    if (table === "Home.pairing" && is <= PAIRINGS_MAX) return [];
    return [`rows: ${table} had ${was} and has ${is}`];
  });
}
