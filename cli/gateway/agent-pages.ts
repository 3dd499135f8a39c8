/** Reads the list of agents, which the gateway sends in pages. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { Gateway, Within } from "./gateway.ts";
import type { Agent } from "./shapes.ts";

/** The greatest page that the gateway sends. */
const PAGE_MAX = 1_000;

export type AgentFilter = { words?: string | undefined; online?: boolean };

/**
 * @param most so many agents at most
 * @returns total: of all that fit the filter, listed or not
 */
export async function readAgents(
  gateway: Gateway,
  {
    filter = {},
    most = Number.POSITIVE_INFINITY,
    asking = {},
  }: { filter?: AgentFilter; most?: number; asking?: Within } = {},
): Promise<{ agents: Agent[]; total: number }> {
  const agents: Agent[] = [];
  let total = 0;
  let after: string | undefined;
  do {
    const query = {
      limit: Math.min(PAGE_MAX, most - agents.length),
      q: filter.words,
      online: filter.online ? ("yes" as const) : undefined,
      after,
    };
    const page: AnswerOf<"GET /v1/agents"> = await gateway.json("GET /v1/agents", { ...asking, query });
    agents.push(...page.agents);
    // An older gateway sends all agents at once, without `next` and `total`.
    total = page.total ?? agents.length;
    after = page.next ?? undefined;
  } while (after && agents.length < most);
  return { agents: agents.slice(0, most), total };
}
