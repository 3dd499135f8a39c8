/**
 * `node tree-row.ts ROOT TREE ROW ROUNDS`: measures one row of the big tree in its own process, so that the peak of its
 * memory belongs to this tool. Prints JSON.
 */

import type { BigTree } from "./big-tree.ts";
import { measurePair, type PairFigures } from "./pairs.ts";
import { agentsPlace, treePairs } from "./tree-pairs.ts";

/** Resident bytes of this process, without the programs that it starts: before the first call, and the peak of the calls. */
export type TreeFigures = PairFigures & { idle: number; peak: number };

/** A few calls in a row, because garbage of one may remain during the next. */
const CALLS_FOR_PEAK = 6;

const [root = "", tree = "", row = "", rounds = ""] = process.argv.slice(2);
const { environment } = await agentsPlace(root);
const pair = treePairs(root, JSON.parse(tree) as BigTree, environment)[Number(row)];
if (!pair) throw new Error(`no row ${row}`);
const idle = peakRss();
// Before the plain way, whose output also passes through this process.
for (let call = 0; call < CALLS_FOR_PEAK; call += 1) await pair.ours();
const peak = peakRss();
const figures: TreeFigures = { ...(await measurePair(pair, Number(rounds))), idle, peak };
process.stdout.write(JSON.stringify(figures));
await environment.close();

function peakRss(): number {
  return process.resourceUsage().maxRSS * 1_024;
}
