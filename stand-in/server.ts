/** The stand-in model's endpoint: OpenAI's chat completions over HTTP, streamed and whole. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { replyTo, type StandInReply } from "./reply.ts";
import { type ChatRequest, chatRequest } from "./request.ts";

export const STAND_IN_MODEL = "stand-in";
const OWNER = "edgecall stand-in (word matching, not a language model)";
/** A conversation with images in it stays below this. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** How much text a streamed chunk holds: about what real endpoints send. */
const CHUNK_CHARS = 24;
/** English text has about this many characters a token; the counts are an estimate, as the model is. */
const CHARS_PER_TOKEN = 4;

export type StandIn = {
  /** Up to and with `/v1`, as LLM_BASE_URL takes it. */
  baseUrl: string;
  stop(): Promise<void>;
};

/** @param options.port 0 = any free one; loopback only, since it asks for no key */
export async function startStandIn(options: { port?: number } = {}): Promise<StandIn> {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, 500, error instanceof Error ? error.message : String(error));
    });
  });
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "/").split("?", 1)[0];
  if (path === "/v1/models" || path === `/v1/models/${STAND_IN_MODEL}`) {
    const model = { id: STAND_IN_MODEL, object: "model", created: 0, owned_by: OWNER };
    sendJson(response, 200, path === "/v1/models" ? { object: "list", data: [model] } : model);
    return;
  }
  if (path !== "/v1/chat/completions") {
    sendError(response, 404, `Unknown request URL: ${request.method} ${path}.`);
    return;
  }
  if (request.method !== "POST") {
    sendError(response, 405, "Not allowed: use POST for /v1/chat/completions.");
    return;
  }
  const body = await readBody(request);
  if (body === undefined) {
    sendError(response, 413, `The request is larger than ${MAX_BODY_BYTES} bytes.`);
    return;
  }
  const parsed = checkJson(chatRequest, body);
  if (!parsed.ok) {
    sendError(response, 400, parsed.error);
    return;
  }
  complete(parsed.value, body.length, response);
}

function complete(request: ChatRequest, promptChars: number, response: ServerResponse): void {
  const reply = replyTo(request);
  const base = {
    id: `chatcmpl-${randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: STAND_IN_MODEL,
  };
  const calls = reply.calls.map((call) => ({
    id: `call_${randomUUID().replaceAll("-", "")}`,
    type: "function" as const,
    function: call,
  }));
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  const usage = usageOf(promptChars, reply);
  if (!request.stream) {
    const message = {
      role: "assistant",
      content: reply.text || null,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    sendJson(response, 200, {
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
    return;
  }

  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  });
  const send = (more: Record<string, unknown>) =>
    response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", ...more })}\n\n`);
  const delta = (part: Record<string, unknown>, reason: string | null = null) =>
    send({ choices: [{ index: 0, delta: part, finish_reason: reason }] });
  delta({ role: "assistant", content: "" });
  for (const part of chunksOf(reply.text)) delta({ content: part });
  for (const [index, call] of calls.entries()) delta({ tool_calls: [{ index, ...call }] });
  delta({}, finish_reason);
  if (request.stream_options?.include_usage) send({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

function chunksOf(text: string): string[] {
  const characters = [...text];
  const chunks: string[] = [];
  for (let at = 0; at < characters.length; at += CHUNK_CHARS) {
    chunks.push(characters.slice(at, at + CHUNK_CHARS).join(""));
  }
  return chunks;
}

function usageOf(promptChars: number, reply: StandInReply) {
  const replyChars = reply.text.length + JSON.stringify(reply.calls).length;
  const prompt_tokens = Math.ceil(promptChars / CHARS_PER_TOKEN);
  const completion_tokens = Math.ceil(replyChars / CHARS_PER_TOKEN);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** Undefined when it is too large; the rest is read and dropped, so that the answer can be sent. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return bytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks).toString("utf8");
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function sendError(response: ServerResponse, status: number, message: string): void {
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  sendJson(response, status, { error: { message, type, param: null, code: null } });
}
