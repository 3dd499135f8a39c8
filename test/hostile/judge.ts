/** What a run has to show. */

import type { Rows } from "./rows.ts";
import type { Result } from "./run.ts";

/** Of workerd, between half time and the end. */
export const RSS_GROWTH_MAX = 0.1;
/** Codes for strangers who write to a bot: the platform vouched for them, and there are never more (channels/pairing.ts). */
const PAIRINGS_MAX = 50;
/** What the bridge of home b told with its own token, the one row that says so, and the count of its connections. */
const OF_A_BRIDGE = ["Home.agent", "Home.bridge", "Home.tally"];

/** @param isLong whether it was long enough for memory to come to rest. @returns what is not as promised */
export function judge(
  { faults, faultCount, rows, modelRequests, deviceCalls, badLines, rss }: Result,
  isLong: boolean,
): string[] {
  const grown = rss.end / rss.half - 1;
  return [
    ...faults,
    ...(faultCount > faults.length ? [`and ${faultCount - faults.length} more`] : []),
    ...(modelRequests > 0 ? [`the model was asked ${modelRequests} times`] : []),
    ...(deviceCalls > 0 ? [`a device was called ${deviceCalls} times`] : []),
    ...newRows(rows.before, rows.after),
    ...badLines.map((line) => `the Worker wrote: ${line.slice(0, 500)}`),
    ...(isLong && grown > RSS_GROWTH_MAX
      ? [`memory grew by ${(grown * 100).toFixed(1)} % in the second half`]
      : []),
  ];
}

function newRows(before: Rows, after: Rows): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((table) => {
    const [was = 0, is = 0] = [before[table], after[table]];
    if (was === is || OF_A_BRIDGE.includes(table)) return [];
    // Right tokens are among the shots, and look at conversations that nobody began; a file with tables is told of.
    if (table === "Conversation databases") return [];
    // The chat's answer was still noted as on its way when the shots began.
    if (table === "Conversation.reply" && is === 0) return [];
    // Somebody whose token may command asked for an agent that there is not: that is on record, which is bounded.
    if (table === "Home.audit") return [];
    // What the record holds of each agent: never more rows than the record.
    if (table === "Home.audit_share" && is <= (after["Home.audit"] ?? 0)) return [];
    if (table === "Home.pairing" && is <= PAIRINGS_MAX) return [];
    return [`rows: ${table} had ${was} and has ${is}`];
  });
}
