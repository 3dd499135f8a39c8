// @module-tag needs/litellm
/** LiteLLM's `/v1/messages`, as published on PyPI, in front of a chat-completions endpoint: gateway and device ask it in Anthropic's form. */
import { beforeAll, expect, test } from "vitest";
import { type ScriptedModel, script, startScriptedModel } from "../scripted-model.ts";
import { LITELLM_STARTS_WITHIN_MS, startLiteLlm } from "./litellm.ts";
import { useStack } from "./stack.ts";

let model: ScriptedModel;
const variables: Record<string, string> = {};

beforeAll(async () => {
  model = await startScriptedModel();
  // As for vLLM, it asks behind it in the form of chat completions.
  const params = { model: "hosted_vllm/scripted", api_base: model.url, api_key: "x" };
  const { url, key, stop } = await startLiteLlm("scripted", params);
  Object.assign(variables, {
    LLM_BASE_URL: url,
    LLM_API: "anthropic",
    LLM_API_KEY: key,
    LLM_MODEL: "scripted",
  });
  return async () => {
    stop();
    await model.close();
  };
}, LITELLM_STARTS_WITHIN_MS);

const stack = useStack({ vars: variables }, async (made) => {
  await made.startAgent({ id: "pi", env: variables });
  await made.gateway.online("pi");
});

const call = (args: object) => ({ name: "edge_call", arguments: { agent_id: "pi", ...args } });
const memory = call({ action: "memory" });
const temperature = call({ action: "temperature" });

test("a turn with two calls at once, and the next turn", async () => {
  const first = script(
    { calls: [memory, temperature], text: "I look." },
    { calls: [memory] },
    { text: "First: $results" },
  );
  const { answer } = await stack.gateway.ask(first, "litellm");
  expect(answer).toMatch(/^First: .*RAM [\s\S]* \| [\s\S]*°C[\s\S]* \| [\s\S]*RAM /);
  const second = script({ text: "Second." });
  expect((await stack.gateway.ask(second, "litellm")).answer).toBe("Second.");
  const last = model.requests.find(({ question }) => question === second);
  expect(JSON.stringify(last?.messages)).toContain("First: ");
});

test("a device's own loop", async () => {
  const query = script({ calls: [{ name: "memory", arguments: {} }] }, { text: "I looked: $results" });
  const turn = await stack.gateway.ask(script({ calls: [call({ query })] }, { text: "$results" }));
  expect(turn).toMatchObject({ status: "done", answer: expect.stringMatching(/I looked: [\s\S]*RAM/) });
});

test("a limit of steps, without a call", async () => {
  const steps = Array.from({ length: 10 }, (_, n) => ({
    calls: [call({ action: "memory", params: {}, id: `c${n}` })],
  }));
  const turn = await stack.gateway.ask(script(...steps, { text: "That is all." }));
  expect(turn).toMatchObject({ status: "done", answer: "That is all." });
});

test("an error has the endpoint's words, and a rate is waited for", async () => {
  const refused = script({ status: 400, body: { error: { message: "no such thing" } } });
  expect((await stack.gateway.ask(refused)).answer).toContain("no such thing");
  const busy = script({ status: 429, body: { error: { message: "slow down" } } }, { text: "At last." });
  expect(await stack.gateway.ask(busy)).toMatchObject({ status: "done", answer: "At last." });
});

test("every history that came out behind it is valid", () => {
  expect(model.breaches).toEqual([]);
});
