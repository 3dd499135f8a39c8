/** What the rest of the Worker asks a home about agents. */

import type { AgentListQuery, AgentPage } from "../../api/agent-list.ts";
import type { AgentsApi, Targets } from "../../api/agents-api.ts";
import type { AgentView } from "../../api/answers.ts";
import type { CallTarget } from "../../api/edge-call.ts";
import type { FindQuery, FoundWords } from "../../api/find-agents.ts";
import type { Enrolled, HomeKeys, KeyGrant, NewKey, Readmitted, Removed } from "../../api/keys.ts";
import { agentsOf } from "../agents/agents.ts";
import { gatewayKeyOf } from "../agents/gateway-key.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { enrollKey, listKeys, removeAgent, revokeKey } from "../enrollment/key-enrollment.ts";
import { readmitAgent } from "../enrollment/readmit.ts";
import { emit } from "../feature.ts";
import { HomePart } from "../part.ts";
import { activityOf } from "../status.ts";
import { agentPage } from "./agent-page.ts";

export class AgentsRpc extends HomePart implements AgentsApi {
  async findAgents(query: FindQuery, reach?: readonly string[]): Promise<FoundWords> {
    return await rosterOf(this.home).find(query, reach, Date.now());
  }

  async target(agent: string): Promise<CallTarget | undefined> {
    return rosterOf(this.home).target(agent, Date.now());
  }

  async targets(): Promise<Targets> {
    const now = Date.now();
    const { agents: listed, excerptOf } = await rosterOf(this.home).forQuestion(undefined, now);
    return {
      agents: listed.flatMap(({ id }) => rosterOf(this.home).target(id, now) ?? []),
      ...(excerptOf && { excerptOf }),
    };
  }

  async agents(query: AgentListQuery): Promise<AgentPage | undefined> {
    return await agentPage(this.home, query);
  }

  async agent(id: string): Promise<AgentView | undefined> {
    return agentsOf(this.home).views([id], activityOf(this.home), Date.now())[0];
  }

  async acceptText(agent: string, line: string | undefined): Promise<"accepted" | "changed" | "unknown"> {
    return agentsOf(this.home).acceptText(agent, line);
  }

  async removeAgent(agent: string): Promise<Removed> {
    const removed = removeAgent(this.home, agent);
    if (removed === "removed") await emit("agentsGone", this.home);
    return removed;
  }

  async enrollAgent(key: NewKey, grant: KeyGrant): Promise<Enrolled> {
    return await enrollKey(this.home, key, grant);
  }

  async readmitAgent(agent: string): Promise<Readmitted> {
    return await readmitAgent(this.home, agent);
  }

  async revokeAgentKey(agent: string): Promise<boolean> {
    const isRevoked = await revokeKey(this.home, agent);
    if (isRevoked) await emit("agentsGone", this.home);
    return isRevoked;
  }

  async keys(): Promise<HomeKeys> {
    return await listKeys(this.home);
  }

  async publicKey(): Promise<string> {
    return await gatewayKeyOf(this.home).publicKey();
  }
}
