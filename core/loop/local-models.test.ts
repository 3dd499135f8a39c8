import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { findLocalModels, LOCAL_PORTS } from "./local-models.ts";

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** @param answers by path; a function never answers. All other paths are 404 @returns the port, and what was asked */
async function serve(answers: Record<string, unknown>) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    seen.push(`${request.method} ${path} ${request.headers.authorization ?? "no key"}`);
    const answer = answers[path];
    if (typeof answer === "function") return;
    response.writeHead(answer === undefined ? 404 : 200);
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? {}));
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, seen };
}

/** A port where nothing listens. */
async function closedPort(): Promise<number> {
  const { port } = await serve({});
  await new Promise((resolve) => open.pop()?.close(resolve));
  return port;
}

const fetched = (url: string, init: RequestInit) => globalThis.fetch(url, init);
const OLLAMA = {
  models: [
    { name: "nomic-embed-text:latest", details: { family: "nomic-bert" } },
    { name: "all-minilm:latest", details: { family: "bert" } },
    { name: "llama3.2:3b", details: { family: "llama" } },
    { name: "qwen3:8b", details: { family: "qwen3" } },
  ],
};

test("the three servers are found by what they tell, the loaded model first, without those that cannot talk", async () => {
  const ollama = await serve({ "/api/tags": OLLAMA, "/api/ps": { models: [{ name: "qwen3:8b" }] } });
  const lmStudio = await serve({
    "/api/v0/models": {
      data: [
        { id: "text-embedding-nomic", type: "embeddings", state: "loaded" },
        { id: "gemma-3", type: "vlm", state: "not-loaded" },
        { id: "qwen3-4b", type: "llm", state: "loaded" },
      ],
    },
  });
  const llamaCpp = await serve({ "/v1/models": { data: [{ id: "phi-4.gguf", owned_by: "llamacpp" }] } });
  const ports = { ollama: ollama.port, lmStudio: lmStudio.port, llamaCpp: llamaCpp.port };
  expect(await findLocalModels(fetched, ports)).toEqual([
    { server: "Ollama", baseUrl: `http://127.0.0.1:${ports.ollama}/v1`, models: ["qwen3:8b", "llama3.2:3b"] },
    {
      server: "LM Studio",
      baseUrl: `http://127.0.0.1:${ports.lmStudio}/v1`,
      models: ["qwen3-4b", "gemma-3"],
    },
    { server: "llama.cpp", baseUrl: `http://127.0.0.1:${ports.llamaCpp}/v1`, models: ["phi-4.gguf"] },
  ]);
  expect([...ollama.seen, ...lmStudio.seen, ...llamaCpp.seen].sort()).toEqual([
    "GET /api/ps no key",
    "GET /api/tags no key",
    "GET /api/v0/models no key",
    "GET /v1/models no key",
  ]);
});

test("another program at such a port, a server without models, a silent one and none at all are no offer, within a second", async () => {
  const silent = await serve({ "/api/tags": () => {}, "/api/ps": () => {} });
  const other = await serve({ "/v1/models": { data: [{ id: "jenkins", owned_by: "me" }] } });
  const began = performance.now();
  expect(
    await findLocalModels(fetched, {
      ollama: silent.port,
      lmStudio: await closedPort(),
      llamaCpp: other.port,
    }),
  ).toEqual([]);
  expect(performance.now() - began).toBeLessThan(2_000);
  const page = await serve({ "/api/tags": "<html>", "/v1/models": "[]", "/api/v0/models": { data: 1 } });
  const { port } = page;
  expect(await findLocalModels(fetched, { ollama: port, lmStudio: port, llamaCpp: port })).toEqual([]);
});

test("only this machine's usual ports are asked", async () => {
  const asked: string[] = [];
  await findLocalModels(async (url) => {
    asked.push(url);
    throw new Error("offline");
  });
  expect(new Set(asked.map((url) => new URL(url).host))).toEqual(
    new Set(Object.values(LOCAL_PORTS).map((port) => `127.0.0.1:${port}`)),
  );
});
