import { HISTORY_MAX_TOKENS } from "@edgecall/core/loop/model-limits.ts";
import { DEFAULT_LIMITS } from "@edgecall/core/loop/next.ts";
import { expect, test } from "vitest";
import type { Env } from "../env.ts";
import { readSettings } from "./settings.ts";

// SAFETY: only the variables are read here.
const models = (vars: Record<string, string>) => readSettings(vars as unknown as Env).models;
const firstByteMs = (baseUrl: string, more: Record<string, string> = {}) =>
  models({ LLM_BASE_URL: baseUrl, LLM_MODEL: "m", ...more })[0]?.timeouts?.firstByteMs;

test.each([
  ["https://api.openai.com/v1", 30_000],
  ["https://8.8.8.8/v1", 30_000],
  ["http://127.0.0.1:11434/v1", 120_000],
  ["http://localhost:11434/v1", 120_000],
  ["http://[::1]:11434/v1", 120_000],
  ["http://192.168.1.20:11434/v1", 120_000],
  ["http://10.0.0.5/v1", 120_000],
  ["http://172.16.3.4/v1", 120_000],
  ["http://100.64.1.2/v1", 120_000],
  ["http://[fd00::5]/v1", 120_000],
  ["http://ollama:11434/v1", 120_000],
  ["http://nas.local:11434/v1", 120_000],
])("D1 a model at %s has %i ms to its first byte", (baseUrl, expected) => {
  expect(firstByteMs(baseUrl)).toBe(expected);
});

test("D1 MODEL_FIRST_BYTE_MS applies to all of them, and is named in a failure", () => {
  expect(firstByteMs("http://127.0.0.1:1/v1", { MODEL_FIRST_BYTE_MS: "200000" })).toBe(200_000);
  expect(firstByteMs("https://api.openai.com/v1", { MODEL_FIRST_BYTE_MS: "5000" })).toBe(5_000);
  expect(models({ LLM_BASE_URL: "https://api.openai.com/v1", LLM_MODEL: "m" })[0]?.timeouts).toMatchObject({
    firstByteSetting: "MODEL_FIRST_BYTE_MS",
  });
});

test("D1 each of several models has its own limit, and Workers AI counts as hosted", () => {
  const LLM_MODELS = JSON.stringify([
    { name: "near", base_url: "http://192.168.0.9/v1", model: "n" },
    { name: "far", base_url: "https://api.mistral.ai/v1", model: "f" },
  ]);
  expect(models({ LLM_MODELS }).map(({ timeouts }) => timeouts?.firstByteMs)).toEqual([120_000, 30_000]);
  const ai = { AI: { run: async () => ({}) } } as unknown as Record<string, string>;
  expect(models(ai)[0]?.timeouts?.firstByteMs).toBe(30_000);
});

test("LLM_API or the address says the form of a model, and no temperature is sent to Anthropic's that nobody set", () => {
  const LLM_MODEL = "m";
  const [own] = models({ LLM_BASE_URL: "https://api.anthropic.com/v1", LLM_MODEL });
  expect(own).not.toHaveProperty("api");
  expect(own).not.toHaveProperty("temperature");
  const proxy = { LLM_BASE_URL: "http://proxy:4000", LLM_MODEL, LLM_API: "anthropic" };
  const LLM_MODELS = JSON.stringify([
    { name: "one", base_url: "https://a.example/v1", model: "m", api: "anthropic" },
    { name: "two", base_url: "https://api.anthropic.com/v1", model: "m", api: "openai" },
  ]);
  expect(models({ ...proxy, LLM_MODELS }).map(({ api, temperature }) => [api, temperature])).toEqual([
    ["anthropic", undefined],
    ["anthropic", undefined],
    ["openai", 0.7],
  ]);
  expect(models({ ...proxy, TEMPERATURE: "0.2" })[0]?.temperature).toBe(0.2);
  expect(() => models({ ...proxy, LLM_API: "claude" })).toThrow(
    "LLM_API: expected openai or anthropic, got 'claude'",
  );
});

test("an env is read once, another env anew, and an error is thrown each time", () => {
  const env = { MAX_TOOL_ITERATIONS: "3" } as unknown as Env;
  expect(readSettings(env)).toBe(readSettings(env));
  expect(readSettings({ ...env, MAX_TOOL_ITERATIONS: "4" }).limits.maxModelCalls).toBe(4);
  const wrong = { MAX_TOOL_ITERATIONS: "none" } as unknown as Env;
  for (let time = 0; time < 2; time += 1) expect(() => readSettings(wrong)).toThrow("MAX_TOOL_ITERATIONS");
});

test("the loop's settings have the design's values, and each can be set", () => {
  const read = (vars: Record<string, string>) => readSettings(vars as unknown as Env);
  const byDesign = read({ LLM_BASE_URL: "https://api.openai.com/v1", LLM_MODEL: "m" });
  expect(byDesign).toMatchObject({
    loopEnabled: true,
    limits: { maxModelCalls: 10, maxFailedBatches: 3, maxParallel: 5 },
    defaultToolTimeoutMs: 30_000,
    models: [{ maxTokens: 4_096, temperature: 0.7 }],
  });
  const set = read({
    LLM_BASE_URL: "https://api.openai.com/v1",
    LLM_MODEL: "m",
    TOOL_LOOP_ENABLED: "false",
    MAX_TOOL_ITERATIONS: "4",
    TOOL_ERROR_LIMIT: "2",
    MAX_PARALLEL_TOOLS: "1",
    DEFAULT_TOOL_TIMEOUT_MS: "5000",
    MAX_TOKENS: "100",
    TEMPERATURE: "0",
  });
  expect(set).toMatchObject({
    loopEnabled: false,
    limits: { maxModelCalls: 4, maxFailedBatches: 2, maxParallel: 1 },
    defaultToolTimeoutMs: 5_000,
    models: [{ maxTokens: 100, temperature: 0 }],
  });
});

test("without variables the gateway's loop has the limits of a device's", () => {
  const { limits, history } = readSettings({} as unknown as Env);
  expect({ ...limits, history: history.maxTokens }).toEqual({
    ...DEFAULT_LIMITS,
    history: HISTORY_MAX_TOKENS,
  });
});

test.each([
  ["FAST_PATH", "some", "expected all, reads or off, got 'some'"],
  ["TOOL_LOOP_ENABLED", "yes", "expected true, false, 1 or 0, got 'yes'"],
  ["RELAY_DAY_TOKENS", "-1", "expected a whole number from 0 to 1000000000000, got '-1'"],
  ["TEMPERATURE", "3", "expected a number from 0 to 2, got '3'"],
  ["BUDGET_DAY_TOKENS", "1.5", "expected a whole number from 0"],
])("%s=%s: %s", (name, value, right) => {
  expect(() => models({ [name]: value })).toThrow(`${name}: ${right}`);
});
