/** The answer of edge_list, in JSON: the gateway's facts, and the devices' own texts, which are cut. */
import { foreignSchema } from "@edgecall/core/tools/foreign-schema.ts";
import type { CallTarget } from "../../api/edge-call.ts";
import { ago, oneLine } from "../../api/roster.ts";

/** Characters of one answer: a longer one would push the conversation out of a model's context. */
const LIST_MAX_CHARS = 40_000;
const LINE_MAX = 300;
const WORDS_MAX = 500;

export function agentList(targets: readonly CallTarget[]): string {
  const listed: object[] = [];
  let chars = 0;
  for (const target of targets) {
    const agent = { ...summary(target), actions: target.actions };
    chars += JSON.stringify(agent).length;
    if (chars > LIST_MAX_CHARS) break;
    listed.push(agent);
  }
  const more = targets.length - listed.length;
  return JSON.stringify({ agents: listed, ...(more > 0 && { more_agents_not_listed: more }) });
}

/** One agent, with as many schemas of its actions as fit. */
export function oneAgent(target: CallTarget): string {
  const actions: object[] = [];
  let chars = 0;
  for (const { name, description, parameters, effect } of target.adverts) {
    const action = {
      name,
      description: oneLine(description, WORDS_MAX),
      ...(effect && { effect }),
      params: foreignSchema(parameters),
    };
    chars += JSON.stringify(action).length;
    actions.push(chars > LIST_MAX_CHARS ? { name } : action);
  }
  return JSON.stringify({ ...summary(target), actions });
}

function summary({ id, online, reason, lastSeen, line, hasModel }: CallTarget) {
  return {
    agent_id: id,
    online,
    ...(!online && { last_seen: ago(lastSeen, Date.now()), ...(reason && { reason }) }),
    capabilities: oneLine(line, LINE_MAX),
    takes_queries: hasModel,
  };
}
