/** A scripted model endpoint over real HTTP for a test. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type ModelRequest = {
  messages: Array<{ role: string; content: string | null; tool_call_id?: string }>;
  tools?: Array<{ function: { name: string; description: string } }>;
  max_tokens?: number;
  model: string;
  temperature?: number;
};
export type ModelAnswer =
  | { text: string }
  | { calls: Array<{ name: string; args: Record<string, unknown> }> }
  | { status: number; error: string };

export type ModelEndpoint = { baseUrl: string; requests: ModelRequest[]; stop(): Promise<void> };

/** @param told answers of a local server to other questions, by path; it tells nothing else */
export async function startModel(
  answer: (request: ModelRequest, count: number) => ModelAnswer | Promise<ModelAnswer>,
  told: Record<string, unknown> = {},
): Promise<ModelEndpoint> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      const known = told[request.url?.split("?")[0] ?? ""];
      response.writeHead(known === undefined ? 404 : 200).end(JSON.stringify(known));
      return;
    }
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", async () => {
      const asked = JSON.parse(body) as ModelRequest;
      requests.push(asked);
      const given = await answer(asked, requests.length);
      const status = "status" in given ? given.status : 200;
      response.writeHead(status, { "content-type": "application/json" });
      response.end(
        JSON.stringify("status" in given ? { error: { message: given.error } } : completion(given)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function completion(answer: Exclude<ModelAnswer, { status: number }>): Record<string, unknown> {
  const message =
    "text" in answer
      ? { role: "assistant", content: answer.text }
      : {
          role: "assistant",
          content: null,
          tool_calls: answer.calls.map(({ name, args }, index) => ({
            index,
            id: `call_${crypto.randomUUID()}`,
            type: "function",
            function: { name, arguments: JSON.stringify(args) },
          })),
        };
  return {
    model: "scripted",
    choices: [{ index: 0, message, finish_reason: "text" in answer ? "stop" : "tool_calls" }],
    usage: { prompt_tokens: 11, completion_tokens: 7 },
  };
}
