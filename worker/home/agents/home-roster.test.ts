/** What a model is told of a home of any size, and how it finds an agent that it was not told of. */
import { reset } from "cloudflare:test";
import { FIXTURE_AGENTS } from "@edgecall/core/agents/testkit/agents.ts";
import { textTokens } from "@edgecall/core/loop/tokens.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { afterEach, describe, expect, test } from "vitest";
import { modelRequests } from "../../../test/model-requests.ts";
import { type ModelRequest, type Step, script } from "../../../test/scripted-model.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";

afterEach(reset);

const slim = [CPU, SIREN, { ...CPU, name: "battery", description: "Charge of its battery" }];
const real = Array.from({ length: 28 }, (_, n) => ({
  ...(n % 2 ? CPU : SIREN),
  name: `do_something_number_${n}`,
  description: `Does the thing of number ${n}. ${"It says at length how it is done and what comes back. ".repeat(4)}`,
  parameters: {
    type: "object",
    properties: { where: { type: "string", description: "where it is done" }, times: { type: "integer" } },
  },
}));

const AGENTS_A_FRAME = 250;
/** Agents with the lines of the search's fixture. */
function fleet(from: number, to: number, tools: unknown[]): AgentState[] {
  return Array.from({ length: to - from }, (_, at) => {
    const n = from + at;
    const { id, line } = FIXTURE_AGENTS[n % FIXTURE_AGENTS.length] ?? { id: "", line: "" };
    return agent(n < FIXTURE_AGENTS.length ? id : `${id}-${n}`, { line, tools });
  });
}

async function known(): Promise<number> {
  const { agents } = (await (await ask("/v1/status")).json()) as { agents: { known: number } };
  return agents.known;
}

/** A home that grows: its agents come one by one. */
async function grow(bridge: TestBridge, agents: readonly AgentState[]): Promise<void> {
  const before = await known();
  for (let at = 0; at < agents.length; at += AGENTS_A_FRAME) {
    for (const one of agents.slice(at, at + AGENTS_A_FRAME)) bridge.send({ t: "agent", agent: one });
    const so = before + Math.min(agents.length, at + AGENTS_A_FRAME);
    await until(async () => (await known()) >= so, { what: `${so} agents`, within: 30_000 });
  }
}

/** @returns what the model was sent in a turn with this script, request by request */
async function asked(words: string, ...steps: Step[]): Promise<ModelRequest[]> {
  const text = `${words}\n${script(...steps)}`;
  await say(crypto.randomUUID(), text);
  return await modelRequests({ question: text });
}

const systemOf = (request: ModelRequest | undefined): string => String(request?.messages[0]?.content);
const namesOf = (request: ModelRequest | undefined) => request?.tools.map((tool) => tool.function.name);

/** Of tools and system prompt, by the estimate that the gateway counts with: a token has three characters. */
function tokensOf(request: ModelRequest | undefined): number {
  return textTokens(systemOf(request)) + textTokens(JSON.stringify(request?.tools));
}

describe.each([
  ["slim adverts", slim, [1, 10, 20, 21, 100, 1_000, 5_000]],
  ["adverts of 28 tools", real, [1, 10, 20, 21, 100, 1_000]],
] as const)("%s", (_, tools, sizes) => {
  test("the tools and the system prompt of a home of any size have few tokens", async () => {
    const bridge = await TestBridge.connectUnread([]);
    let size = 0;
    for (const next of sizes) {
      await grow(bridge, fleet(size, next, [...tools]));
      size = next;
      const [request] = await asked("How warm is the aquarium in the living room?", { text: "x" });
      const call = request?.tools.find((tool) => tool.function.name === "edge_call")?.function;
      expect(call?.description.length).toBeLessThanOrEqual(1_000);
      const { agent_id } = (call?.parameters.properties ?? {}) as { agent_id?: { enum?: string[] } };
      const ids = agent_id?.enum;
      if (size <= 20) {
        expect(ids).toHaveLength(size);
        expect(namesOf(request)).toEqual(["edge_call"]);
        continue;
      }
      expect(ids).toBeUndefined();
      expect(namesOf(request)).toEqual(["edge_call", "find_agents"]);
      expect(systemOf(request)).toContain(`This home has ${size} edge agents, ${size} of them online`);
      expect(tokensOf(request)).toBeLessThanOrEqual(1_500);
    }
  }, 120_000);
});
