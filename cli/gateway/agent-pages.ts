/** Reads the list of agents, which the gateway sends in pages. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Gateway, Within } from "./gateway.ts";
import { Agent } from "./shapes.ts";

/** The greatest page that the gateway sends. */
const PAGE_MAX = 1_000;

/** An older gateway sends all agents at once, without `next` and `total`. */
const Page = z.looseObject({
  agents: z.array(Agent),
  next: z.optional(z.nullable(z.string())),
  total: z.optional(z.number()),
});

export type AgentFilter = { words?: string | undefined; online?: boolean };

/** @param most so many agents at most @returns total: of all that fit the filter, listed or not */
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
    const page: z.infer<typeof Page> = await gateway.json(Page, "GET /v1/agents", { ...asking, query });
    agents.push(...page.agents);
    total = page.total ?? agents.length;
    after = page.next ?? undefined;
  } while (after && agents.length < most);
  return { agents: agents.slice(0, most), total };
}
