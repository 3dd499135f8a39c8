// @module-tag needs/npm-clients
/** LangChain for JavaScript with both of OpenAI's APIs, LangGraph's agent and the MCP adapters, with the running stack and a real agent. */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { npmClient } from "./npm-client.ts";
import { useStack } from "./stack.ts";

const stack = useStack({ vars: { MCP_TRUSTED_TOKENS: "anna" } }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  const top = { tools: { enabled: ["memory", "picture", "slow", "temperature"] } };
  await stack.startAgent({ id: "pi", env, top });
  await stack.gateway.online("pi");
});

const call = (name: string, args: unknown): Step => ({ calls: [{ name, arguments: args }] });
const memory = call("edge_call", { agent_id: "pi", action: "memory" });
const weatherCall = call("weather", { city: "Bern" });
const answer: Step = { text: "So: $results" };
/** The result of the device, which only the gateway's rows have, and that of the client's tool. */
const BOTH = /^So: [\s\S]*RAM 50% used[\s\S]*\| rain in Bern$/;
const GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";

type Message = { text: string; content: unknown; usage_metadata?: { total_tokens: number } };
const user = (content: unknown) => ({ role: "user", content });

const loaded: Record<string, Awaited<ReturnType<typeof npmClient>>> = {};
let weather: unknown;
beforeAll(async () => {
  for (const name of [
    "@langchain/openai",
    "@langchain/core/tools",
    "@langchain/langgraph/prebuilt",
    "@langchain/mcp-adapters",
  ])
    loaded[name] = await npmClient(name);
  weather = loaded["@langchain/core/tools"].tool(({ city }: { city: string }) => `rain in ${city}`, {
    name: "weather",
    description: "Tells the weather.",
    schema: z.object({ city: z.string() }),
  });
}, 120_000);

describe.each([
  ["chat completions", false],
  ["responses", true],
])("LangChain JS, %s", (_, useResponsesApi) => {
  const model = (more: object = {}) =>
    new loaded["@langchain/openai"].ChatOpenAI({
      model: "edgecall",
      apiKey: TOKENS.owner,
      configuration: { baseURL: `${stack.gateway.url}/v1` },
      useResponsesApi,
      maxRetries: 0,
      ...more,
    });
  const agent = (tools: unknown[], more: object = {}) =>
    loaded["@langchain/langgraph/prebuilt"].createReactAgent({ llm: model(more), tools });

  test("a call of a device, whole and streamed", async () => {
    const whole: Message = await model().invoke([user(script(memory, answer))]);
    expect(whole.text).toMatch(/^So: [\s\S]*RAM 50% used/);
    expect(whole.usage_metadata?.total_tokens).toBe(30);
    let text = "";
    let tokens = 0;
    for await (const chunk of await model().stream([user(script(memory, answer))])) {
      text += chunk.text;
      tokens += chunk.usage_metadata?.total_tokens ?? 0;
    }
    expect(text).toMatch(/^So: [\s\S]*RAM 50% used/);
    expect(tokens).toBe(30);
  });

  /** @returns the messages at the end. Its option `streaming` would fetch a tokenizer from the internet. */
  async function streamed(messages: unknown[]): Promise<Message[]> {
    let said: Message[] = [];
    let chunks = 0;
    const streamMode = ["messages", "values"];
    for await (const [mode, data] of await agent([weather]).stream({ messages }, { streamMode })) {
      if (mode === "values") said = data.messages;
      else chunks += 1;
    }
    expect(chunks).toBeGreaterThan(2);
    return said;
  }
  const whole = async (messages: unknown[]): Promise<Message[]> =>
    (await agent([weather]).invoke({ messages })).messages;

  test.each([
    ["whole", whole],
    ["streamed", streamed],
  ])("its agent's own tool after a call of a device, and the next question, %s", async (_, run) => {
    const said = await run([user(script(memory, weatherCall, answer))]);
    expect(said.at(-1)?.text).toMatch(BOTH);
    const next = await run([...said, user(script({ text: "Bye." }))]);
    expect(next.at(-1)?.text).toBe("Bye.");
    const seen = stack.model.requests.at(-1)?.messages ?? [];
    expect(seen.filter(({ role }) => role === "user")).toHaveLength(2);
    const texts = seen.map(({ content }) => content);
    expect(texts).toEqual(expect.arrayContaining(["rain in Bern", said.at(-1)?.text]));
  });

  test("a picture", async () => {
    const picture = { type: "image_url", image_url: { url: GIF } };
    const seen: Message = await model().invoke([
      user([{ type: "text", text: script({ text: "$pictures" }) }, picture]),
    ]);
    expect(seen.text).toMatch(/^data:image\/gif \d+$/);
  });

  test.each(["functionCalling", "jsonSchema"])("an answer in its form, by %s", async (method) => {
    const schema = z.object({ percent: z.number() });
    const said: Step = method === "jsonSchema" ? { text: '{"percent": 50}' } : call("Disk", { percent: 50 });
    const asked = model().withStructuredOutput(schema, { name: "Disk", method });
    expect(await asked.invoke([user(script(memory, said))])).toEqual({ percent: 50 });
  });

  test("a wrong key, a model that is not there, and an endpoint that fails", async () => {
    await expect(model({ apiKey: "nobody-has-this-token" }).invoke("x")).rejects.toMatchObject({
      status: 401,
    });
    const unknown: Message = await model({ model: "gpt-9" }).invoke([user(script({ text: "here" }))]);
    expect(unknown.text).toBe("here");
    const broken = script({ status: 400, body: { error: { message: "no such thing" } } });
    const failed = await model()
      .invoke([user(broken)])
      .then(({ text }: Message) => text, String);
    expect(failed).toContain("no such thing");
  });

  if (!useResponsesApi) return;
  test("D4: store: false (zdrEnabled), with its own tool and the next question", async () => {
    const one = await agent([weather], { zdrEnabled: true }).invoke({
      messages: [user(script(memory, weatherCall, answer))],
    });
    const said: Array<Message & { response_metadata: { id?: string } }> = one.messages;
    expect(said.at(-1)?.text).toMatch(BOTH);
    const { id } = said.at(-1)?.response_metadata ?? {};
    expect(id).toMatch(/^resp_/);
    expect((await stack.gateway.fetch(`/v1/responses/${id}`)).status).toBe(404);
    const two: Message = await model({ zdrEnabled: true }).invoke([...said, user(script({ text: "Bye." }))]);
    expect(two.text).toBe("Bye.");
    const texts = stack.model.requests.at(-1)?.messages.map(({ content }) => content);
    expect(texts).toEqual(expect.arrayContaining(["rain in Bern", said.at(-1)?.text]));
  });
});

