/**
 * The model endpoint of the exercise. It reads the script from the question and its position from the history, so a
 * repeated model call after a crash gets the same reply. It checks each history as strict endpoints do: every call has
 * exactly one result, in order, directly after its message.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TurnScript } from "./plan.ts";

type Message = {
  role: string;
  content?: unknown;
  tool_calls?: Array<{ id: string; function: { name: string; arguments: string } }>;
  tool_call_id?: string;
};

export type ChaosModel = {
  /** The value for LLM_BASE_URL. */
  url: string;
  /** The number of times that each turn's question arrived. */
  asked: ReadonlyMap<string, number>;
  /** Histories that a strict endpoint would refuse. */
  breaches: readonly string[];
  close(): Promise<void>;
};

const MARK = "chaos script: ";

/** Returns the text of a question with this script. */
export function questionOf(script: TurnScript): string {
  return `${MARK}${JSON.stringify(script)}`;
}

/** Returns the beginning of every answer to this turn. */
export function answerMark(turn: string): string {
  return `Turn ${turn} got:`;
}

export async function startModel(): Promise<ChaosModel> {
  const asked = new Map<string, number>();
  const breaches: string[] = [];
  const server = createServer((request, response) => {
    request.socket.setNoDelay(true);
    answer(request, response).catch((error: unknown) => {
      // Usually the caller was killed in the middle of its request.
      if (!response.headersSent) response.writeHead(400);
      response.end(JSON.stringify({ error: { message: String(error) } }));
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { messages } = JSON.parse(body) as { messages: Message[] };
    const breach = breachOf(messages);
    if (breach !== undefined) {
      breaches.push(breach);
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: breach } }));
      return;
    }
    const from = messages.findLastIndex(isQuestion);
    const script = JSON.parse(textOf(messages[from]).slice(MARK.length)) as TurnScript;
    asked.set(script.turn, (asked.get(script.turn) ?? 0) + 1);
    const sinceQuestion = messages.slice(from + 1);
    const step = script.steps[sinceQuestion.filter((message) => message.tool_calls).length];
    setTimeout(() => {
      if (step) reply(response, { calls: step });
      else reply(response, { text: answerTo(script, sinceQuestion) });
    }, script.delay);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    breaches,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answerTo(script: TurnScript, sinceQuestion: Message[]): string {
  const results = sinceQuestion.filter((message) => message.role === "tool").map(textOf);
  return `${answerMark(script.turn)} ${results.join(" | ")}`;
}

function reply(
  response: ServerResponse,
  { calls = [], text }: { calls?: TurnScript["steps"][number]; text?: string },
): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let out = "";
  if (text !== undefined) out += event({ choices: [{ index: 0, delta: { content: text } }] });
  for (const [index, { agent, wait }] of calls.entries()) {
    const id = `call_${crypto.randomUUID().slice(0, 8)}`;
    const args = JSON.stringify({ agent_id: agent, action: "append", params: { wait_ms: wait } });
    const call = { index, id, type: "function", function: { name: "edge_call", arguments: args } };
    out += event({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
  }
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  out += event({ choices: [{ index: 0, delta: {}, finish_reason }] });
  out += event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
  response.end(`${out}data: [DONE]\n\n`);
}

function event(chunk: Record<string, unknown>): string {
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "chaos", ...chunk })}\n\n`;
}

function isQuestion(message: Message): boolean {
  return message.role === "user" && textOf(message).startsWith(MARK);
}

function textOf(message: Message | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

/** Returns what is wrong with a history, or undefined. */
function breachOf(messages: readonly Message[]): string | undefined {
  const ids = new Set<string>();
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at];
    if (message?.role === "tool") return `message ${at}: a tool result that answers no call`;
    const calls = message?.tool_calls ?? [];
    for (const [offset, call] of calls.entries()) {
      if (ids.has(call.id)) return `message ${at}: the call id ${call.id} stands twice`;
      ids.add(call.id);
      const result = messages[at + 1 + offset];
      if (result?.role !== "tool" || result.tool_call_id !== call.id)
        return `message ${at + 1 + offset}: expected the result of ${call.id}, got a ${result?.role ?? "nothing"}`;
    }
    at += calls.length;
  }
  return undefined;
}
