/** What a model is told of a home of any size, and how it finds an agent that it was not told of. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { FIXTURE_AGENTS } from "@edgecall/core/agents/testkit/agents.ts";
import { textTokens } from "@edgecall/core/loop/tokens.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { HISTORY_FEATURE } from "@edgecall/core/protocol/past.ts";
import { afterEach, describe, expect, test, vi } from "vitest";
import { call as mcpCall, tools as mcpTools } from "../../../../test/mcp-requests.ts";
import { modelRequests } from "../../../../test/model-requests.ts";
import { type ModelRequest, type Step, script } from "../../../../test/scripted-model.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";
import { Home } from "../../../home.ts";
import { conversationOf } from "../../api/stubs.ts";
import type { Limits } from "../../api/turns.ts";

afterEach(async () => {
  vi.restoreAllMocks();
  await reset();
});

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

/** They cannot ask a person, so Home asks for them. */
const MUTE = ["tool", "prompt", "cancel", "ack"];
const AGENTS_A_FRAME = 50;
/** Agents with the lines of the search's fixture. */
function fleet(from: number, to: number, tools: unknown[]): AgentState[] {
  return Array.from({ length: to - from }, (_, at) => {
    const n = from + at;
    const { id, line } = FIXTURE_AGENTS[n % FIXTURE_AGENTS.length] ?? { id: "", line: "" };
    return agent(n < FIXTURE_AGENTS.length ? id : `${id}-${n}`, { line, tools, features: MUTE });
  });
}

async function online(): Promise<number> {
  const { agents } = (await (await ask("/v1/status")).json()) as { agents: { online: number } };
  return agents.online;
}

/** The home has these agents and no other. */
async function snapshot(bridge: TestBridge, agents: readonly AgentState[]): Promise<void> {
  for (let at = 0; at < agents.length; at += AGENTS_A_FRAME) {
    const some = agents.slice(at, at + AGENTS_A_FRAME);
    bridge.send({ t: "snapshot", agents: some, last: at + some.length === agents.length });
  }
  await until(async () => (await online()) === agents.length, {
    what: `${agents.length} agents`,
    within: 60_000,
  });
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
    const bridge = await TestBridge.dial();
    await bridge.hello([HISTORY_FEATURE]);
    await bridge.snapshot([]);
    for (const size of sizes) {
      await snapshot(bridge, fleet(0, size, [...tools]));
      const [request] = await asked("How warm is the aquarium in the living room?", { text: "x" });
      const call = request?.tools.find((tool) => tool.function.name === "edge_call")?.function;
      expect(call?.description.length).toBeLessThanOrEqual(1_000);
      const { agent_id } = (call?.parameters.properties ?? {}) as { agent_id?: { enum?: string[] } };
      const ids = agent_id?.enum;
      if (size <= 20) {
        // Of two or more, any of them may be called.
        expect(ids?.filter((id) => id !== "any")).toHaveLength(size);
        expect(ids?.includes("any")).toBe(size > 1);
        expect(namesOf(request)).toEqual(["edge_call"]);
        continue;
      }
      expect(ids).toBeUndefined();
      expect(namesOf(request)).toEqual(["edge_call", "find_agents"]);
      expect(systemOf(request)).toContain(`This home has ${size} edge agents, ${size} of them online`);
      expect(tokensOf(request)).toBeLessThanOrEqual(1_500);
      setVariables({ GATEWAY_TOOLS: "sessions" });
      const [withSessions] = await asked("How warm is the aquarium on the veranda?", { text: "x" });
      setVariables({ GATEWAY_TOOLS: "none" });
      expect(namesOf(withSessions)).toContain("sessions_spawn");
      expect(systemOf(withSessions).match(/^ {2}- /gm)?.length).toBeGreaterThanOrEqual(3);
      expect(tokensOf(withSessions)).toBeLessThanOrEqual(1_500);
      setVariables({ GATEWAY_TOOLS: "sessions rules history" });
      const [withRules] = await asked("How warm is the aquarium in the hall?", { text: "x" });
      setVariables({ GATEWAY_TOOLS: "none" });
      expect(namesOf(withRules)).toEqual(expect.arrayContaining(["past", "rules"]));
      expect(systemOf(withRules).match(/^ {2}- /gm)?.length).toBeGreaterThanOrEqual(3);
      expect(tokensOf(withRules)).toBeLessThanOrEqual(1_500);
    }
  }, 120_000);
});

