import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { limitsFromRefusal, ModelLimits, maxReply } from "./model-limits.ts";
import { askWindow, isLocalModel } from "./window.ts";

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Seen = { path: string; key: string | undefined };

/** A server with these answers by path; all others are 404. @param answers a function ends the request itself */
async function serve(answers: Record<string, unknown>) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    seen.push({ path, key: request.headers.authorization });
    const answer = answers[path.split("?")[0] ?? ""];
    if (typeof answer === "function") return answer(response);
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { error: "not found" }));
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const model = {
    baseUrl: `${origin}/v1`,
    model: "qwen3:8b",
    maxTokens: 4_096,
    temperature: 0,
    apiKey: "key",
  };
  return { seen, origin, model };
}

const OLLAMA = { models: [{ name: "qwen3:8b", model: "qwen3:8b", context_length: 16_384 }] };

test.each<[string, Record<string, unknown>, string, unknown]>([
  ["Ollama", { "/api/ps": OLLAMA }, "qwen3:8b", { server: "Ollama", tokens: 16_384 }],
  [
    "Ollama, by its latest tag",
    { "/api/ps": { models: [{ name: "m:latest", model: "m:latest", context_length: 8_192 }] } },
    "m",
    { server: "Ollama", tokens: 8_192 },
  ],
  ["Ollama with another model loaded", { "/api/ps": OLLAMA }, "other", { server: "Ollama" }],
  ["Ollama with none loaded", { "/api/ps": { models: [] } }, "m", { server: "Ollama" }],
  [
    "Ollama before it told a window",
    { "/api/ps": { models: [{ name: "m:latest", model: "m:latest" }] } },
    "m",
    { server: "Ollama" },
  ],
  [
    "llama.cpp, one slot of four",
    {
      "/props": { default_generation_settings: { n_ctx: 8_192 }, total_slots: 4 },
      "/v1/models": { data: [{ id: "m", meta: { n_ctx_train: 131_072 } }] },
    },
    "any",
    { server: "llama.cpp", tokens: 8_192 },
  ],
  [
    "LM Studio",
    {
      "/api/v0/models": {
        data: [
          { id: "m", state: "loaded", max_context_length: 131_072, loaded_context_length: 4_096 },
          { id: "n", state: "not-loaded", max_context_length: 32_768 },
        ],
      },
    },
    "m",
    { server: "LM Studio", tokens: 4_096 },
  ],
  [
    "LM Studio without a loaded model",
    { "/api/v0/models": { data: [{ id: "m", state: "not-loaded", max_context_length: 32_768 }] } },
    "m",
    { server: "LM Studio" },
  ],
  [
    "LM Studio's newer list",
    {
      "/api/v1/models": {
        models: [
          {
            key: "qwen/qwen3-8b",
            max_context_length: 40_960,
            loaded_instances: [{ id: "qwen/qwen3-8b", config: { context_length: 12_000 } }],
          },
          { key: "other", max_context_length: 40_960, loaded_instances: [] },
        ],
      },
    },
    "qwen/qwen3-8b",
    { server: "LM Studio", tokens: 12_000 },
  ],
  [
    "vLLM",
    { "/v1/models": { data: [{ id: "m", max_model_len: 32_768 }] } },
    "m",
    { server: "vLLM", tokens: 32_768 },
  ],
  ["a server that tells nothing", { "/v1/models": { data: [{ id: "m" }] } }, "m", undefined],
  ["a server of nonsense", { "/api/ps": "no", "/props": [1], "/v1/models": { data: {} } }, "m", undefined],
])("L16: the window of %s", async (_server, answers, name, expected) => {
  const { model } = await serve(answers);
  expect(await askWindow({ ...model, model: name })).toEqual(expected);
});

test("L16: an address behind a path is asked behind that path, and nothing loads a model", async () => {
  const { seen, origin, model } = await serve({ "/llm/api/ps": OLLAMA });
  expect(await askWindow({ ...model, baseUrl: `${origin}/llm/v1/` })).toEqual({
    server: "Ollama",
    tokens: 16_384,
  });
  expect(seen.map(({ path }) => path).sort()).toEqual([
    "/llm/api/ps",
    "/llm/api/v0/models",
    "/llm/api/v1/models",
    "/llm/props?model=qwen3%3A8b&autoload=false",
    "/llm/v1/models",
  ]);
  expect(new Set(seen.map(({ key }) => key))).toEqual(new Set(["Bearer key"]));
});

test("L16: a redirect is not followed, so the key stays with its server", async () => {
  const other = await serve({ "/api/ps": OLLAMA });
  const redirect = (response: { writeHead(status: number, headers: object): { end(): void } }) =>
    response.writeHead(302, { location: `${other.origin}/api/ps` }).end();
  const { model } = await serve({ "/api/ps": redirect, "/props": redirect });
  expect(await askWindow(model)).toBeUndefined();
  expect(other.seen).toEqual([]);
});

