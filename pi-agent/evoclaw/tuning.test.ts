import { expect, test } from "vitest";
import { changeTuning, tuned, tuningInForce } from "./tuning.ts";

const own = {
  llm: { baseUrl: "http://127.0.0.1/v1", apiKey: "key", model: "small", maxTokens: 500, temperature: 0.7 },
  limits: { maxModelCalls: 10, maxFailedBatches: 3, maxParallel: 5 },
  systemPrompt: "The cat is called Tom.",
};

test("set keys count, the others keep agent.toml's values, and null resets a key", () => {
  const changes = {
    system_prompt: "Speak Dutch.",
    model: "large",
    temperature: 0,
    max_tokens: 200,
    max_tool_iterations: 4,
    tool_error_limit: 1,
    max_parallel_tools: 2,
  };
  const set = changeTuning({}, changes, own);
  expect(set).toEqual({ ok: true, value: changes });
  expect(tuned(own, changes)).toEqual({
    llm: { ...own.llm, model: "large", temperature: 0, maxTokens: 200 },
    limits: { maxModelCalls: 4, maxFailedBatches: 1, maxParallel: 2 },
    systemPrompt: "The cat is called Tom.\n\nSpeak Dutch.",
  });
  expect(changeTuning(changes, { model: null, temperature: 1 }, own)).toEqual({
    ok: true,
    value: { ...changes, model: undefined, temperature: 1 },
  });
  expect(tuned(own, {})).toEqual(own);
  expect(tuningInForce(tuned(own, { model: "large" }))).toMatchObject({ model: "large", max_tokens: 500 });
});

test.each([
  [{ max_tool_iterations: 11 }, /max_tool_iterations: .* from 1 to 10, this agent's own \[agent\] max_tool_/],
  [{ max_tokens: 501 }, /max_tokens: .* from 1 to 500, this agent's own \[llm\] max_tokens/],
  [{ tool_error_limit: 0 }, /from 1 to 3/],
  [{ max_parallel_tools: 1.5 }, /from 1 to 5/],
  [{ temperature: 2.1 }, /temperature: wrong; right would be: a number from 0 to 2/],
  [{ temperature: "hot" }, /a number from 0 to 2/],
  [{ model: " " }, /model: .* 1 to 200 characters/],
  [{ system_prompt: "x".repeat(8_001) }, /at most 8000 characters/],
  [{ base_url: "http://evil/v1" }, /base_url: unknown; known: system_prompt, model/],
  [{ api_key: "x", temperature: 0.1 }, /^api_key: unknown/],
  [{ policy: { bash: "allow" } }, /policy: unknown/],
  [[], /an object of: system_prompt/],
])("%j exceeds agent.toml", (changes, error) => {
  expect(changeTuning({}, changes, own)).toEqual({ ok: false, error: expect.stringMatching(error) });
});

test("an agent without a model has no model to tune", () => {
  const { llm: _llm, ...rest } = own;
  const changed = changeTuning({}, { temperature: 1 }, { ...rest, llm: undefined });
  expect(changed).toEqual({ ok: false, error: expect.stringContaining("this agent has no model") });
  expect(tuned({ ...rest, llm: undefined }, { temperature: 1 }).llm).toBeUndefined();
});

test("when agent.toml was lowered since, it bounds earlier changes", () => {
  const lowered = { ...own, limits: { maxModelCalls: 2, maxFailedBatches: 1, maxParallel: 1 } };
  expect(tuned(lowered, { max_tool_iterations: 9, max_parallel_tools: 4 }).limits).toEqual(lowered.limits);
});