/** A home of more agents than are listed; an owner has accepted their words. */
async function largeHome(size = 24): Promise<TestBridge> {
  const bridge = await TestBridge.connect(fleet(0, size, [CPU, SIREN]));
  bridge.onCall = ({ agent: id }) => ({ status: "success", tool: "siren", result: `${id} did it` });
  return bridge;
}
const AQUARIUM = "aquarium";
const LIVING_ROOM_LAMP = "wz-lampe-1";
const find = (text: string, more: object = {}) => ({
  calls: [{ name: "find_agents", arguments: { text, ...more } }],
});
const siren = (agent_id: string) => ({ calls: [{ arguments: { agent_id, action: "siren" } }] });
const results = { text: "$results" };

async function answerTo(...steps: Step[]): Promise<string> {
  const { body } = await say(crypto.randomUUID(), script(...steps, results));
  return body.answer;
}

async function openQuestions(): Promise<unknown[]> {
  return ((await (await ask("/v1/questions")).json()) as { questions: unknown[] }).questions;
}

describe("find_agents", () => {
  test("finds an agent by words, then its actions with their schemas, which then is called without a question", async () => {
    const bridge = await largeHome();
    const answer = await answerTo(
      find("fish tank temperature"),
      find("the warmth of the water of the fish", { limit: 1 }),
      find(AQUARIUM),
      siren(AQUARIUM),
    );
    const [several, one, byId, done] = answer.split(" | ");
    const { agents, of } = JSON.parse(several ?? "") as {
      agents: Array<Record<string, unknown>>;
      of: number;
    };
    expect(agents[0]).toMatchObject({ agent_id: AQUARIUM, online: true, takes_queries: true });
    expect([...((agents[0]?.actions ?? []) as string[])].sort()).toEqual(["cpu", "siren"]);
    expect(of).toBe(24);
    for (const text of [one, byId])
      expect(JSON.parse(text ?? "")).toMatchObject({
        agents: [
          {
            agent_id: AQUARIUM,
            actions: expect.arrayContaining([
              {
                name: "siren",
                description: "Sounds the siren",
                effect: "device",
                params: { type: "object", properties: {} },
              },
            ]),
          },
        ],
      });
    expect(done).toBe(`${AQUARIUM} did it`);
    expect(bridge.calls().map((frame) => frame.agent)).toEqual([AQUARIUM]);
    expect(await openQuestions()).toEqual([]);
  });

  test("says what there is when nothing fits, and what is wrong with its arguments", async () => {
    await largeHome();
    expect(await answerTo(find("xqzzyw"))).toMatch(/^No agent fits these words.*\nAgents by kind: light \d+/);
    expect(await answerTo(find("lamp", { limit: 99 }))).toContain("Invalid parameters for 'find_agents'");
  });

  test("is a read: the words of one agent, or those that no owner accepted, taint calls to others", async () => {
    await largeHome();
    const asks = async (...steps: Step[]) => {
      const waiting = say(crypto.randomUUID(), script(...steps, results));
      await until(async () => (await openQuestions()).length > 0, { what: "a question" });
      const [{ id }] = (await openQuestions()) as [{ id: string }];
      await ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer: "deny" }) });
      await waiting;
    };
    // Names of actions and lines that an owner accepted are no stranger's words.
    expect(await answerTo(find("lamp"), siren(LIVING_ROOM_LAMP))).toContain(`${LIVING_ROOM_LAMP} did it`);
    // Schemas and descriptions are nobody's but the agent's.
    await asks(find(AQUARIUM), siren(LIVING_ROOM_LAMP));
  });

  test("S5 words that no owner accepted taint as they do in a roster", async () => {
    const bridge = await TestBridge.connectUnread(fleet(0, 24, [CPU, SIREN]));
    bridge.onCall = () => ({ status: "success", tool: "siren", result: "done" });
    void say(crypto.randomUUID(), script(find("lamp", { limit: 3 }), siren(AQUARIUM), results));
    await until(async () => (await openQuestions()).length > 0, { what: "a question" });
    expect(bridge.calls()).toEqual([]);
  });

  test("a caller finds only agents in its reach, and is told of no other", async () => {
    await largeHome(60);
    const turn = async (limits: Limits, ...steps: Step[]) => {
      const name = `a/api/${crypto.randomUUID()}`;
      const text = `the aquarium\n${script(...steps, results)}`;
      const id = crypto.randomUUID();
      const origin = { principal: "anna", role: "guest" as const, channel: "api", limits };
      await conversationOf(env, name).start({ id, idempotency: undefined, text, images: [], origin }, "any");
      const { answer } = await until(async () => {
        const now = await conversationOf(env, name).look(id);
        return now?.status === "done" ? now : undefined;
      });
      return { answer, requests: await modelRequests({ question: text }) };
    };
    const ids = fleet(0, 60, []).map(({ id }) => id);
    const lamps = ids.filter((id) => id !== AQUARIUM).slice(0, 30);
    const many = await turn({ agents: lamps }, find("aquarium"), find(AQUARIUM), siren(AQUARIUM));
    expect(systemOf(many.requests[0])).toContain("This home has 30 edge agents");
    expect(JSON.stringify(many.requests[0])).not.toMatch(/- aquarium/);
    expect(many.answer).not.toContain(`"agent_id":"${AQUARIUM}"`);
    expect(many.answer).toContain(`agent '${AQUARIUM}' is not in reach of this caller`);
    const few = await turn({ agents: [AQUARIUM, LIVING_ROOM_LAMP] }, { text: "x" });
    expect(namesOf(few.requests[0])).toEqual(["edge_call"]);
    expect(few.requests[0]?.tools[0]?.function.description.split("\n")).toHaveLength(3);
  });

  test("an agent is found by what it says now, and not when its home has it no more", async () => {
    const bridge = await largeHome();
    const found = async (text: string) => (await answerTo(find(text))).includes('"agent_id":"shed"');
    expect(await found("chainsaw")).toBe(false);
    bridge.send({ t: "agent", agent: agent("shed", { line: "The chainsaw in the shed" }) });
    await until(() => found("chainsaw"), { what: "the new agent" });
    bridge.send({ t: "agent", agent: agent("shed", { line: "The log splitter in the shed" }) });
    await until(() => found("splitter"), { what: "the new line" });
    expect(await found("chainsaw")).toBe(false);
    bridge.send({ t: "agent", agent: agent("shed", { online: false }) });
    await until(async () => (await ask("/v1/agents/shed", { method: "DELETE" })).ok, { what: "its removal" });
    expect(await found("splitter")).toBe(false);
  });

  test("an unknown id is answered with ids like it", async () => {
    await largeHome();
    expect(await answerTo(siren("wz_lampe_9"))).toMatch(
      /^Error: Agent 'wz_lampe_9' not found\. Agents with an id like it: wz-lampe-\d, wz-lampe-\d, wz-lampe-\d\./,
    );
    expect(await answerTo(siren("xqzzyw"))).toBe(
      "Error: Agent 'xqzzyw' not found.\nFind its id with find_agents or explain to the user.",
    );
  });

  test("stands in MCP's list, where no agent is listed", async () => {
    await largeHome();
    const listed = await mcpTools();
    expect(listed.map(({ name }) => name).sort()).toEqual([
      "edge_call",
      "edge_list",
      "edge_result",
      "find_agents",
    ]);
    expect(textTokens(JSON.stringify(listed))).toBeLessThanOrEqual(1_500);
    const found = await mcpCall("find_agents", { text: "fish tank" });
    expect(found.content[0]?.text).toContain(AQUARIUM);
    const all = JSON.parse((await mcpCall("edge_list", {})).content[0]?.text ?? "");
    expect(all).toMatchObject({ known: 24, online: 24, agents_by_kind: { light: expect.any(Number) } });
    const one = await mcpCall("edge_list", { agent_id: AQUARIUM });
    expect(one.content[0]?.text).toContain('"name":"siren"');
    const none = await mcpCall("edge_list", { agent_id: "nobody" });
    expect(none.content[0]?.text).toBe("Error: Agent 'nobody' not found. Find its id with find_agents.");
  });
});

