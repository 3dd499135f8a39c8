/**
 * Converts a history in OpenAI's form to Anthropic's: results in one user message right after their calls, roles that alternate, no empty
 * text, ids of the characters that the API takes.
 */

import { isObject } from "../../protocol/is-object.ts";
import { objectIn } from "../../protocol/json-text.ts";
import type { Replay } from "../history.ts";
import { NOT_SEEN } from "../message-forms.ts";
import { type ChatMessage, NOTE_PREFIX } from "../messages.ts";
import { textOfContent } from "../reply.ts";
import {
  type AssistantBlock,
  type Message,
  PICTURE_TYPES,
  type TextBlock,
  type ThoughtBlock,
  type UserBlock,
} from "./blocks.ts";

/** @property passing what holds for this request alone: it stands behind the cache's last mark */
export type Converted = { system: string; messages: Message[]; passing: string };

/** The API refuses a history that does not begin with the person. */
const BEGINNING = `${NOTE_PREFIX}The conversation begins here.`;
const EMPTY = "(empty)";
const NO_OUTPUT = "(no output)";

/** @property from the request's address and model: thoughts go back only there (`Replay.from`) */
export type Endpoint = { from: string; seesPictures: boolean };

export function convert(messages: readonly ChatMessage[], { from, seesPictures }: Endpoint): Converted {
  const system: string[] = [];
  const passing: string[] = [];
  const history = new History();
  for (const message of messages) {
    if (message.passing) passing.push(textOfContent(message.content));
    else if (message.role === "system" || message.role === "developer")
      system.push(textOfContent(message.content));
    else if (message.role === "assistant") history.addReply(message, from);
    else if (message.role === "tool") history.addResult(message);
    else if (message.role === "user") history.add("user", userBlocks(message.content, seesPictures));
  }
  return { system: joined(system), messages: history.messages, passing: joined(passing) };
}

type Of<Role extends ChatMessage["role"]> = Extract<ChatMessage, { role: Role }>;

class History {
  readonly messages: Message[] = [];
  readonly #used = new Set<string>();
  /** The ids of the newest calls, by those of the history: some clients use an id again in each reply. */
  #ids = new Map<string, string>();

  add(role: Message["role"], content: ReadonlyArray<UserBlock | AssistantBlock>): void {
    const last = this.messages.at(-1);
    if (last?.role === role) last.content.push(...(content as never[]));
    else {
      if (!last && role === "assistant") this.add("user", [textBlock(BEGINNING)]);
      this.messages.push({ role, content: [...content] } as Message);
    }
  }

  addReply(message: Of<"assistant">, from: string): void {
    this.#ids = new Map();
    const text = textOfContent(message.content);
    const calls = (message.tool_calls ?? []).flatMap((call): AssistantBlock[] =>
      call.type === "function"
        ? [
            {
              type: "tool_use",
              id: this.#fit(call.id),
              name: call.function.name,
              input: objectIn(call.function.arguments) ?? {},
            },
          ]
        : [],
    );
    const thoughts = message.replay?.from === from ? orderOf(message.replay) : [];
    const blocks = inOrder(thoughts, text, calls);
    this.add("assistant", blocks.length > 0 ? blocks : [textBlock(EMPTY)]);
  }

  addResult({ tool_call_id, content, failed }: Of<"tool">): void {
    const id = this.#ids.get(tool_call_id);
    const text = textOfContent(content);
    // The API takes no result without its call.
    const said = text.trim() ? text : NO_OUTPUT;
    const result: UserBlock =
      id === undefined
        ? textBlock(said)
        : { type: "tool_result", tool_use_id: id, content: said, ...(failed && { is_error: true }) };
    this.add("user", [result]);
  }

  #fit(id: string): string {
    let fitting = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
    while (this.#used.has(fitting)) fitting += "_";
    this.#used.add(fitting);
    this.#ids.set(id, fitting);
    return fitting;
  }
}

/** Records the order of a reply's blocks. A text is its length, since the entry has the text; a call is its place. */
export type Order = Array<ThoughtBlock | { type: "text"; length: number } | { type: "tool_use" }>;

function orderOf({ content }: Replay): Order {
  // SAFETY: a reply of this form made it, or a device brought it back, and the API checks the thoughts.
  return Array.isArray(content) ? (content.filter(isObject) as Order) : [];
}

/** Puts thoughts back to where they were. Without their order they come first, as the API wants them. */
function inOrder(order: Order, text: string, calls: readonly AssistantBlock[]): AssistantBlock[] {
  const lengths = order.reduce((sum, part) => sum + (part.type === "text" ? part.length : 0), 0);
  const isWhole = lengths === text.length;
  const blocks: AssistantBlock[] = [];
  let at = 0;
  let call = 0;
  const addText = (until: number) => {
    const piece = text.slice(at, until);
    at = until;
    if (piece.trim()) blocks.push(textBlock(piece));
  };
  for (const part of order) {
    if (part.type === "thinking" || part.type === "redacted_thinking") blocks.push(part);
    else if (!isWhole) continue;
    else if (part.type === "text") addText(at + part.length);
    else if (call < calls.length) blocks.push(calls[call++] as AssistantBlock);
  }
  addText(text.length);
  return [...blocks, ...calls.slice(call)];
}

function userBlocks(content: Of<"user">["content"], seesPictures: boolean): UserBlock[] {
  const blocks =
    typeof content === "string"
      ? [textBlock(content)]
      : content.flatMap((part): UserBlock[] => {
          if (part.type === "text") return [textBlock(part.text)];
          if (part.type !== "image_url") return [];
          return [seesPictures ? pictureBlock(part.image_url.url) : textBlock(NOT_SEEN)];
        });
  const said = blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
  return said.length > 0 ? said : [textBlock(EMPTY)];
}

function pictureBlock(url: string): UserBlock {
  if (/^https:/i.test(url)) return { type: "image", source: { type: "url", url } };
  const [, type = "", data] = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/is.exec(url) ?? [];
  const known = type.toLowerCase().replace("image/jpg", "image/jpeg");
  const media_type = PICTURE_TYPES.find((one) => one === known);
  if (!media_type || !data)
    return textBlock(`[a picture (${type || "at an http address"}) that this model cannot see]`);
  return { type: "image", source: { type: "base64", media_type, data } };
}

export function textBlock(text: string): TextBlock {
  return { type: "text", text };
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}
