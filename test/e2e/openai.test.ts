/** OpenAI's own client and the AI SDK, as people use them, with the running stack and a real agent. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});

const MEMORY: Step = { calls: [{ arguments: { agent_id: "pi", action: "memory" } }] };
const WORDS = "RAM 50% used";
const question = () => script({ ...MEMORY, text: "Let me look." }, { text: "It says: $results" });

const openai = () => new OpenAI({ baseURL: `${stack.gateway.url}/v1`, apiKey: TOKENS.owner });
const sdk = () =>
  createOpenAICompatible({
    name: "edgecall",
    baseURL: `${stack.gateway.url}/v1`,
    apiKey: TOKENS.owner,
    includeUsage: true,
  })("edgecall");
const messages = (content: string) => [{ role: "user" as const, content }];

test("openai: a chat completion", async () => {
  const completion = await openai().chat.completions.create({
    model: "edgecall",
    messages: messages(question()),
  });
  expect(completion.choices[0]?.message.content).toContain(WORDS);
  expect(completion.usage?.total_tokens).toBe(30);
});

test("openai: streamed, by iteration and by its helper", async () => {
  const stream = await openai().chat.completions.create({
    model: "edgecall",
    messages: messages(question()),
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let reasoning = "";
  let usage = 0;
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
    text += delta?.content ?? "";
    reasoning += delta?.reasoning_content ?? "";
    usage = chunk.usage?.total_tokens ?? usage;
  }
  expect(text).toMatch(/^Let me look\.\n\nIt says: .*RAM 50% used/s);
  expect(reasoning).toMatch(/^→ pi · memory\n✓ pi · memory \d+ ms\n$/);
  expect(usage).toBe(30);
  const helper = openai().chat.completions.stream({ model: "edgecall", messages: messages(question()) });
  expect(await helper.finalContent()).toContain(WORDS);
});

test("openai: responses, and their continuation", async () => {
  const client = openai();
  const first = await client.responses.create({ model: "edgecall", input: question() });
  expect(first.output_text).toContain(WORDS);
  expect(first.output.map(({ type }) => type)).toEqual(["mcp_call", "message"]);
  const next = await client.responses.create({
    model: "edgecall",
    previous_response_id: first.id,
    input: script({ text: "after that" }),
  });
  expect(next.output_text).toBe("after that");
  const asked = stack.model.requests.at(-1)?.messages.map(({ role }) => role);
  expect(asked).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
  expect((await client.responses.retrieve(first.id)).output_text).toContain(WORDS);
  await client.responses.delete(next.id, { query: { conversation: "true" } });
  await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
});

test("D4: openai: an address that ends in a slash, store: false, and the items of a response, page by page", async () => {
  for (const baseURL of [`${stack.gateway.url}/v1/`, `${stack.gateway.url}//v1`]) {
    const client = new OpenAI({ baseURL, apiKey: TOKENS.owner });
    expect((await client.models.retrieve("edgecall")).id).toBe("edgecall");
    const unstored = await client.responses.create({ model: "edgecall", input: question(), store: false });
    expect(unstored).toMatchObject({ store: false, output_text: expect.stringContaining(WORDS) });
    await expect(client.responses.retrieve(unstored.id)).rejects.toMatchObject({ status: 404 });
    const turns = ["one", "two", "three", "four"].map((content, at) => ({
      role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content,
    }));
    const last = { role: "user" as const, content: script({ text: "five" }) };
    const { id } = await client.responses.create({ model: "edgecall", input: [...turns, last] });
    const texts: unknown[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 2, order: "asc" }))
      texts.push(item.type === "message" && item.content[0]);
    expect(texts).toMatchObject([...turns, last].map(({ content }) => ({ text: content })));
  }
});

test("openai: responses streamed by its helper, and attached to again", async () => {
  const client = openai();
  const stream = client.responses.stream({ model: "edgecall", input: question() });
  const numbers: number[] = [];
  for await (const event of stream) numbers.push(event.sequence_number);
  const whole = await stream.finalResponse();
  expect(whole.output_text).toMatch(/^Let me look\.It says: .*RAM 50% used/s);
  expect(whole.output.map(({ type }) => type)).toEqual(["message", "mcp_call", "message"]);
  const after = numbers[Math.floor(numbers.length / 2)] ?? 0;
  const rest = await client.responses.retrieve(whole.id, { stream: true, starting_after: after });
  const seen: number[] = [];
  for await (const event of rest) seen.push(event.sequence_number);
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.every((number) => number > after)).toBe(true);
  expect(seen.at(-1)).toBe(numbers.at(-1));
});

test("openai: models, and an error that the client knows", async () => {
  const names = [];
  for await (const model of openai().models.list()) names.push(model.id);
  expect(names).toEqual(["edgecall", "edgecall-voice", "scripted"]);
  const stranger = new OpenAI({ baseURL: `${stack.gateway.url}/v1`, apiKey: "nobody-has-this-token" });
  await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  const broken = openai().chat.completions.create({
    model: "edgecall",
    messages: messages(script({ breakOff: true }, { text: "whole" })),
    stream: true,
  });
  const read = async () => {
    for await (const _ of await broken);
  };
  await expect(read()).rejects.toThrow(/asked again/);
});

test("AI SDK: generateText and streamText", async () => {
  const { text, usage } = await generateText({ model: sdk(), prompt: question() });
  expect(text).toContain(WORDS);
  expect(usage.totalTokens).toBe(30);
  const stream = streamText({ model: sdk(), prompt: question() });
  expect(await stream.text).toMatch(/^Let me look\.\n\nIt says: .*RAM 50% used/s);
  expect(await stream.reasoningText).toContain("✓ pi · memory");
  expect((await stream.usage).totalTokens).toBe(30);
});

test("AI SDK: a chat whose history the client keeps, with instructions", async () => {
  const { text } = await generateText({
    model: sdk(),
    instructions: "Be brief.",
    messages: [
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: script({ text: "three" }) },
    ],
  });
  expect(text).toBe("three");
  const asked = stack.model.requests.at(-1)?.messages ?? [];
  expect(asked.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  expect(asked[0]?.content).toContain("Be brief.");
});

test("a device's picture is in the answer, and a browser can load it", async () => {
  const look = { calls: [{ arguments: { agent_id: "pi", action: "picture", params: { bytes: 20_000 } } }] };
  const completion = await openai().chat.completions.create({
    model: "edgecall",
    messages: messages(script(look, { text: "Here." })),
  });
  const link = completion.choices[0]?.message.content?.match(/!\[pi picture\]\((\S+)\)/)?.[1] ?? "";
  const served = await fetch(link);
  expect([served.status, served.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
  expect((await served.arrayBuffer()).byteLength).toBe(20_000);
});

test("openai: a stream that the person stops ends the turn, and the next question learns of it", async () => {
  const client = openai();
  const headers = { "x-edge-conversation": "stopped" };
  const asked = script({ text: "never the end of this", pause: "for ever" });
  const stream = await client.chat.completions.create(
    { model: "edgecall", messages: messages(asked), stream: true },
    { headers },
  );
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  const body = { model: "edgecall", messages: messages(script({ text: "heard" })) };
  const next = await client.chat.completions.create(body, { headers });
  expect(next.choices[0]?.message.content).toBe("heard");
  expect(JSON.stringify(stack.model.requests.at(-1)?.messages)).toContain('"content":"Cancelled.');
});

test("the gateway is killed during a turn: the client's retry gets the same turn's answer", async () => {
  const asked = script(MEMORY, { hold: "for ever", step: { text: "" } }, { text: "It says: $results" });
  const requests = () =>
    stack.model.requests.filter(({ messages }) => messages.some(({ content }) => content === asked));
  const answer = openai().chat.completions.create(
    { model: "edgecall", messages: messages(asked) },
    { headers: { "x-edge-conversation": "crash" }, maxRetries: 8 },
  );
  await until(() => requests().length === 2);
  await stack.worker.kill();
  await stack.startWorker();
  expect((await answer).choices[0]?.message.content).toContain(WORDS);
  const roles = requests()
    .at(-1)
    ?.messages.map(({ role }) => role);
  expect(roles).toEqual(["system", "user", "assistant", "tool"]);
  // The bridge reconnects in its own time.
  await stack.gateway.online("pi");
});

test("G6 a gateway that is killed between a call of the client's tool and its result continues the turn", async () => {
  const client = openai();
  const tools = [
    { type: "function" as const, function: { name: "weather", parameters: { type: "object" } } },
  ];
  const asked = script(
    MEMORY,
    { calls: [{ name: "weather", arguments: { city: "Bern" } }] },
    { text: "It says: $results" },
  );
  const first = await client.chat.completions.create({ model: "edgecall", messages: messages(asked), tools });
  const reply = first.choices[0]?.message;
  const id = reply?.tool_calls?.[0]?.id ?? "";
  await stack.worker.kill();
  await stack.startWorker();
  const result = { role: "tool" as const, tool_call_id: id, content: "it rains" };
  const second = await client.chat.completions.create({
    model: "edgecall",
    messages: [...messages(asked), ...(reply ? [reply] : []), result],
    tools,
  });
  expect(second.choices[0]?.message.content).toMatch(/RAM 50% used[\s\S]*it rains$/);
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
