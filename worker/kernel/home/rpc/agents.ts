/** What the rest of the Worker asks a home about agents. */

import type { AgentsApi } from "../../api/agents-api.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { agentViews } from "../agents/agent-views.ts";
import { gatewayKeyOf } from "../agents/gateway-key.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { enrollKey, listKeys, removeAgent, revokeKey } from "../enrollment/key-enrollment.ts";
import { readmitAgent } from "../enrollment/readmit.ts";
import { emit } from "../feature.ts";
import type { HomePart } from "../part.ts";
import { activityOf } from "../status.ts";
import { agentPage } from "./agent-page.ts";

export const agentsRpc: HomePart<AgentsApi> = {
  findAgents: async ({ home }, query, reach) => await rosterOf(home).find(query, reach, Date.now()),
  target: async ({ home }, agent) => rosterOf(home).target(agent, Date.now()),
  async targets({ home }) {
    const now = Date.now();
    const { agents: listed, excerptOf } = await rosterOf(home).forQuestion(undefined, now);
    return {
      agents: listed.flatMap(({ id }) => rosterOf(home).target(id, now) ?? []),
      ...(excerptOf && { excerptOf }),
    };
  },
  agents: async ({ home }, query) => await agentPage(home, query),
  agent: async ({ home }, id) => agentViews(home, [id], activityOf(home), Date.now())[0],
  acceptText: async ({ home }, agent, line) => agentRowsOf(home).acceptText(agent, line),
  async removeAgent({ home }, agent) {
    const removed = removeAgent(home, agent);
    if (removed === "removed") await emit("agentsGone", home);
    return removed;
  },
  enrollAgent: async ({ home }, key, grant) => await enrollKey(home, key, grant),
  readmitAgent: async ({ home }, agent) => await readmitAgent(home, agent),
  async revokeAgentKey({ home }, agent) {
    const isRevoked = await revokeKey(home, agent);
    if (isRevoked) await emit("agentsGone", home);
    return isRevoked;
  },
  keys: async ({ home }) => await listKeys(home),
  publicKey: async ({ home }) => await gatewayKeyOf(home).publicKey(),
};
