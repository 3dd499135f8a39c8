// @module-tag needs/litellm
/** LiteLLM from PyPI, as a library and as a proxy in front of the gateway, with the running stack and a real agent. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { askClient, LITELLM_STARTS_WITHIN_MS, startLiteLlm } from "./litellm.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env, top: { tools: { enabled: ["memory"] } } });
  await stack.gateway.online("pi");
});

const call = (name: string, args: unknown): Step => ({ calls: [{ name, arguments: args }] });
const memory = call("edge_call", { agent_id: "pi", action: "memory" });
const answer: Step = { text: "So: $results" };
const device = expect.stringMatching(/^So: [\s\S]*RAM 50% used/);
/** The result of the device, which only the gateway's rows have, and that of the client's tool. */
const both = expect.stringMatching(/^So: [\s\S]*RAM 50% used[\s\S]*\| rain in Bern$/);
const GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";

const withTool = () => [script(memory, call("weather", { city: "Bern" }), answer), script({ text: "Bye." })];

const questions: Record<string, string[]> = {
  completion: [script(memory, answer)],
  stream: [script(memory, answer)],
  tools: withTool(),
  tools_streamed: withTool(),
  responses: withTool(),
  responses_stream: [script(memory, answer)],
  picture: [script({ text: "$pictures" }), GIF],
  form: [script(memory, { text: '{"percent": 42}' })],
  wrong_key: ["x"],
  wrong_model: [script({ text: "here" })],
  failing: [script({ status: 400, body: { error: { message: "no such thing" } } })],
};
let cameTo: Record<string, unknown> = {};
let proxy: Awaited<ReturnType<typeof startLiteLlm>>;

// Both load the same half of PyPI, so they do it beside each other.
beforeAll(async () => {
  const api_base = `${stack.gateway.url}/v1`;
  const asked = askClient("litellm_client.py", [api_base, TOKENS.owner], questions);
  const started = startLiteLlm("home", { model: "openai/edgecall", api_base, api_key: TOKENS.owner });
  const [answers, running] = await Promise.all([asked, started]);
  // SAFETY: the program prints an object.
  cameTo = answers as typeof cameTo;
  proxy = running;
}, LITELLM_STARTS_WITHIN_MS);
afterAll(() => proxy?.stop());

describe("LiteLLM, the library", () => {
  test("a call of a device, whole and streamed", () => {
    expect(cameTo.completion).toEqual({ text: device, tokens: 30 });
    expect(cameTo.stream).toEqual({ text: device, tokens: 30, chunks: true });
  });

  test("its own tool after a call of a device, and the next question, whole and streamed", () => {
    for (const name of ["tools", "tools_streamed"]) {
      expect(cameTo[name]).toEqual([both, "Bye."]);
      const shown = stack.model.requests.findLast(({ question }) => question === questions[name]?.[1]);
      const texts = shown?.messages.map(({ content }) => content);
      expect(texts).toEqual(expect.arrayContaining(["rain in Bern", both]));
    }
  });

  test("D4: responses, continued, streamed and not stored", () => {
    expect(cameTo.responses).toEqual([both, "Bye.", false]);
    expect(cameTo.responses_stream).toEqual(device);
  });

  test("a picture, and an answer in its form", () => {
    expect(cameTo.picture).toMatch(/^data:image\/gif \d+$/);
    expect(cameTo.form).toEqual({ percent: 42 });
  });

  test("a wrong key, a model that is not there, and an endpoint that fails", () => {
    expect(cameTo.wrong_key).toEqual({ error: expect.stringMatching(/^AuthenticationError: /) });
    expect(cameTo.wrong_model).toBe("here");
    expect(JSON.stringify(cameTo.failing)).toContain("no such thing");
  });
});

describe("LiteLLM, the proxy in front of the gateway", () => {
  const client = () => new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: proxy.key, maxRetries: 0 });
  const tools = [
    {
      type: "function" as const,
      function: { name: "weather", parameters: { type: "object", properties: {} } },
    },
  ];

  test("a call of a device and a tool of the client behind it, whole and streamed", async () => {
    const [content = "", next = ""] = withTool();
    const asked = { role: "user" as const, content };
    const first = await client().chat.completions.create({ model: "home", messages: [asked], tools });
    const message = first.choices[0]?.message;
    const id = message?.tool_calls?.[0]?.id ?? "";
    const result = { role: "tool" as const, tool_call_id: id, content: "rain in Bern" };
    const messages = [asked, ...(message ? [message] : []), result];
    const stream = client().chat.completions.stream({ model: "home", messages, tools });
    const said = await stream.finalContent();
    expect(said).toEqual(both);
    const more = [
      ...messages,
      { role: "assistant" as const, content: said },
      { role: "user" as const, content: next },
    ];
    const second = await client().chat.completions.create({ model: "home", messages: more, tools });
    expect(second.choices[0]?.message.content).toBe("Bye.");
    const texts = stack.model.requests.at(-1)?.messages.map(({ content }) => content);
    expect(texts).toEqual(expect.arrayContaining(["rain in Bern", said]));
  });

  test("responses, continued", async () => {
    const first = await client().responses.create({ model: "home", input: script(memory, answer) });
    expect(first.output_text).toEqual(device);
    const second = await client().responses.create({
      model: "home",
      input: script({ text: "Bye." }),
      previous_response_id: first.id,
    });
    expect(second.output_text).toBe("Bye.");
    expect(stack.model.requests.at(-1)?.messages.map(({ content }) => content)).toContainEqual(device);
  });
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
