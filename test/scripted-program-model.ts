/**
 * The scripted model (scripted-model.ts) for programs that ask in another way: by Anthropic's Messages API (Claude Code), by OpenAI's
 * Responses API (Codex), or without a stream (Home Assistant). A real endpoint. The test writes its steps into the question, as there; a step
 * is a text or one call. Which step is next follows from the history, since these programs also ask for titles and the like.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { stepsOf } from "./scripted-model.ts";

/** @property url without `/v1` */
export type ScriptedProgramModel = { url: string; close(): Promise<void> };

type Block = { type: string; text?: string; content?: string | Block[] };
type MessagesRequest = {
  messages: { role: string; content: string | Block[] }[];
  tools?: { name: string }[];
};
type ResponsesRequest = {
  input: { type: string; content?: Block[]; output?: string | Block[] }[];
  /** Those of an MCP server stand below its name. */
  tools?: { name?: string; tools?: { name: string }[] }[];
};
type ChatRequest = {
  messages: { role: string; content: string | Block[] | null }[];
  tools?: { function: Tool }[];
};
type Tool = { name: string; namespace?: string };
type Said = { text: string } | { tool: Tool; input: unknown };
type Event = { type: string } & Record<string, unknown>;

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

export async function startScriptedProgramModel(): Promise<ScriptedProgramModel> {
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const chunk of request) body += chunk;
  switch (new URL(request.url ?? "", "http://localhost").pathname) {
    case "/v1/messages":
      return stream(response, messagesEvents(JSON.parse(body) as MessagesRequest));
    case "/v1/responses":
      return stream(response, responsesEvents(JSON.parse(body) as ResponsesRequest));
    case "/v1/chat/completions":
      return json(response, 200, chatAnswer(JSON.parse(body) as ChatRequest));
    case "/v1/models":
      return json(response, 200, { object: "list", data: [{ id: "scripted", object: "model" }] });
    default:
      return json(response, 404, {});
  }
}

function stream(response: ServerResponse, events: readonly Event[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function chatAnswer({ messages, tools = [] }: ChatRequest) {
  const texts = messages.map(({ content }) => textOf({ type: "text", content: content ?? "" }));
  const results = texts.filter((_, at) => messages[at]?.role === "tool");
  const said = say(
    texts.join("\n"),
    results,
    tools.map((tool) => tool.function),
  );
  const isText = "text" in said;
  const message = isText
    ? { role: "assistant", content: said.text }
    : {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: newId("call"),
            type: "function",
            function: { name: said.tool.name, arguments: JSON.stringify(said.input) },
          },
        ],
      };
  const choice = { index: 0, message, finish_reason: isText ? "stop" : "tool_calls" };
  return { id: newId("chat"), object: "chat.completion", model: "scripted", choices: [choice], usage: USAGE };
}

function messagesEvents({ messages, tools = [] }: MessagesRequest): Event[] {
  const blocks = messages.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content,
  );
  const results = blocks.filter(({ type }) => type === "tool_result").map(textOf);
  const said = say(blocks.map(textOf).join("\n"), results, tools);
  const isText = "text" in said;
  const [block, delta] = isText
    ? [
        { type: "text", text: "" },
        { type: "text_delta", text: said.text },
      ]
    : [
        { type: "tool_use", id: newId("toolu"), name: said.tool.name, input: {} },
        { type: "input_json_delta", partial_json: JSON.stringify(said.input) },
      ];
  const message = { id: newId("msg"), type: "message", role: "assistant", model: "scripted", content: [] };
  const ends = { stop_reason: isText ? "end_turn" : "tool_use", stop_sequence: null };
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage: USAGE } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: ends, usage: USAGE },
    { type: "message_stop" },
  ];
}

function responsesEvents({ input, tools = [] }: ResponsesRequest): Event[] {
  const text = input.map(({ content = [] }) => content.map(textOf).join("\n")).join("\n");
  const results = input
    .filter(({ type }) => type === "function_call_output")
    .map(({ output = "" }) => textOf({ type: "text", content: output }));
  const offered = tools.flatMap(({ name = "", tools: own }): Tool[] =>
    own ? own.map((tool) => ({ name: tool.name, namespace: name })) : [{ name }],
  );
  const said = say(text, results, offered);
  const item =
    "text" in said
      ? {
          type: "message",
          id: newId("msg"),
          role: "assistant",
          content: [{ type: "output_text", text: said.text }],
        }
      : {
          type: "function_call",
          id: newId("fc"),
          call_id: newId("call"),
          ...said.tool,
          arguments: JSON.stringify(said.input),
        };
  const response = { id: newId("resp"), object: "response", output: [item], usage: USAGE };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed" } },
  ];
}

/**
 * The step that comes after these results.
 * @param offered an empty list: the program asks for something else, such as a title
 */
function say(text: string, results: readonly string[], offered: readonly Tool[]): Said {
  const step = offered.length === 0 ? undefined : stepsOf(text)[results.length];
  if (!step) return { text: "(no step)" };
  if ("calls" in step) {
    const [call] = step.calls;
    const tool = offered.find(
      ({ name, namespace }) => call?.name === (namespace ? `${namespace}__${name}` : name),
    );
    if (tool) return { tool, input: call?.arguments };
    return { text: `${call?.name} is not offered: ${offered.map(({ name }) => name).join(", ")}` };
  }
  if (!("text" in step)) throw new Error("a step of this model is a text or a call");
  return { text: step.text.replaceAll("$results", results.join(" | ")) };
}

function textOf({ text, content }: Block): string {
  if (typeof content === "string") return content;
  return text ?? (content ?? []).map(textOf).join("\n");
}

function newId(kind: string): string {
  return `${kind}_${crypto.randomUUID().slice(0, 8)}`;
}
