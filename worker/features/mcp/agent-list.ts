/** The answer of edge_list, in JSON: the gateway's facts, and the devices' own texts, which are cut. */
import { type CallTarget, FIND_AGENTS } from "../../kernel/api/edge-call.ts";
import { actionSchemas, agentSummary } from "../../kernel/api/find-agents.ts";
import type { HomeCounts } from "../../kernel/api/roster.ts";

/** Characters of one answer: a longer one would push the conversation out of a model's context. */
const LIST_MAX_CHARS = 40_000;

/** @param excerptOf the counts of a home of too many agents to list */
export function agentList(targets: readonly CallTarget[], excerptOf: HomeCounts | undefined): string {
  if (excerptOf) {
    const { known, online, kinds, areas } = excerptOf;
    const counts = { agents_by_kind: Object.fromEntries(kinds), agents_by_area: Object.fromEntries(areas) };
    return JSON.stringify({ known, online, ...counts, note: `${FIND_AGENTS} finds agents by words.` });
  }
  const now = Date.now();
  const listed: object[] = [];
  let chars = 0;
  for (const target of targets) {
    const agent = { ...agentSummary(target, now), actions: target.actions };
    chars += JSON.stringify(agent).length;
    if (chars > LIST_MAX_CHARS) break;
    listed.push(agent);
  }
  const more = targets.length - listed.length;
  return JSON.stringify({ agents: listed, ...(more > 0 && { more_agents_not_listed: more }) });
}

/** One agent, with as many schemas of its actions as fit. */
export function oneAgent(target: CallTarget): string {
  const actions = actionSchemas(target.adverts, LIST_MAX_CHARS);
  return JSON.stringify({ ...agentSummary(target, Date.now()), actions });
}
