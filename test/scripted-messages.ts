/**
 * Anthropic's Messages API for the scripted model: checks a request as strictly as the real one does
 * (https://platform.claude.com/docs/en/api/messages), and plays a step of a script as a stream of its events.
 */
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";

type Block = { type: string } & Record<string, unknown>;
type Message = { role: string; content: Block[] };
export type MessagesBody = {
  model: string;
  max_tokens: number;
  stream?: boolean;
  tools?: Array<{ name: string; description?: string; input_schema: Record<string, unknown> }>;
  system?: Block[];
  messages: Message[];
  tool_choice?: unknown;
};

const ID = /^[a-zA-Z0-9_-]+$/;
const PICTURES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const MARK = '"cache_control":{"type":"ephemeral"}';

/** The thought before each call of this endpoint, by model and the call's id: it must come back before the call. */
const thoughts = new Map<string, string>();

/** Returns what the API would refuse, or undefined. */
export function breachOfMessages(body: MessagesBody, headers: Record<string, unknown>): string | undefined {
  if (headers["anthropic-version"] !== "2023-06-01") return "anthropic-version: header is required";
  if (headers.authorization !== undefined) return "authorization: the key belongs into x-api-key";
  if (!Number.isInteger(body.max_tokens)) return "max_tokens: Field required";
  const text = JSON.stringify(body);
  const marks = text.split('"cache_control"').length - 1;
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  if (text.split(MARK).length - 1 !== marks) return "cache_control: not ephemeral";
  for (const { name, input_schema } of body.tools ?? []) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return `tools: the name '${name}'`;
    if (input_schema?.type !== "object") return `tools: input_schema of ${name} is no object`;
  }
  if (body.tool_choice !== undefined && !body.tools?.length) return "tool_choice: without tools";
  const calls = body.messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_use"));
  if (calls.length > 0 && !body.tools?.length) return "tools: a history with calls must define them";
  if (new Set(calls.map(({ id }) => id)).size < calls.length)
    return "messages: `tool_use` ids must be unique";
  if (body.messages[0]?.role !== "user") return "messages: first message must use the user role";
  if (body.messages.at(-1)?.role !== "user") return "This model does not support assistant message prefill.";
  for (const [at, message] of body.messages.entries()) {
    const said = breachOfMessage(body.model, message, body.messages[at - 1], body.messages[at + 1]);
    if (said) return `messages.${at}: ${said}`;
  }
  return undefined;
}

function breachOfMessage(
  model: string,
  { role, content }: Message,
  before: Message | undefined,
  after: Message | undefined,
): string | undefined {
  if (role !== "user" && role !== "assistant") return `role '${role}'`;
  if (before?.role === role) return `roles must alternate between "user" and "assistant"`;
  if (!Array.isArray(content) || content.length === 0) return "content must not be empty";
  const idsOf = (blocks: readonly Block[] = [], type: string, key: string) =>
    blocks.filter((block) => block.type === type).map((block) => String(block[key]));
  for (const block of content) {
    const said = breachOfBlock(role, block);
    if (said) return said;
  }
  const results = idsOf(content, "tool_result", "tool_use_id");
  if (content.slice(0, results.length).some(({ type }) => type !== "tool_result"))
    return "tool_result blocks must come first";
  const asked = idsOf(before?.content, "tool_use", "id");
  const stray = results.find((id) => !asked.includes(id));
  if (stray !== undefined) return `unexpected tool_use_id in tool_result blocks: ${stray}`;
  const calls = role === "assistant" ? idsOf(content, "tool_use", "id") : [];
  const answered = idsOf(after?.content, "tool_result", "tool_use_id");
  const open = calls.find((id) => answered.filter((one) => one === id).length !== 1);
  if (open !== undefined)
    return `tool_use ids were found without one tool_result block immediately after: ${open}`;
  for (const id of calls) {
    const thought = thoughts.get(`${model} ${id}`);
    if (thought !== undefined && JSON.stringify(content[0]) !== thought)
      return "Expected `thinking`, as it was before this call";
  }
  return undefined;
}

