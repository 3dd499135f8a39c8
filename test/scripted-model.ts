/**
 * A real OpenAI-compatible endpoint, which also speaks Anthropic's Messages API. The test writes its answers into the question.
 *
 * A user message with `script: [step, …]` is answered step by step, one step for each request, so a step may be a fault and
 * the next one answers the retry. `written` has the steps of questions that can hold no script, one for each reply since.
 * Every history is checked as strict endpoints do: each call has exactly one result, in order, right after its message. A violation is recorded in `breaches` and answered with 400.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { breachOfMessages, type MessagesBody, openAiMessages, playMessages } from "./scripted-messages.ts";

export type Step =
  /**
   * `$results` becomes the tool results since the user's message, `$notes` what the gateway told the model,
   * `$pictures` the media type and length of each picture that it was shown.
   * Of Anthropic's form alone: `thinks` is a thought before it, whose signature has to come back.
   */
  | { text: string; thinks?: string }
  /** `finish`: the reason that it gives for its end. */
  | { text: string; finish: string }
  /** Stops in the middle of its text until the test calls `release` with this name; then it continues or breaks off. */
  | { text: string; pause: string; breakOff?: true }
  /** A text with this many characters. */
  | { chars: number }
  /** A slow text in this many pieces, with a pause in ms between them. */
  | { text: string; pieces: number; everyMs: number }
  | {
      calls: Array<{ name?: string; arguments: unknown; id?: string }>;
      text?: string;
      pause?: string;
      finish?: string;
      thinks?: string;
    }
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | { hang: "before" | "middle" }
  | { breakOff: true }
  /** Answers when the test calls `release` with this name. */
  | { hold: string; step: Step }
  /** Sends its first byte after this many ms, as a model on a small board does. */
  | { afterMs: number; step: Step }
  /** Sent unchanged, as an event stream. */
  | { raw: string };

export type ModelRequest = {
  /** The newest script among its messages; empty when there is none. */
  question: string;
  at: number;
  model: string;
  messages: Message[];
  tool_choice?: unknown;
  max_tokens?: number;
  tools: Array<{ function: { name: string; description: string; parameters: Record<string, unknown> } }>;
  /** The body of a request in Anthropic's form. */
  body?: MessagesBody;
};

type Message = {
  role: string;
  content: string | null | Array<{ type: string; text?: string; image_url?: { url: string } }>;
  tool_calls?: Array<{ id: string; function: { name: string; arguments: string } }>;
  tool_call_id?: string;
};

export type ScriptedModel = {
  /** The value for LLM_BASE_URL. */
  url: string;
  requests: ModelRequest[];
  breaches: string[];
  /** The steps for a question that holds no script, by words of it. */
  written: Map<string, Step[]>;
  /** What a local server tells of itself, by path. A test may change it. */
  told: Record<string, unknown>;
  /** Releases a held step, also one that is requested later. */
  release(name: string): void;
  close(): Promise<void>;
};

export function script(...steps: Step[]): string {
  // Each question is unique, so that two tests with the same steps do not share their position. It has no digits: the gateway
  // takes them for words of the question, and "5" fits lamp-5 better than lamp. It has no hyphens: a group of four letters may be a
  // word ("mein"), and the question a German one.
  const unique = crypto
    .randomUUID()
    .replaceAll("-", "")
    .replace(/\d/g, (digit) => "ghijklmnop".charAt(Number(digit)));
  return `script ${unique}: ${JSON.stringify(steps)}`;
}