describe("LangChain JS, MCP adapters", () => {
  const adapters = (token: string = TOKENS.owner) => {
    const url = `${stack.gateway.url}/mcp`;
    const headers = { Authorization: `Bearer ${token}` };
    return new loaded["@langchain/mcp-adapters"].MultiServerMCPClient({
      mcpServers: { home: { transport: "http", url, headers } },
    });
  };

  test("D1: its agent calls devices, and it reads what a device sent", async () => {
    const client = adapters();
    const all: Array<{ name: string; invoke(args: object): Promise<unknown> }> = await client.getTools();
    expect(all.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["edge_list", "edge_call", "pi__temperature", "pi__picture"]),
    );
    const { createReactAgent } = loaded["@langchain/langgraph/prebuilt"];
    const llm = new loaded["@langchain/openai"].ChatOpenAI({
      model: "edgecall",
      apiKey: TOKENS.owner,
      configuration: { baseURL: `${stack.gateway.url}/v1` },
    });
    // `edge_call` is the gateway's own tool.
    const tools = all.filter(({ name }) => name.startsWith("pi__"));
    const question = user(script(call("pi__temperature", {}), call("pi__slow", { ms: 1 }), answer));
    const { messages } = await createReactAgent({ llm, tools }).invoke({ messages: [question] });
    expect(messages.at(-1).text).toMatch(/^So: [\s\S]*°C[\s\S]*\| /);
    await all.find(({ name }) => name === "pi__picture")?.invoke({ bytes: 20_000 });
    const found = async () => (await client.listResources()).home[0];
    const resource = await until(found, { what: "the list of resources" });
    expect(resource.mimeType).toBe("image/jpeg");
    const [content] = await client.readResource("home", resource.uri);
    expect(Buffer.from(content.blob, "base64")).toHaveLength(20_000);
    expect((await client.listResourceTemplates()).home).toEqual([]);
    await client.close();
  });

  test("a wrong token", async () => {
    await expect(adapters("nobody-has-this-token").getTools()).rejects.toThrow(/401|Unauthorized|auth/i);
  });
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