function breachOfBlock(role: string, block: Block): string | undefined {
  const { type } = block;
  if (type === "text")
    return String(block.text).trim() === ""
      ? "text content blocks must contain non-whitespace text"
      : undefined;
  if (type === "thinking") {
    if (block.cache_control) return "thinking: cache_control is not permitted";
    return block.signature === signatureOf(String(block.thinking))
      ? undefined
      : "Invalid `signature` in `thinking` block";
  }
  if (role === "assistant") {
    if (type !== "tool_use") return `a ${type} of an assistant`;
    if (!ID.test(String(block.id))) return `tool_use.id: String should match pattern '${ID.source}'`;
    return isObject(block.input) ? undefined : "tool_use.input: Input should be a valid dictionary";
  }
  if (type === "tool_result")
    return block.content === "" ? "tool_result.content must not be empty" : undefined;
  if (type !== "image") return `a ${type} of a user`;
  const source = block.source as Record<string, unknown> | undefined;
  if (source?.type === "url") return /^https:/.test(String(source.url)) ? undefined : "image.source.url";
  if (source?.type !== "base64" || !PICTURES.includes(String(source.media_type)))
    return "image.source.media_type";
  return /^[A-Za-z0-9+/]+=*$/.test(String(source.data)) ? undefined : "image.source.data";
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function signatureOf(thinking: string): string {
  return createHash("sha256").update(`signed ${thinking}`).digest("base64");
}

/** What the API keeps under the last mark: tools, system and messages up to there, without the marks. */
export function cachedPrefix(body: Pick<MessagesBody, "tools" | "system" | "messages">): string {
  const text = JSON.stringify([body.tools, body.system, body.messages]);
  return text.slice(0, text.lastIndexOf(`,${MARK}`)).replaceAll(`,${MARK}`, "");
}

type OpenAiMessage = {
  role: string;
  content: string | Array<{ type: string; image_url: { url: string } }>;
  tool_calls?: Array<{ id: string; function: { name: string; arguments: string } }>;
  tool_call_id?: string;
};

/** The request's blocks as messages of OpenAI's form, one each: scripts are looked for in them. */
export function openAiMessages({ system = [], messages }: MessagesBody): OpenAiMessage[] {
  return [
    { role: "system", content: system.map(({ text }) => String(text)).join("\n\n") },
    ...messages.flatMap(({ role, content }) => content.map((block) => openAiMessage(role, block))),
  ];
}

function openAiMessage(role: string, block: Block): OpenAiMessage {
  const { type, id, name, input } = block;
  if (type === "tool_result")
    return { role: "tool", tool_call_id: String(block.tool_use_id), content: String(block.content) };
  if (type === "tool_use") {
    const call = { id: String(id), function: { name: String(name), arguments: JSON.stringify(input) } };
    return { role, content: "", tool_calls: [call] };
  }
  if (type === "image") return { role, content: [{ type: "image_url", image_url: { url: urlOf(block) } }] };
  return { role, content: type === "text" ? String(block.text) : "" };
}

function urlOf({ source }: Block): string {
  const { type, url, media_type, data } = source as Record<string, string>;
  return type === "url" ? String(url) : `data:${media_type};base64,${data}`;
}

export type Reply = {
  thinks?: string | undefined;
  text: string;
  calls: ReadonlyArray<{ name?: string; arguments: unknown; id?: string }>;
  /** Waits before it goes on in the middle of its text. @returns true: the stream breaks off there */
  pause(): Promise<boolean>;
};

/** Plays a reply as a stream of events. */
export async function playMessages(response: ServerResponse, model: string, reply: Reply): Promise<void> {
  const usage = {
    input_tokens: 4,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 1,
    output_tokens: 1,
  };
  const message = {
    id: "msg",
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    usage,
  };
  send(response, { type: "message_start", message });
  send(response, { type: "ping" });
  let index = 0;
  const block = (content_block: object, ...deltas: object[]) => {
    send(response, { type: "content_block_start", index, content_block });
    for (const delta of deltas) send(response, { type: "content_block_delta", index, delta });
    send(response, { type: "content_block_stop", index });
    index += 1;
  };
  const thought = reply.thinks && {
    type: "thinking",
    thinking: reply.thinks,
    signature: signatureOf(reply.thinks),
  };
  if (thought)
    block(
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: thought.thinking },
      { type: "signature_delta", signature: thought.signature },
    );
  if (reply.text) {
    const half = Math.ceil(reply.text.length / 2);
    send(response, { type: "content_block_start", index, content_block: { type: "text", text: "" } });
    const say = (text: string) =>
      send(response, { type: "content_block_delta", index, delta: { type: "text_delta", text } });
    say(reply.text.slice(0, half));
    if (await reply.pause()) return void response.destroy();
    say(reply.text.slice(half));
    send(response, { type: "content_block_stop", index });
    index += 1;
  }
  for (const call of reply.calls) {
    const id = call.id ?? `toolu_${crypto.randomUUID().slice(0, 8)}`;
    if (thought) thoughts.set(`${model} ${id}`, JSON.stringify(thought));
    const json = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
    const pieces = [json.slice(0, 9), json.slice(9)].map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
    block({ type: "tool_use", id, name: call.name ?? "edge_call", input: {} }, ...pieces);
  }
  const stop_reason = reply.calls.length > 0 ? "tool_use" : "end_turn";
  send(response, {
    type: "message_delta",
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 5 },
  });
  send(response, { type: "message_stop" });
  response.end();
}

function send(response: ServerResponse, event: { type: string } & Record<string, unknown>): void {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