/** @param host the address to listen on; other machines cannot reach loopback */
export async function startScriptedModel(host = "127.0.0.1"): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const breaches: string[] = [];
  const written: ScriptedModel["written"] = new Map();
  const told: ScriptedModel["told"] = {};
  const position = new Map<string, number>();
  const holds = new Map<string, PromiseWithResolvers<void>>();
  const hold = (name: string) => {
    const known = holds.get(name) ?? Promise.withResolvers<void>();
    holds.set(name, known);
    return known;
  };

  const server = createServer((request, response) => {
    request.socket.setNoDelay(true);
    void answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ error: { message: String(error) } }));
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += chunk;
    const released = request.url?.split("/release/")[1];
    if (released !== undefined) {
      // For tests inside workerd, which cannot reach this in another way.
      hold(released).resolve();
      json(response, 200, {});
      return;
    }
    if (request.url?.endsWith("/requests")) {
      const { question, words } = JSON.parse(body) as { question?: string; words?: string };
      const isAbout = (one: ModelRequest) =>
        (question === undefined || one.question === question) &&
        (words === undefined || JSON.stringify(one.messages).includes(words));
      json(response, 200, requests.filter(isAbout));
      return;
    }
    if (request.method === "GET") {
      const known = told[request.url?.split("?")[0] ?? ""];
      json(
        response,
        200,
        known ?? { object: "list", data: [{ id: "scripted", object: "model", owned_by: "test" }] },
      );
      return;
    }
    const inMessages = request.url?.endsWith("/messages") ? (JSON.parse(body) as MessagesBody) : undefined;
    const asked = inMessages ? openAiForm(inMessages) : (JSON.parse(body) as ModelRequest);
    const wordsIn = (message: Message | undefined) =>
      message?.role === "user"
        ? [...written.keys()].find((words) => textOf(message).includes(words))
        : undefined;
    const from = asked.messages.findLastIndex(
      (message) => isScript(message) || wordsIn(message) !== undefined,
    );
    const words = wordsIn(asked.messages[from]);
    // A proxy may have joined the gateway's words to the person's. A picture below them leaves an empty line.
    const [scripted = ""] = textOf(asked.messages[from]).trimEnd().split("\n[edgecall] ");
    const question = words ?? scripted;
    requests.push({
      question,
      at: performance.now(),
      model: asked.model,
      messages: asked.messages,
      ...(asked.tool_choice !== undefined && { tool_choice: asked.tool_choice }),
      ...(asked.max_tokens !== undefined && { max_tokens: asked.max_tokens }),
      tools: asked.tools ?? [],
      ...(inMessages && { body: inMessages }),
    });
    const breach = inMessages ? breachOfMessages(inMessages, request.headers) : breachOf(asked.messages);
    if (breach) {
      breaches.push(breach);
      json(response, 400, { type: "error", error: { type: "invalid_request_error", message: breach } });
      return;
    }
    if (question === "") {
      // The gateway's own request for a summary. A word in the summarised text can hold it.
      const name = asked.messages
        .map(textOf)
        .join()
        .match(/\[hold ([^\]]+)\]/)?.[1];
      if (name !== undefined) await hold(name).promise;
      await play(response, { text: "(no script)" }, { ...asked, from }, hold);
      return;
    }
    const steps = written.get(question) ?? stepsOf(question);
    const at = words === undefined ? (position.get(question) ?? 0) : repliesSince(asked.messages, from);
    position.set(question, at + 1);
    let step = steps[at] ?? { text: "the script is at its end" };
    while ("step" in step) {
      await ("hold" in step ? hold(step.hold).promise : setTimeout(step.afterMs));
      step = step.step;
    }
    await play(response, step, { ...asked, from }, hold);
  }

  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}/v1`,
    requests,
    breaches,
    written,
    told,
    release: (name) => hold(name).resolve(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function play(
  response: ServerResponse,
  step: Exclude<Step, { step: Step }>,
  { from, ...asked }: ModelRequest & { from: number },
  hold: (name: string) => PromiseWithResolvers<void>,
): Promise<void> {
  if ("status" in step) {
    response.writeHead(step.status, { "content-type": "application/json", ...step.headers });
    response.end(
      typeof step.body === "string"
        ? step.body
        : JSON.stringify(
            step.body ?? { error: { message: step.status >= 500 ? "internal error" : "scripted" } },
          ),
    );
    return;
  }
  if ("hang" in step && step.hang === "before") return;
  response.writeHead(200, { "content-type": "text/event-stream" });
  if ("raw" in step) {
    response.end(step.raw);
    return;
  }
  if ("hang" in step || ("breakOff" in step && !("pause" in step))) {
    response.write(event({ choices: [{ index: 0, delta: { role: "assistant", content: "I begin " } }] }));
    if ("breakOff" in step) setImmediate(() => response.destroy());
    return;
  }
  const text = ("chars" in step ? "x".repeat(step.chars) : "text" in step && step.text ? step.text : "")
    .replaceAll("$results", resultsOf(asked.messages, from))
    .replaceAll("$notes", notesOf(asked.messages))
    .replaceAll("$pictures", picturesOf(asked.messages));
  const calls = "calls" in step ? step.calls : [];
  if (asked.body) {
    const thinks = "thinks" in step ? step.thinks : undefined;
    const pause = async () => {
      if (!("pause" in step) || step.pause === undefined) return false;
      await hold(step.pause).promise;
      return "breakOff" in step;
    };
    return playMessages(response, asked.model, { thinks, text, calls, pause });
  }
  let out = "";
  // In at least two pieces, so that streaming is visible.
  const pieces = "pieces" in step ? step.pieces : 2;
  for (let at = 0; at < pieces; at += 1) {
    const piece = text.slice((text.length * at) / pieces, (text.length * (at + 1)) / pieces);
    if (piece) out += event({ choices: [{ index: 0, delta: { content: piece } }] });
    const pause = "pause" in step ? step.pause : undefined;
    const everyMs = "everyMs" in step ? step.everyMs : undefined;
    if (pause === undefined && everyMs === undefined) continue;
    response.write(out);
    out = "";
    if (pause !== undefined) await hold(pause).promise;
    else await setTimeout(everyMs);
    if ("breakOff" in step) return void response.destroy();
  }
  for (const [index, call] of calls.entries()) {
    const args = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
    const id = call.id ?? `call_${crypto.randomUUID().slice(0, 8)}`;
    const named = { name: call.name ?? "edge_call", arguments: args };
    out += event({
      choices: [{ index: 0, delta: { tool_calls: [{ index, id, type: "function", function: named }] } }],
    });
  }
  const finish = ("finish" in step && step.finish) || (calls.length > 0 ? "tool_calls" : "stop");
  out += event({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  out += event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
  response.end(`${out}data: [DONE]\n\n`);
}

/** A request of Anthropic's form in OpenAI's. */
function openAiForm(body: MessagesBody): ModelRequest {
  const tools = (body.tools ?? []).map(({ name, description = "", input_schema }) => ({
    function: { name, description, parameters: input_schema },
  }));
  const { tool_choice } = body;
  return { question: "", at: 0, model: body.model, messages: openAiMessages(body), tools, tool_choice, body };
}

function event(chunk: Record<string, unknown>): string {
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "scripted", ...chunk })}\n\n`;
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function textOf(message: Message | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.flatMap((part) => part.text ?? []).join("\n") : "";
}

