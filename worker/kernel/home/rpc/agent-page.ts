/** `GET /v1/agents`: the agents that fit a query, a page at a time. Only those of the page are shown in full. */

import type { AgentListQuery, AgentPage } from "../../api/agent-list.ts";
import type { RosterAgent } from "../../api/roster.ts";
import { type AgentActivity, agentViews } from "../agents/agent-views.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import type { HomeContext } from "../context.ts";
import { activityOf } from "../status.ts";

/** Agents found by the meaning of words: those after the first few fit less and less. */
const FOUND_MAX = 50;

/** @returns undefined: the agent of `after` fits no more, so nobody knows where the next page begins */
export async function agentPage(home: HomeContext, query: AgentListQuery): Promise<AgentPage | undefined> {
  const { limit, after, words, online, hosted, ids } = query;
  const now = Date.now();
  const within = ids && new Set(ids);
  const devices =
    hosted === undefined
      ? undefined
      : new Set(
          hostedDevicesOf(home)
            .all()
            .map(({ id }) => id),
        );
  const fits = ({ id, online: is }: RosterAgent) =>
    (online === undefined || is === online) && devices?.has(id) !== !hosted && (within?.has(id) ?? true);
  const all = servedAgentsOf(home).roster(now).filter(fits);
  const named = words === undefined ? all : withWords(all, words);
  const isSorted = words === undefined || named.length > 0;
  const found = isSorted ? named : await byMeaning(home, all, words);
  const start = placeAfter(found, after, isSorted);
  if (start === undefined) return undefined;
  const page = found.slice(start, start + limit).map(({ id }) => id);
  const activity = activityOf(home);
  return {
    agents: agentViews(home, page, activity, now),
    next: start + limit < found.length ? (page.at(-1) ?? null) : null,
    total: found.length,
    online: found.filter((agent) => agent.online).length,
    counts: sumOf(found, activity),
  };
}

/** @param isSorted by id: then the next id is known even if the agent itself is gone */
function placeAfter(
  found: readonly RosterAgent[],
  after: string | undefined,
  isSorted: boolean,
): number | undefined {
  if (after === undefined) return 0;
  if (isSorted) {
    const at = found.findIndex(({ id }) => id > after);
    return at === -1 ? found.length : at;
  }
  const last = found.findIndex(({ id }) => id === after);
  return last === -1 ? undefined : last + 1;
}

async function byMeaning(
  home: HomeContext,
  all: readonly RosterAgent[],
  text: string,
): Promise<RosterAgent[]> {
  const known = new Map(all.map((agent) => [agent.id, agent]));
  const found = await rosterOf(home).search({ text, among: (id) => known.has(id), limit: FOUND_MAX });
  return found.flatMap(({ id }) => known.get(id) ?? []);
}

/** Those whose id or line has every word. */
function withWords(all: readonly RosterAgent[], text: string): RosterAgent[] {
  const words = text.toLowerCase().split(/\s+/);
  return all.filter(({ id, line }) => {
    const own = `${id}\n${line}`.toLowerCase();
    return words.every((word) => own.includes(word));
  });
}

function sumOf(
  found: readonly RosterAgent[],
  activity: ReadonlyMap<string, AgentActivity>,
): AgentPage["counts"] {
  const sum = { calls: 0, success: 0, error: 0, open: 0 };
  for (const { id } of found) {
    const counts = activity.get(id);
    if (!counts) continue;
    sum.calls += counts.calls;
    sum.success += counts.success;
    sum.error += counts.error;
    sum.open += counts.open;
  }
  return sum;
}
