/** Reads a reply of Anthropic's Messages API: the events of a stream (https://platform.claude.com/docs/en/build-with-claude/streaming), or a whole message. */
import { isObject } from "../../protocol/is-object.ts";
import { CallPieces } from "../call-pieces.ts";
import type { Usage } from "../history.ts";
import type { ModelReply } from "../model-reply.ts";
import { REPLAY_MAX_CHARS } from "../replay.ts";
import { toFinish } from "../reply.ts";
import { errorInReply } from "../retry.ts";
import { ShownText } from "../shown-text.ts";
import type { ReplyReader } from "../wire.ts";
import type { ThoughtBlock } from "./blocks.ts";
import type { Order } from "./messages.ts";

/** Endpoints leave out and add fields freely, so only the nesting is certain. */
type Loose = Record<string, unknown> | null | undefined;
type LooseEvent = {
  type?: unknown;
  index?: unknown;
  message?: Loose;
  content_block?: Loose;
  delta?: Loose;
  usage?: Loose;
  error?: unknown;
} & Record<string, unknown>;

/** A block as far as it has arrived. `input` of a call is its JSON. */
type Block =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string | undefined; name: string; input: string; whole: unknown }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string };

export class MessageReader implements ReplyReader {
  readonly #names: ReadonlySet<string>;
  readonly #shown = new ShownText();
  readonly #blocks: Array<{ index: unknown; block: Block }> = [];
  #model = "";
  #stop: string | undefined;
  #isStopped = false;
  #tokens: Record<string, number> | undefined;
  #length = 0;
  #thoughts = 0;

  /** @param names of the tools that the request offers */
  constructor(names: ReadonlySet<string> = new Set()) {
    this.#names = names;
  }

  /** Without thoughts, which are bounded apart. */
  get length(): number {
    return this.#length;
  }

  get finished(): boolean {
    return this.#stop !== undefined || this.#isStopped;
  }

  /** Adds an event or a whole message and returns its text. @throws ModelError for an event that tells an error */
  add(value: unknown, name = ""): string {
    if (!isObject(value)) return "";
    const event = value as LooseEvent;
    if (event.type === "error" || name === "error" || event.error) throw errorInReply(event.error ?? event);
    if (event.type === "message") return this.#addMessage(event);
    if (event.type === "message_start") return this.#addMessage(event.message);
    if (event.type === "content_block_start") return this.#begin(event.content_block, event.index);
    if (event.type === "content_block_delta") return this.#continue(event.delta, event.index);
    if (event.type === "message_stop") this.#isStopped = true;
    if (event.type === "message_delta") {
      this.#end(event.delta?.stop_reason);
      this.#count(event.usage);
    }
    return "";
  }

  #addMessage(message: Loose): string {
    if (typeof message?.model === "string" && message.model) this.#model = message.model;
    this.#count(message?.usage as Loose);
    this.#end(message?.stop_reason);
    const content = Array.isArray(message?.content) ? (message.content as Loose[]) : [];
    return content.map((block, at) => this.#begin(block, at)).join("");
  }