/**
 * Matches at the beginning of a line, since several messages may have been joined into one. The last match counts.
 * The ids in homes of earlier versions have digits and hyphens.
 */
const SCRIPT = /^script [0-9a-p-]{32,36}: (?![\s\S]*^script [0-9a-p-]{32,36}: )/m;

function isScript(message: Message): boolean {
  return message.role === "user" && SCRIPT.test(textOf(message));
}

/** The steps of the script in a text; none when it has no script. */
export function stepsOf(text: string): Step[] {
  const from = text.search(SCRIPT);
  if (from < 0) return [];
  const [line = ""] = text.slice(text.indexOf("[", from)).split("\n");
  return JSON.parse(line) as Step[];
}

function repliesSince(messages: Message[], from: number): number {
  return messages.slice(from).filter(({ role }) => role === "assistant").length;
}

function resultsOf(messages: Message[], from: number): string {
  return messages
    .slice(from + 1)
    .filter((message) => message.role === "tool")
    .map(textOf)
    .join(" | ");
}

function picturesOf(messages: readonly Message[]): string {
  const urls = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((part) => part.image_url?.url ?? []) : [],
  );
  return urls.map((url) => `${url.slice(0, url.indexOf(";"))} ${url.length}`).join(", ");
}

function notesOf(messages: Message[]): string {
  return messages
    .map(textOf)
    .filter((text) => text.startsWith("[edgecall] "))
    .join(" | ");
}

/** Returns what is wrong with a history, or undefined. */
function breachOf(messages: Message[]): string | undefined {
  const ids = new Set<string>();
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at];
    if (message?.role === "tool") return `message ${at}: a tool result that answers no call`;
    const calls = message?.tool_calls ?? [];
    for (const [offset, call] of calls.entries()) {
      if (ids.has(call.id)) return `call id ${call.id} stands twice`;
      ids.add(call.id);
      JSON.parse(call.function.arguments);
      const result = messages[at + 1 + offset];
      if (result?.role !== "tool" || result.tool_call_id !== call.id) {
        return `message ${at + 1 + offset}: expected the result of ${call.id}, got ${JSON.stringify(result)?.slice(0, 120)}`;
      }
    }
    at += calls.length;
  }
  return undefined;
}
