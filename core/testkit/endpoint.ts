/** A model endpoint over real HTTP that misbehaves as a test demands, with helpers to write its replies. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { callModel } from "../loop/model.ts";
import type { ModelReply } from "../loop/model-reply.ts";
import type { ModelRequest, ModelSettings } from "../loop/request.ts";
import { ModelError } from "../loop/retry.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export const QUESTION: ModelRequest = { messages: [{ role: "user", content: "hello" }], tools: [] };

export class Endpoint {
  handle: Handler = (_, response) => void response.writeHead(501).end();
  settings: ModelSettings;
  readonly #server: Server;

  private constructor(server: Server, settings: ModelSettings) {
    this.#server = server;
    this.settings = settings;
    server.on("request", (request, response) => {
      // A local server is also asked for its window; this one tells none.
      if (request.method === "GET") response.writeHead(404).end();
      else void this.handle(request, response);
    });
  }

  static async start(): Promise<Endpoint> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    return new Endpoint(server, { baseUrl, model: "asked-for", maxTokens: 100, temperature: 0.7 });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  ask(request: Partial<ModelRequest> = {}): Promise<ModelReply> {
    return callModel(this.settings, { ...QUESTION, ...request });
  }

  /** Answers every request with these events and a clean end. */
  stream(...events: unknown[]): void {
    this.handle = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      for (const data of events) response.write(event(data));
      response.end();
    };
  }

  respond(status: number, body: string | object, headers: Record<string, string> = {}): void {
    this.handle = (_, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
  }
}

/** Returns the ModelError of a call; fails the test when the call succeeds. */
export async function failure(promise: Promise<unknown>): Promise<ModelError> {
  const error = await promise.then(
    (value) => expect.fail(`no error but ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error;
}

export async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let body = "";
  for await (const chunk of request) body += chunk;
  return JSON.parse(body);
}

/** One server-sent event; anything but a string is sent as JSON. */
export const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

export const delta = (part: unknown, more: object = {}) => ({
  model: "m-1",
  choices: [{ delta: part, ...more }],
});
export const text = (content: string) => delta({ content });
export const finish = (reason: string) => delta({}, { finish_reason: reason });
export const calls = (...toolCalls: unknown[]) => delta({ tool_calls: toolCalls });