test("L16: a server that does not answer, or answers without an end, costs two seconds at most", async () => {
  const silent = () => {};
  const endless = (response: { write(text: string): void }) => {
    const timer = setInterval(() => response.write(" ".repeat(1_000)), 5);
    setTimeout(() => clearInterval(timer), 3_000).unref();
  };
  const { model } = await serve({ "/api/ps": silent, "/props": endless, "/v1/models": silent });
  const began = performance.now();
  expect(await askWindow(model)).toBeUndefined();
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(await askWindow({ ...model, baseUrl: "http://127.0.0.1:9/v1" })).toBeUndefined();
});

test.each<[string, boolean]>([
  ["http://127.0.0.1:11434/v1", true],
  ["http://ollama:11434/v1", true],
  ["http://192.168.1.5:1234/v1", true],
  ["http://[::1]:8080/v1", true],
  ["https://mac.local/v1", true],
  ["https://api.openai.com/v1", false],
  ["http://8.8.8.8/v1", false],
  // The gateway's relay: its model is elsewhere.
  ["http://192.168.1.5:8787/v1/relay/home", false],
  ["workers-ai:", false],
])("L16: %s is local: %s", (baseUrl, expected) => {
  expect(isLocalModel({ baseUrl })).toBe(expected);
});

test("L16: a hosted address is never asked", async () => {
  const limits = new ModelLimits();
  const hosted = { baseUrl: "https://api.example.com/v1", model: "m", maxTokens: 100, temperature: 0 };
  expect(await limits.ask(hosted)).toBeUndefined();
  const room = limits.room(hosted, { maxTokens: 24_000, isOwn: false });
  expect(room).toMatchObject({ soft: 24_000, hard: undefined, isProvisional: false });
  expect(maxReply(room, 20_000)).toBe(100);
});

test("L16: a local server is asked before the first request, after the first reply, and then not for a while", async () => {
  let loaded: unknown = { models: [] };
  const { seen, model } = await serve({
    "/api/ps": (response: { end(text: string): void }) => response.end(JSON.stringify(loaded)),
  });
  const limits = new ModelLimits();
  const times = () => seen.filter(({ path }) => path === "/api/ps").length;
  const history = { maxTokens: 24_000, isOwn: false };

  expect(await limits.ask(model)).toBeUndefined();
  // Ollama's default, less the reply; it is an assumption, so nothing is cut to it by force.
  expect(limits.room(model, history)).toMatchObject({ soft: 3_072, hard: undefined, isProvisional: true });
  expect(limits.room(model, { maxTokens: 9_000, isOwn: true })).toMatchObject({
    soft: 9_000,
    hard: undefined,
  });
  expect(await limits.ask(model)).toBeUndefined();
  expect(times()).toBe(1);

  loaded = OLLAMA;
  limits.replied(model, 100, undefined);
  expect(await limits.ask(model)).toEqual({ server: "Ollama", tokens: 16_384 });
  expect(times()).toBe(2);
  const told = limits.room(model, history);
  expect(told).toMatchObject({ soft: 12_288, hard: 12_288, window: 16_384, isProvisional: false });
  // A smaller setting wins, a larger one does not.
  expect(limits.room(model, { maxTokens: 5_000, isOwn: true })).toMatchObject({ soft: 5_000, hard: 12_288 });
  expect(limits.room(model, { maxTokens: 90_000, isOwn: true })).toMatchObject({ soft: 12_288 });
  expect(maxReply(told, 1_000)).toBe(4_096);
  const long = limits.room({ ...model, maxTokens: 16_000 }, history);
  expect(maxReply(long, 11_000)).toBe(4_096);
  expect(maxReply(long, 1_000)).toBeGreaterThan(15_000);

  for (let time = 0; time < 3; time += 1) {
    limits.replied(model, 100, undefined);
    expect(await limits.ask(model)).toBeUndefined();
  }
  expect(times()).toBe(2);
});

test("L16: a model whose tokens are shorter than our estimate gets less; one that tells less changes nothing", () => {
  const limits = new ModelLimits();
  const model = { baseUrl: "https://api.example.com/v1", model: "m", maxTokens: 1_000, temperature: 0 };
  const history = { maxTokens: 24_000, isOwn: false };
  const asked = { sent: 9_000, maxReply: 1_000 };
  const lessons = limitsFromRefusal({ kind: "input", limit: 8_000, sent: 9_000 }, { ...asked, factor: 1 });
  expect(limits.room(model, history, lessons).hard).toBe(7_000);
  // Only a request that was answered proves it.
  expect(limits.room(model, history).hard).toBeUndefined();
  limits.replied(model, 7_000, undefined, lessons);
  expect(limits.room(model, history).hard).toBe(7_000);
  limits.replied(model, 2_000, { input_tokens: 3_000, output_tokens: 1 });
  expect(limits.room(model, history).hard).toBe(4_666);
  expect(limits.room(model, { maxTokens: 6_000, isOwn: true }).soft).toBe(4_000);
  limits.replied(model, 2_000, { input_tokens: 20, output_tokens: 1 });
  expect(limits.room(model, history).hard).toBe(7_000);
});
