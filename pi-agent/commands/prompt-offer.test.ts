/** Which tools a device's own model is offered, over everything that a device can have. */
import { MORE_TOOLS, ToolOffer, tokensOfTools } from "@edgecall/core/loop/offer.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { afterAll, afterEach, expect, test } from "vitest";
import { settings as everySetting, everyTool } from "../testing/every-tool.ts";
import { memoryLog, Peer, readyAgent, startBroker, testSettings } from "../testing/home.ts";
import { type ModelAnswer, type ModelRequest, startModel } from "../testing/model.ts";
import { probe } from "../testing/tools.ts";
import { ownTools } from "../toolbox/own-tools.ts";
import { LATER_QUESTIONS } from "./testkit/later-questions.ts";
import { QUESTIONS, type ToolQuestion } from "./testkit/questions.ts";

const { tools: every, close } = await everyTool();
afterAll(close);

const open: Array<{ stop(): Promise<void> }> = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

const all = new ToolRegistry([...every, ...ownTools(everySetting).map(({ tool }) => tool)]).definitions();

/** What a question is offered, and whether one of its tools is among that, or in the line alone. */
function offeredTo({ text, tools }: ToolQuestion) {
  const offered = new ToolOffer({ tools: all, question: text }).tools([]);
  const line = offered.find((tool) => tool.function.name === MORE_TOOLS)?.function.description ?? "";
  const named = line.split(/[^a-z0-9_]+/);
  const isOffered = offered.some((tool) => tools.includes(tool.function.name));
  return {
    text,
    isOffered,
    isNamed: !isOffered && tools.some((name) => named.includes(name)),
    tokens: tokensOfTools(offered),
    characters: JSON.stringify(offered).length,
  };
}

test("L2: of 120 questions in three languages the tool that answers is offered to 118, with 2,000 tokens of tools", () => {
  expect(QUESTIONS).toHaveLength(120);
  expect(tokensOfTools(all)).toBeGreaterThan(6_000);
  const found = QUESTIONS.map(offeredTo);
  const missed = found.filter(({ isOffered }) => !isOffered).map(({ text }) => text);
  expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(2);
  expect(found.filter(({ isOffered, isNamed }) => !isOffered && !isNamed)).toEqual([]);
  expect(Math.max(...found.map(({ tokens }) => tokens))).toBeLessThanOrEqual(2_000);
  expect(Math.max(...found.map(({ characters }) => characters / 4))).toBeLessThanOrEqual(2_000);
});

test("L2: of 40 later questions the tool that answers is offered to 36, and named to the others", () => {
  const found = LATER_QUESTIONS.map(offeredTo);
  expect(found).toHaveLength(40);
  expect(found.filter(({ isOffered }) => isOffered).length).toBeGreaterThanOrEqual(36);
  expect(found.filter(({ isOffered, isNamed }) => !isOffered && !isNamed)).toEqual([]);
});

async function home(answer: (request: ModelRequest, count: number) => ModelAnswer) {
  const broker = await startBroker();
  open.push(broker);
  const peer = await Peer.connect(broker.port);
  open.push(peer);
  const model = await startModel(answer);
  open.push(model);
  const llm = { baseUrl: model.baseUrl, model: "scripted", maxTokens: 500, temperature: 0 };
  const valve = probe("valve", { description: "Opens a thing in the hall." });
  const tools = [...every.filter(({ name }) => name !== "disk"), valve.tool];
  const settings = testSettings(broker.port, { llm });
  open.push(await readyAgent(settings, { log: memoryLog().log, tools }));
  const prompt = (text: string) =>
    peer.ask("eye", { command: "prompt", payload: { prompt: text }, request_id: "p" });
  const offered = () => model.requests.map(({ tools = [] }) => tools.map((tool) => tool.function.name));
  return { prompt, offered, valve };
}

test("L2: a device's model reaches a tool that it was not offered, by its name", async () => {
  const { prompt, offered, valve } = await home((_, count) =>
    count === 1 ? { calls: [{ name: "valve", args: { value: "x" } }] } : { text: "done" },
  );
  const { payload } = await prompt("How warm is the Pi?");
  expect(valve.runs).toEqual(["x"]);
  expect(payload).toMatchObject({ content: "done", calls: [{ name: "valve", status: "success" }] });
  const [first, second] = offered();
  expect(first).toEqual(expect.arrayContaining(["temperature", "more_tools"]));
  expect(first).not.toContain("valve");
  expect(second).toEqual([...(first ?? []), "valve"]);
});

test("L2: wrong arguments of a tool that was not offered are answered with its schema", async () => {
  const { prompt, valve } = await home(({ messages }, count) =>
    count === 1
      ? { calls: [{ name: "valve", args: { turn: 1 } }] }
      : { text: messages.at(-1)?.content ?? "" },
  );
  const { payload } = await prompt("How warm is the Pi?");
  expect(valve.runs).toEqual([]);
  expect(payload.content).toMatch(/^Error: Invalid parameters for 'valve'[\s\S]*"properties":\{"value"/);
});

test("L2: a device's model asks for more tools in words, and the record has only what was done", async () => {
  const { prompt, offered, valve } = await home((_, count) => {
    if (count === 1) return { calls: [{ name: "more_tools", args: { about: "open the thing" } }] };
    return count === 2 ? { calls: [{ name: "valve", args: {} }] } : { text: "done" };
  });
  const { payload } = await prompt("How warm is the Pi?");
  expect(valve.runs).toHaveLength(1);
  expect(offered()[1]).toContain("valve");
  expect(payload.calls).toMatchObject([{ name: "valve" }]);
  expect(payload.tools_executed).toMatchObject([{ tool: "valve" }]);
});
