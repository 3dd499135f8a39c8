/** Methods of a home about agents. */
import type { AgentListQuery, AgentPage } from "./agent-list.ts";
import type { AgentView } from "./answers.ts";
import type { CallTarget } from "./edge-call.ts";
import type { FindQuery, FoundText } from "./find-agents.ts";
import type { Enrolled, HomeKeys, KeyGrant, NewKey, Readmitted, Removed } from "./keys.ts";
import type { HomeCounts } from "./roster.ts";

export type Targets = { agents: CallTarget[]; excerptOf?: HomeCounts };

export interface AgentsApi {
  /** Finds agents by a person's words. @param reach the only agents that the caller may reach; absent: all */
  findAgents(query: FindQuery, reach?: readonly string[]): Promise<FoundText>;
  /** One agent with the schemas of its actions. */
  target(agent: string): Promise<CallTarget | undefined>;
  /** All agents with the schemas of their actions; of a large home only how many there are. */
  targets(): Promise<Targets>;
  /** @returns undefined: `after` is no place in this list any more */
  agents(query: AgentListQuery): Promise<AgentPage | undefined>;
  agent(id: string): Promise<AgentView | undefined>;
  /** An owner accepts the words by which an agent describes itself. @param line as the owner read it */
  acceptText(agent: string, line: string | undefined): Promise<"accepted" | "changed" | "unknown">;
  /** Takes a device that is gone off the list. */
  removeAgent(agent: string): Promise<Removed>;
  /**
   * Puts a device's public key on record. From here on this agent is trusted by its signature alone.
   * @returns the gateway's key, which the device has to obey; or why the key was refused
   */
  enrollAgent(key: NewKey, grant: KeyGrant): Promise<Enrolled>;
  /** Tells a paired device whose numbers are old with which ones it has to go on. */
  readmitAgent(agent: string): Promise<Readmitted>;
  /** From here on this agent is not trusted, and nothing is sent to it. @returns false: there was no key */
  revokeAgentKey(agent: string): Promise<boolean>;
  keys(): Promise<HomeKeys>;
  /** The key that the home's devices obey. */
  publicKey(): Promise<string>;
}