describe("the plan", () => {
  test("is asked for once in a turn, and lists what the conversation used", async () => {
    await largeHome();
    const plan = vi.spyOn(Home.prototype, "conversations.plan");
    const conversation = crypto.randomUUID();
    const cpu = { calls: [{ arguments: { agent_id: LIVING_ROOM_LAMP, action: "cpu" } }] };
    await say(conversation, script(cpu, cpu, find("lamp"), { text: "x" }));
    expect(plan).toHaveBeenCalledTimes(1);
    const text = `and now the aquarium, please\n${script({ text: "x" })}`;
    await say(conversation, text);
    expect(plan).toHaveBeenCalledTimes(2);
    const [request] = await modelRequests({ question: text });
    expect(systemOf(request)).toMatch(new RegExp(`- ${AQUARIUM}:[\\s\\S]*- ${LIVING_ROOM_LAMP}:`));
  });

  test("an agent that went during the turn is known to the next model call", async () => {
    const bridge = await TestBridge.connect([agent("pi"), agent("attic")]);
    const plan = vi.spyOn(Home.prototype, "conversations.plan");
    bridge.onCall = ({ agent: id }) => {
      bridge.send({ t: "agent", agent: agent("attic", { online: false, reason: "last will" }) });
      return { status: "success", tool: "cpu", result: id };
    };
    const cpu = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };
    const [before, after] = await asked("how busy?", cpu, { text: "x" });
    expect(systemOf(before)).not.toContain("offline");
    expect(systemOf(after)).toMatch(/offline and cannot be called:\n {2}- attic/);
    expect(plan).toHaveBeenCalledTimes(2);
  });
});
