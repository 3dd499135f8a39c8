/**
 * The model endpoint of the exercise, for the gateways and for the agents that are asked in words. It reads the script from the
 * question and its position from the history, so a repeated model call after a crash gets the same reply. It checks each history
 * as strict endpoints do: every call has exactly one result, in order, directly after its message.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { callsOfStep, type PlacedCall, type TurnScript } from "./plan.ts";

type Message = {
  role: string;
  content?: unknown;
  tool_calls?: Array<{ id: string; function: { name: string; arguments: string } }>;
  tool_call_id?: string;
};

export type ChaosModel = {
  /** The value for LLM_BASE_URL. */
  url: string;
  /** Histories that a strict endpoint would refuse. */
  breaches: readonly string[];
  close(): Promise<void>;
};

const MARK = "chaos script: ";
/** The gateway writes this before what it tells the model. */
const NOTE_MARK = "[edgecall] ";
/** The beginning of each answer to a turn that the end of a job began. */
export const TOLD_MARK = "Told: ";

/** Returns the text of a question with this script. */
export function questionOf(script: TurnScript): string {
  return `${MARK}${JSON.stringify(script)}`;
}

/** Returns the beginning of every answer to this turn. */
export function answerMark(turn: string): string {
  return `Turn ${turn} got:`;
}

/** Returns the script of a question; undefined when it is no question of this exercise. */
export function scriptOf(question: string): TurnScript | undefined {
  return question.startsWith(MARK) ? (JSON.parse(question.slice(MARK.length)) as TurnScript) : undefined;
}

/** Returns what a job prints at its end. */
export function jobEnd(place: string): string {
  return `the job of ${place} is done`;
}

/** Returns the command of a job. It leaves a line in the file of its place. */
function jobCommand({ place, wait }: PlacedCall): string {
  return `sleep ${wait / 1_000}; echo job >> ${place}; echo ${jobEnd(place)}`;
}

/** Returns the place of a call in the plan by its arguments, as a record shows them. */
export function placeOf(args: unknown): string | undefined {
  const { path, command, query, prompt, params } = (args ?? {}) as Record<string, unknown>;
  if (params !== undefined) return placeOf(params);
  if (typeof path === "string") return path;
  const asked = query ?? prompt;
  if (typeof asked === "string") return /"turn":"([^"]+)"/.exec(asked)?.[1];
  return typeof command === "string" ? />> (\S+);/.exec(command)?.[1] : undefined;
}

export async function startModel(): Promise<ChaosModel> {
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
    const sinceQuestion = messages.slice(from + 1);
    const note = noteAfterAnswer(sinceQuestion);
    if (note !== undefined) {
      reply(response, { text: `${TOLD_MARK}${note}` });
      return;
    }
    const script = scriptOf(textOf(messages[from]));
    if (!script) throw new Error("a history without a question");
    const step = sinceQuestion.filter((message) => message.tool_calls).length;
    const calls = callsOfStep(script, step);
    setTimeout(() => {
      if (calls.length > 0) reply(response, { calls, of: script.of });
      else reply(response, { text: answerTo(script, sinceQuestion) });
    }, script.delay);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
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

/** Returns what the gateway told after the question was answered: the end of a job began a turn. */
function noteAfterAnswer(sinceQuestion: readonly Message[]): string | undefined {
  const answered = sinceQuestion.findIndex((message) => message.role === "assistant" && !message.tool_calls);
  if (answered < 0) return undefined;
  const note = sinceQuestion.findLast(({ role }) => role === "user");
  const isAfter = note !== undefined && sinceQuestion.indexOf(note) > answered;
  return isAfter && textOf(note).startsWith(NOTE_MARK) ? textOf(note) : undefined;
}

type Reply = { text: string } | { calls: PlacedCall[]; of: TurnScript["of"] };

function reply(response: ServerResponse, what: Reply): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const calls = "calls" in what ? what.calls : [];
  let out = "";
  if ("text" in what) out += event({ choices: [{ index: 0, delta: { content: what.text } }] });
  for (const [index, planned] of calls.entries()) {
    const id = `call_${crypto.randomUUID().slice(0, 8)}`;
    const call = {
      index,
      id,
      type: "function",
      function: functionOf(planned, "of" in what ? what.of : undefined),
    };
    out += event({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
  }
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  out += event({ choices: [{ index: 0, delta: {}, finish_reason }] });
  out += event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
  response.end(`${out}data: [DONE]\n\n`);
}

/** @param of the agent whose own model makes the call */
function functionOf(call: PlacedCall, of: TurnScript["of"]): { name: string; arguments: string } {
  const { agent, place, wait, does } = call;
  const params =
    does === "job" ? { command: jobCommand(call), background: true } : { path: place, wait_ms: wait };
  const action = does === "job" ? "bash" : "append";
  if (agent === of && typeof does !== "object") return { name: action, arguments: JSON.stringify(params) };
  const asked = typeof does === "object" ? { query: questionOf(does) } : { action, params };
  return { name: "edge_call", arguments: JSON.stringify({ agent_id: agent, ...asked }) };
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
