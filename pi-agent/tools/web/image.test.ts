/** A picture and a real model endpoint that reports its requests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import { readAllowedRanges } from "@edgecall/core/web/address.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { localFiles } from "../../env/local-files.ts";
import { callTool } from "../../testing/call.ts";
import { startSite } from "../../testing/web-site.ts";
import { IMAGE_MAX_BYTES, image, imageMissing } from "./image.ts";
import { guardedFetch } from "./web-guard.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\nand so on", "latin1");
type Asked = { messages: Array<{ role: string; content: unknown }> };

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

let work: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-image-"));
  work = join(folder, "work");
  mkdirSync(work);
  writeFileSync(join(work, "a.png"), PNG);
  writeFileSync(join(work, "a.txt"), "hello");
  writeFileSync(join(folder, "secret.png"), PNG);
  return () => rmSync(folder, { recursive: true, force: true });
});

/** @param refusal the endpoint's error text for requests with a picture */
async function model(refusal?: string): Promise<{ llm: ModelSettings; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked.push(JSON.parse(body) as Asked);
    response.setHeader("content-type", "application/json");
    if (refusal !== undefined && body.includes("image_url"))
      return void response.writeHead(400).end(JSON.stringify({ error: { message: refusal } }));
    const message = { role: "assistant", content: "A cat.\u200b" };
    response.end(JSON.stringify({ model: "seer", choices: [{ index: 0, message, finish_reason: "stop" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { asked, llm: { baseUrl, model: "seer", maxTokens: 100, temperature: 0 } };
}

const place = () => ({ files: localFiles({ cwd: work }) });

test("the model sees the picture and the question, and its text is returned", async () => {
  const { llm, asked } = await model();
  const { text, code } = await callTool(image(place(), { llm }), {
    path: "a.png",
    question: "What animal?",
  });
  expect(code).toBeUndefined();
  expect(text).toBe("A cat.");
  expect(asked[0]?.messages[1]?.content).toEqual([
    { type: "text", text: "What animal?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG.toString("base64")}` } },
  ]);
  await callTool(image(place(), { llm }), { path: "a.png" });
  expect(JSON.stringify(asked[1]?.messages[1]?.content)).toContain("What does this picture show?");
});

test("a model that accepts no pictures is not asked to describe one", async () => {
  const { llm, asked } = await model("this model does not support image input");
  const { text, code } = await callTool(image(place(), { llm }), { path: "a.png" });
  expect(code).toBe("unavailable");
  expect(text).toContain("the model seer takes no pictures; set LLM_MODEL to one that does");
  expect(asked).toHaveLength(1);
});

test("without a model, or without its answer, it says so", async () => {
  const none = image(place(), { llm: undefined });
  expect((await callTool(none, { path: "a.png" })).text).toContain("this agent has no model");
  expect(await imageMissing({ llm: undefined })).toContain("set LLM_BASE_URL, LLM_API_KEY and LLM_MODEL");
  const { llm } = await model();
  expect(await imageMissing({ llm })).toBeUndefined();
  const away = image(place(), { llm: { ...llm, baseUrl: "http://127.0.0.1:1/v1" } });
  expect((await callTool(away, { path: "a.png" })).text).toContain(
    "the model at 127.0.0.1:1 could not be reached",
  );
});

test("a file that is no picture, too large, outside or missing never reaches the model", async () => {
  const { llm, asked } = await model();
  const tool = image(place(), { llm });
  writeFileSync(join(work, "huge.png"), Buffer.concat([PNG, Buffer.alloc(IMAGE_MAX_BYTES)]));
  for (const [args, code] of [
    [{ path: "a.txt" }, "invalid_params"],
    [{ path: "huge.png" }, "too_large"],
    [{ path: "b.png" }, "not_found"],
    [{ path: "../secret.png" }, "access_denied"],
    [{ url: "https://example.com/a.png" }, "invalid_params"],
    [{}, "invalid_params"],
  ] as const)
    expect((await callTool(tool, args)).code, JSON.stringify(args)).toBe(code);
  expect(asked).toEqual([]);
});

test("with the web, a picture is loaded through the guard, and the call is not only a read", async () => {
  const { llm, asked } = await model();
  const site = await startSite("127.0.0.2", (request, response) =>
    response.end(request.url === "/a.png" ? PNG : "<p>no picture"),
  );
  const secret = await startSite("127.0.0.1", (_, response) => response.end(PNG));
  closing.push(site.close, secret.close);
  const ranges = readAllowedRanges(["127.0.0.2"]);
  const allowed = ranges.ok ? ranges.value : [];
  const resolve = async (host: string) => [
    { address: host === "site.example" ? "127.0.0.2" : "127.0.0.1", family: 4 },
  ];
  const tool = image(place(), { llm }, { fetch: guardedFetch({ allowed, resolve }), allowed });
  const at = (host: string, port: number, path = "/a.png") => ({ url: `http://${host}:${port}${path}` });
  expect((await callTool(tool, at("site.example", site.port))).text).toBe("A cat.");
  expect((await callTool(tool, at("site.example", site.port, "/b"))).code).toBe("invalid_params");
  expect((await callTool(tool, at("evil.example", secret.port))).code).toBe("private_address");
  expect((await callTool(tool, at("127.0.0.1", secret.port))).code).toBe("private_address");
  expect((await callTool(tool, { path: "a.png", ...at("site.example", site.port) })).code).toBe(
    "invalid_params",
  );
  expect([asked.length, secret.asked.length]).toEqual([1, 0]);
  expect(tool).toMatchObject({ effect: "network", permission: "network", taints: true });
  expect(image(place(), { llm })).toMatchObject({ effect: "read", permission: "file_read" });
});
