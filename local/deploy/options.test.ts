import { expect, test } from "vitest";
import { modelSecrets } from "./first-secrets.ts";
import { type DeployFlags, readOptions } from "./options.ts";

const read = (flags: DeployFlags, env: Record<string, string> = {}) => readOptions(flags, env, true);
const KEY = { LLM_API_KEY: "k-1" };
const ENDPOINT = { via: "endpoint", baseUrl: "https://m.test/v1", model: "m", apiKey: "k-1" } as const;

test("without options nothing is chosen, and a person is asked", () => {
  expect(read({})).toEqual({
    ok: true,
    value: {
      name: undefined,
      home: "home",
      model: undefined,
      firstModel: undefined,
      account: undefined,
      url: undefined,
      tokens: { api: undefined, bridge: undefined },
      newTokens: false,
      quiet: false,
      dryRun: false,
    },
  });
});

test("a model in the environment is only for a first deploy, one in an option for every deploy", () => {
  const env = { ...KEY, LLM_BASE_URL: "https://m.test/v1", LLM_MODEL: "m" };
  expect(read({}, env)).toMatchObject({ value: { model: undefined, firstModel: ENDPOINT } });
  expect(read({ model: "m" }, env)).toMatchObject({ value: { model: ENDPOINT } });
  expect(read({ model: "@cf/x/y" }, env)).toMatchObject({
    value: { model: { via: "workers-ai", model: "@cf/x/y" } },
  });
});

test("the form of a model's requests, from an option or the environment", () => {
  const flags = { "model-url": "https://m.test/v1", model: "m" };
  const anthropic = { ...ENDPOINT, api: "anthropic" as const };
  expect(read({ ...flags, "model-api": "anthropic" }, KEY)).toMatchObject({ value: { model: anthropic } });
  expect(read(flags, { ...KEY, LLM_API: "anthropic" })).toMatchObject({ value: { model: anthropic } });
  expect(modelSecrets(anthropic, [])).toMatchObject({ LLM_API: "anthropic" });
  expect(modelSecrets(ENDPOINT, ["LLM_API"])).toMatchObject({ LLM_API: null });
});

test("another model replaces the address and key of the former one", () => {
  const all = ["API_TOKENS", "LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"];
  expect(modelSecrets({ via: "workers-ai", model: "@cf/x/y" }, all)).toEqual({
    LLM_MODEL: "@cf/x/y",
    LLM_BASE_URL: null,
    LLM_API_KEY: null,
  });
  expect(modelSecrets({ ...ENDPOINT, apiKey: undefined }, [])).toEqual({
    LLM_BASE_URL: "https://m.test/v1",
    LLM_MODEL: "m",
  });
});

test.each<[string, DeployFlags, Record<string, string>, RegExp]>([
  [
    "a form that is none",
    { "model-url": "https://m.test/v1", model: "m", "model-api": "x" },
    {},
    /^--model-api/,
  ],
  ["a name that is none", { name: "My Gateway" }, {}, /^--name: expected/],
  ["a home that is none", { home: "../x" }, {}, /^--home: expected/],
  ["a short token", {}, { EDGECALL_TOKEN: "short" }, /^EDGECALL_TOKEN: expected/],
  [
    "a token from an example",
    {},
    { BRIDGE_TOKEN: "replace-me-with-32-characters-of-your-own" },
    /placeholder/,
  ],
  [
    "a key from an example",
    { "model-url": "https://m.test/v1", model: "m" },
    { LLM_API_KEY: "sk-…" },
    /LLM_API_KEY: a placeholder/,
  ],
  [
    "an endpoint from an example",
    { "model-url": "https://api.example.com/v1", model: "m" },
    KEY,
    /is a placeholder/,
  ],
  ["an endpoint at home", { "model-url": "http://192.168.1.5:11434/v1", model: "m" }, {}, /cannot reach/],
  [
    "an endpoint on this machine",
    {},
    { LLM_BASE_URL: "http://localhost:11434/v1", LLM_MODEL: "m" },
    /cannot reach/,
  ],
  ["a model without an endpoint", { model: "gpt-5-mini" }, {}, /needs its endpoint/],
  ["an endpoint without a model", { "model-url": "https://m.test/v1" }, KEY, /name is missing/],
])("refuses %s", (_name, flags, env, words) => {
  expect(read(flags, env)).toMatchObject({ ok: false, error: expect.stringMatching(words) });
});
