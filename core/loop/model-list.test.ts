import fc from "fast-check";
import { expect, test } from "vitest";
import { type ModelListSource, readModelList } from "./model-list.ts";
import type { ModelSettings } from "./request.ts";

const SINGLE: ModelSettings = {
  baseUrl: "https://one.example/v1",
  model: "org/one:free",
  maxTokens: 4_096,
  temperature: 0.7,
};
const read = (text: string | undefined, more: Partial<ModelListSource> = {}) =>
  readModelList({
    text,
    single: undefined,
    variable: (name) => ({ BIG_KEY: "key", EMPTY: "" })[name],
    defaults: { maxTokens: 4_096, temperature: 0.7 },
    ...more,
  });
const entry = { name: "big", base_url: "https://big.example/v1", model: "big-1" };
const readOne = (more: object) => read(JSON.stringify([{ ...entry, ...more }]));

test("none, only the single model, and both: the single one first", () => {
  expect(read(undefined)).toEqual({ ok: true, value: [] });
  const single = { ...SINGLE, name: "org/one:free" };
  expect(read(" ", { single: SINGLE })).toEqual({ ok: true, value: [single] });
  expect(read(JSON.stringify([entry]), { single: SINGLE })).toMatchObject({
    ok: true,
    value: [single, { name: "big" }],
  });
});

test("an entry, with defaults and without", () => {
  expect(readOne({})).toEqual({
    ok: true,
    value: [{ name: "big", baseUrl: entry.base_url, model: "big-1", maxTokens: 4_096, temperature: 0.7 }],
  });
  expect(readOne({ api_key_name: "BIG_KEY", max_tokens: 10, temperature: 0 })).toMatchObject({
    value: [{ apiKey: "key", maxTokens: 10, temperature: 0 }],
  });
});

test.each<[string, object, RegExp]>([
  ["an address that is none", { base_url: "big.example" }, /^LLM_MODELS: 0\.base_url: .*http\(s\) address/],
  [
    "an address that only looks like one",
    { base_url: "http://[x/v1" },
    /^LLM_MODELS: 0\.base_url: .*not an address/,
  ],
  ["a form that is none", { api: "claude" }, /^LLM_MODELS: 0\.api: /],
  ["no model", { model: undefined }, /^LLM_MODELS: 0\.model: /],
  ["a name with blanks", { name: "my model" }, /^LLM_MODELS: 0\.name: .*letters/],
  [
    "a variable that is not set",
    { api_key_name: "NO_KEY" },
    /^LLM_MODELS: 0\.api_key_name: .*NO_KEY is not set/,
  ],
  ["a variable that is empty", { api_key_name: "EMPTY" }, /^LLM_MODELS: 0\.api_key_name: .*EMPTY is not set/],
  ["the key itself", { api_key_name: "sk-123" }, /^LLM_MODELS: 0\.api_key_name: .*name of a variable/],
  ["an unknown field", { api_key: "sk-123" }, /^LLM_MODELS: .*api_key/],
  ["no tokens", { max_tokens: 0 }, /^LLM_MODELS: 0\.max_tokens: /],
])("%s is reported with its field", (_, more, error) => {
  expect(readOne(more)).toMatchObject({ ok: false, error: expect.stringMatching(error) });
});

test("not JSON, not a list, and a repeated name", () => {
  expect(read("[")).toMatchObject({ ok: false, error: expect.stringContaining("LLM_MODELS: not JSON") });
  expect(read("{}")).toMatchObject({ ok: false, error: expect.stringContaining("LLM_MODELS: ") });
  const twice = { ok: false, error: expect.stringContaining("is there twice") };
  expect(read(JSON.stringify([entry, entry]))).toMatchObject(twice);
  expect(read(JSON.stringify([{ ...entry, name: SINGLE.model }]), { single: SINGLE })).toMatchObject(twice);
});

test("property: any text gives models or an error that names the setting", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.array(fc.jsonValue()).map((list) => JSON.stringify(list)),
      ),
      (text) => {
        const models = read(text);
        if (!models.ok) expect(models.error).toMatch(/^LLM_MODELS: /);
      },
    ),
  );
});