  #end(reason: unknown): void {
    if (typeof reason === "string" && reason) this.#stop = reason;
  }

  /** The counts of an event hold for the whole reply; a count that it leaves out stays. */
  #count(usage: Loose): void {
    for (const [name, value] of Object.entries(usage ?? {}))
      if (typeof value === "number" && Number.isFinite(value) && value >= 0)
        this.#tokens = { ...this.#tokens, [name]: Math.round(value) };
  }

  #begin(block: Loose, index: unknown): string {
    if (block?.type === "text") {
      this.#blocks.push({ index, block: { type: "text", text: "" } });
      return this.#addText(textOf(block.text), index);
    }
    if (block?.type === "tool_use") {
      const { id, input } = block;
      const isWhole = isObject(input) && Object.keys(input).length > 0;
      const name = textOf(block.name);
      this.#length += name.length + (isWhole ? JSON.stringify(input).length : 0);
      const call: Block = {
        type: "tool_use",
        id: typeof id === "string" && id ? id : undefined,
        name,
        input: "",
        whole: isWhole ? input : undefined,
      };
      this.#blocks.push({ index, block: call });
    }
    if (block?.type === "thinking") {
      this.#blocks.push({ index, block: { type: "thinking", thinking: "", signature: "" } });
      this.#addThought(textOf(block.thinking), textOf(block.signature), index);
    }
    if (block?.type === "redacted_thinking") {
      const data = textOf(block.data);
      this.#thoughts += data.length;
      this.#blocks.push({ index, block: { type: "redacted_thinking", data } });
    }
    return "";
  }

  #continue(delta: Loose, index: unknown): string {
    if (delta?.type === "text_delta") return this.#addText(textOf(delta.text), index);
    if (delta?.type === "thinking_delta") this.#addThought(textOf(delta.thinking), "", index);
    if (delta?.type === "signature_delta") this.#addThought("", textOf(delta.signature), index);
    if (delta?.type === "input_json_delta") {
      const call = this.#block(index, "tool_use");
      const piece = textOf(delta.partial_json);
      this.#length += piece.length;
      if (call) call.input += piece;
    }
    return "";
  }

  #addText(text: string, index: unknown): string {
    let block = this.#block(index, "text");
    if (!block) {
      block = { type: "text", text: "" };
      this.#blocks.push({ index, block });
    }
    block.text += text;
    this.#length += text.length;
    return this.#shown.add(text);
  }

  #addThought(thinking: string, signature: string, index: unknown): void {
    this.#thoughts += thinking.length + signature.length;
    const block = this.#block(index, "thinking");
    // Beyond the bound none of them goes back, so no more are kept.
    if (!block || this.#thoughts > REPLAY_MAX_CHARS) return;
    block.thinking += thinking;
    block.signature += signature;
  }

  #block<T extends Block["type"]>(index: unknown, type: T): Extract<Block, { type: T }> | undefined {
    const found = this.#blocks.findLast((one) => one.index === index && one.block.type === type);
    return found?.block as Extract<Block, { type: T }> | undefined;
  }

  end(): { left: string; isOther: boolean } {
    return this.#shown.end();
  }

  build(fallbackModel: string): ModelReply {
    const finish = this.#stop === undefined ? undefined : toFinish(this.#stop);
    const calls = new CallPieces(this.#names);
    for (const { block } of this.#blocks)
      if (block.type === "tool_use") {
        const { id, name, input, whole } = block;
        calls.add({ id, function: { name, arguments: input || whole } }, false);
      }
    const content = this.#order();
    return {
      text: this.#shown.end().text,
      calls: calls.build(finish === "length"),
      model: this.#model || fallbackModel,
      usage: usageOf(this.#tokens),
      finish,
      ...(content && { replay: { content } }),
      ...(this.#thoughts > 0 && { isThoughtful: true }),
    };
  }

  /** @returns the blocks for the replay; undefined when there is no thought, or too much of them */
  #order(): Order | undefined {
    const order = this.#blocks.flatMap(({ block }): Order => {
      if (block.type === "text") return block.text ? [{ type: "text", length: block.text.length }] : [];
      if (block.type === "tool_use") return block.name ? [{ type: "tool_use" }] : [];
      return isSigned(block) ? [block] : [];
    });
    const hasThoughts = order.some(({ type }) => type === "thinking" || type === "redacted_thinking");
    return hasThoughts && this.#thoughts <= REPLAY_MAX_CHARS ? order : undefined;
  }
}

/** A thought without its signature would be refused. */
function isSigned(block: ThoughtBlock): boolean {
  return block.type === "thinking" ? block.signature !== "" : block.data !== "";
}

/** Tokens that were read from the cache or written to it are input too. */
function usageOf(tokens: Record<string, number> | undefined): Usage | undefined {
  if (!tokens) return undefined;
  const { input_tokens = 0, cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = tokens;
  return {
    input_tokens: input_tokens + cache_read_input_tokens + cache_creation_input_tokens,
    output_tokens: tokens.output_tokens ?? 0,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
