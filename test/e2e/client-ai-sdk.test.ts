// @module-tag needs/npm-clients
/** The AI SDK 7 with each of its providers for OpenAI's routes, and its MCP client, with the running stack and a real agent. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, isStepCount, type LanguageModel, Output, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { npmClient } from "./npm-client.ts";
import { useStack } from "./stack.ts";

const stack = useStack({ vars: { MCP_TRUSTED_TOKENS: "anna" } }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  const top = { tools: { enabled: ["memory", "picture", "slow", "temperature"] } };
  await stack.startAgent({ id: "pi", model: true, env, top });
  await stack.gateway.online("pi");
});

const call = (name: string, args: unknown): Step => ({ calls: [{ name, arguments: args }] });
const memory = call("edge_call", { agent_id: "pi", action: "memory" });
const weatherCall = call("weather", { city: "Bern" });
const answer: Step = { text: "So: $results" };
/** The result of the device, which only the gateway's rows have, and that of the client's tool. */
const BOTH = /^So: [\s\S]*RAM 50% used[\s\S]*\| rain in Bern$/;

const weather = tool({
  description: "Tells the weather.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
});
/** A picture of one white pixel. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

type Wire = (apiKey?: string, model?: string) => Exclude<LanguageModel, string>;
const baseURL = () => `${stack.gateway.url}/v1`;
const WIRES: Record<string, Wire> = {};
beforeAll(async () => {
  const { createOpenAI } = await npmClient("@ai-sdk/openai");
  WIRES["openai, responses"] = (apiKey, model = "edgecall") =>
    createOpenAI({ baseURL: baseURL(), apiKey }).responses(model);
  WIRES["openai, chat"] = (apiKey, model = "edgecall") =>
    createOpenAI({ baseURL: baseURL(), apiKey }).chat(model);
  WIRES["openai-compatible"] = (apiKey = "", model = "edgecall") =>
    createOpenAICompatible({ name: "edgecall", baseURL: baseURL(), apiKey, includeUsage: true })(model);
});

describe.each(["openai, responses", "openai, chat", "openai-compatible"])("AI SDK 7, %s", (name) => {
  const model: Wire = (apiKey = TOKENS.owner, asked) => {
    const wire = WIRES[name];
    if (!wire) throw new Error(`${name}: not loaded`);
    return wire(apiKey, asked);
  };

  test("a call of a device, whole and streamed", async () => {
    const whole = await generateText({ model: model(), prompt: script(memory, answer) });
    expect(whole.text).toMatch(/^So: [\s\S]*RAM 50% used/);
    expect(whole.usage.totalTokens).toBe(30);
    const stream = streamText({ model: model(), prompt: script(memory, answer) });
    expect(await stream.text).toMatch(/^So: [\s\S]*RAM 50% used/);
    expect((await stream.usage).totalTokens).toBe(30);
    expect(await stream.finishReason).toBe("stop");
  });

  test("its own tool after a call of a device, whole and streamed", async () => {
    const asked = { model: model(), tools: { weather }, stopWhen: isStepCount(4) };
    const whole = await generateText({ ...asked, prompt: script(memory, weatherCall, answer) });
    expect(whole.text).toMatch(BOTH);
    expect(whole.steps).toHaveLength(2);
    const stream = streamText({ ...asked, prompt: script(memory, weatherCall, answer) });
    expect(await stream.text).toMatch(BOTH);
  });

  test("two of its own tools' calls at once, then one more", async () => {
    const two: Step = {
      text: "I ask.",
      calls: [
        { name: "weather", arguments: { city: "Bern" } },
        { name: "weather", arguments: { city: "Thun" } },
      ],
    };
    const prompt = script(two, memory, call("weather", { city: "Chur" }), answer);
    const { text } = await generateText({
      model: model(),
      tools: { weather },
      stopWhen: isStepCount(5),
      prompt,
    });
    expect(text).toMatch(/^So: rain in Bern \| rain in Thun \| [\s\S]*RAM 50% used[\s\S]* \| rain in Chur$/);
  });

  test("a chat whose history it keeps: the model sees each answer again", async () => {
    const tools = { weather };
    const first = { role: "user" as const, content: script(memory, weatherCall, { text: "It rains." }) };
    const one = await generateText({ model: model(), tools, stopWhen: isStepCount(4), messages: [first] });
    const second = { role: "user" as const, content: script({ text: "Bye." }) };
    const messages = [first, ...one.responseMessages, second];
    const two = await generateText({ model: model(), tools, instructions: "Be brief.", messages });
    expect(two.text).toBe("Bye.");
    const seen = stack.model.requests.at(-1)?.messages ?? [];
    expect(seen[0]?.content).toContain("Be brief.");
    expect(seen.filter(({ content }) => content === "It rains.")).toHaveLength(1);
    const results = seen.filter(({ role, content }) => role === "tool" && content === "rain in Bern");
    expect(results).toHaveLength(1);
    const third = { role: "user" as const, content: script({ text: "Again." }) };
    const more = [...messages, ...two.responseMessages, third];
    const stream = streamText({ model: model(), tools, messages: more });
    expect(await stream.text).toBe("Again.");
    const texts = stack.model.requests.at(-1)?.messages.map(({ content }) => content);
    expect(texts).toEqual(expect.arrayContaining(["It rains.", "rain in Bern", "Bye."]));
  });

  test("a picture", async () => {
    const file = { type: "file" as const, mediaType: "image/gif", data: GIF };
    const text = { type: "text" as const, text: script({ text: "$pictures" }) };
    const messages = [{ role: "user" as const, content: [text, file] }];
    const seen = await generateText({ model: model(), messages });
    expect(seen.text).toMatch(/^data:image\/gif \d+$/);
  });

  test("an answer in the form that it asks for", async () => {
    const schema = z.object({ percent: z.number() });
    const prompt = script(memory, { text: '{"percent": 50}' });
    const { output } = await generateText({ model: model(), output: Output.object({ schema }), prompt });
    expect(output).toEqual({ percent: 50 });
  });

  test("a wrong key, an endpoint that fails, and a model that is not there", async () => {
    const stranger = generateText({ model: model("nobody-has-this-token"), prompt: "x", maxRetries: 0 });
    const refused = await stranger.catch((error: unknown) => error);
    expect(APICallError.isInstance(refused) && refused.statusCode).toBe(401);
    const streamed = streamText({
      model: model("nobody-has-this-token"),
      prompt: "x",
      maxRetries: 0,
      onError: () => {},
    });
    const errors: unknown[] = [];
    for await (const part of streamed.stream) if (part.type === "error") errors.push(part.error);
    expect(errors).toMatchObject([{ statusCode: 401 }]);
    // Any other name means the first model.
    const unknown = await generateText({
      model: model(TOKENS.owner, "gpt-9"),
      prompt: script({ text: "here" }),
    });
    expect(unknown.text).toBe("here");
    const failing = () => script({ status: 400, body: { error: { message: "no such thing" } } });
    const failed = await generateText({ model: model(), prompt: failing(), maxRetries: 0 }).then(
      ({ text }) => text,
      String,
    );
    expect(failed).toContain("no such thing");
    const told: unknown[] = [];
    const broken = streamText({ model: model(), prompt: failing(), maxRetries: 0, onError: () => {} });
    for await (const part of broken.stream) {
      if (part.type === "error") told.push(part.error);
      if (part.type === "text-delta") told.push(part.text);
    }
    expect(JSON.stringify(told)).toContain("no such thing");
  });
});

describe("AI SDK 7, openai, responses", () => {
  const model = () => WIRES["openai, responses"]?.(TOKENS.owner) ?? "";
  const id = (metadata: unknown) =>
    (metadata as { openai?: { responseId?: string } } | undefined)?.openai?.responseId ?? "";

  test("D4: store: false, with its own tool and the next turn, leaves no response behind", async () => {
    const providerOptions = { openai: { store: false } };
    const asked = { model: model(), tools: { weather }, stopWhen: isStepCount(4), providerOptions };
    const first = { role: "user" as const, content: script(memory, weatherCall, answer) };
    const one = await generateText({ ...asked, messages: [first] });
    expect(one.text).toMatch(BOTH);
    for (const { providerMetadata } of one.steps) {
      const path = `/v1/responses/${id(providerMetadata)}`;
      expect((await stack.gateway.fetch(path)).status).toBe(404);
    }
    const next = { role: "user" as const, content: script({ text: "Bye." }) };
    const two = await generateText({ ...asked, messages: [first, ...one.responseMessages, next] });
    expect(two.text).toBe("Bye.");
    const texts = stack.model.requests.at(-1)?.messages.map(({ content }) => content);
    expect(texts).toEqual(expect.arrayContaining([one.text, "rain in Bern"]));
  });

  test("goes on from a response", async () => {
    const one = await generateText({ model: model(), prompt: script(memory, answer) });
    const providerOptions = { openai: { previousResponseId: id(one.finalStep.providerMetadata) } };
    const two = await generateText({ model: model(), providerOptions, prompt: script({ text: "After." }) });
    expect(two.text).toBe("After.");
    const roles = stack.model.requests.at(-1)?.messages.map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
  });
});

describe("AI SDK 7, MCP", () => {
  type Content = Array<{ type: string; text?: string; data?: string; uri?: string }>;
  type Client = {
    serverInfo: { name: string };
    // biome-ignore lint/suspicious/noExplicitAny: they are given on to generateText as they are.
    tools(): Promise<Record<string, any>>;
    listTools(): Promise<{ tools: Array<{ name: string }> }>;
    callTool(call: object): Promise<{ isError?: boolean; content: Content }>;
    listResources(): Promise<{ resources: Array<{ uri: string; mimeType: string }> }>;
    listResourceTemplates(): Promise<object>;
    readResource(one: { uri: string }): Promise<{ contents: Array<{ blob?: string; mimeType: string }> }>;
    listPrompts(): Promise<object>;
    close(): Promise<void>;
  };
  const clients: Client[] = [];
  afterAll(() => Promise.all(clients.map((client) => client.close())));
  const connect = async (token = TOKENS.owner): Promise<Client> => {
    const { createMCPClient } = await npmClient("@ai-sdk/mcp");
    const headers = { Authorization: `Bearer ${token}` };
    const transport = { type: "http", url: `${stack.gateway.url}/mcp`, headers };
    const client: Client = await createMCPClient({ transport });
    clients.push(client);
    return client;
  };

  test("D1: lists tools, resources and prompts, and reads what a device sent", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["edge_list", "edge_call", "pi__temperature", "pi__picture"]),
    );
    const picture = await client.callTool({ name: "pi__picture", arguments: { bytes: 20_000 } });
    expect(picture.content.map(({ type }) => type)).toContain("image");
    const found = async () => (await client.listResources()).resources[0];
    const resource = await until(found, { what: "the list of resources" });
    expect(resource.mimeType).toBe("image/jpeg");
    const [content] = (await client.readResource({ uri: resource.uri })).contents;
    expect(Buffer.from(content?.blob ?? "", "base64")).toHaveLength(20_000);
    expect(await client.listResourceTemplates()).toMatchObject({ resourceTemplates: [] });
    // It asks a server for prompts only where they are announced.
    await expect(client.listPrompts()).rejects.toThrow("does not support prompts");
  });

  test("D3: its tools are called by a model, and what does not fit is told", async () => {
    const client = await connect();
    const all = Object.entries(await client.tools());
    // The gateway's own model, which is offered the devices' tools as those of its client. `edge_call` is its own.
    const tools = Object.fromEntries(all.filter(([name]) => name.startsWith("pi__")));
    const prompt = script(call("pi__temperature", {}), call("pi__slow", { ms: "soon" }), answer);
    const model = WIRES["openai-compatible"]?.(TOKENS.owner) ?? "";
    const { text } = await generateText({ model, tools, stopWhen: isStepCount(4), prompt });
    expect(text).toMatch(/^So: [\s\S]*°C[\s\S]*\| [\s\S]*ms/);
    const added = await client.callTool({ name: "pi__temperature", arguments: { toolCallId: "call_1" } });
    expect(added.isError ?? false).toBe(false);
    expect(added.content[0]?.text).toContain("°C");
  });

  test("a wrong token", async () => {
    await expect(connect("nobody-has-this-token")).rejects.toThrow(/401|Unauthorized/i);
  });
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
