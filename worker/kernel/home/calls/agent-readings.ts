/** Asks a paired agent what rules can look at there. */
import { RULES_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import { check, type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import { ReadingOptions } from "@edgecall/core/protocol/rules.ts";
import type { ReadingOption } from "@edgecall/core/rules/make-watch.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import type { HomeContext } from "../context.ts";
import { askAgent } from "./ask-agent.ts";

/** A sensor may take its time, and the person waits. */
const READ_WITHIN_MS = 20_000;

/** @param reading the one that is meant: an agent need not read all others */
export async function agentReadings(
  home: HomeContext,
  id: string,
  reading: string,
  feature = RULES_FEATURE,
): Promise<Parsed<ReadingOption[]>> {
  if (!servedAgentsOf(home).isOnline(id, Date.now()))
    return wrong(`agent_id: '${id}' is offline, so its readings are not known now`);
  if (!agentRowsOf(home).features(id).includes(feature))
    return wrong(
      feature === RULES_FEATURE
        ? `agent_id: '${id}' cannot watch by itself; 'remind' with every: hour and do: brief can look at it each hour. Its presence can be watched`
        : `agent_id: '${id}' is older than 0.5`,
    );
  const named = await askReadings(home, id, { reading });
  if (named.ok && named.value.length > 0) return named;
  // The error names what there is.
  return await askReadings(home, id, {});
}

async function askReadings(
  home: HomeContext,
  id: string,
  payload: Record<string, unknown>,
): Promise<Parsed<ReadingOption[]>> {
  const answer = await askAgent(home, id, "readings", payload, READ_WITHIN_MS);
  const read = answer && check(ReadingOptions, answer.readings);
  if (!read) return wrong(`agent_id: '${id}' did not answer in time`);
  // SAFETY: the fields that are absent are those that are optional there.
  return read.ok
    ? { ok: true, value: read.value as ReadingOption[] }
    : wrong(`agent_id: '${id}': ${read.error}`);
}
