/**
 * Reads a model's reply as real endpoints send it: with arguments as an object or as broken JSON, call ids that are missing
 * or repeated, a wrong `finish_reason`, or deltas without index.
 */
import type { Call, Usage } from "./history.ts";

export type RequestedCall = { id: string | undefined; name: string; rawArguments: string };

export type ModelReply = {
  text: string;
  calls: RequestedCall[];
  /** The model that answered, as the endpoint names it. */
  model: string;
  usage: Usage | undefined;
  finish: string | undefined;
};

/** Endpoints leave out and add fields freely, so only the nesting is certain. */
type LooseCall = {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
};
type LooseMessage = { content?: unknown; refusal?: unknown; tool_calls?: unknown };
export type LooseChunk = {
  model?: unknown;
  choices?: Array<{
    delta?: LooseMessage | null;
    message?: LooseMessage | null;
    finish_reason?: unknown;
  } | null> | null;
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
} | null;

/** Builds a reply from the chunks of a stream, or from one whole completion. */
export class ReplyBuilder {
  #text = "";
  #calls: Array<{ index: unknown; call: RequestedCall }> = [];
  #model = "";
  #usage: Usage | undefined;
  #finish: string | undefined;
  #length = 0;

  /** Characters of text, names and arguments so far. */
  get length(): number {
    return this.#length;
  }

  /** Adds a chunk and returns its text. */
  add(chunk: LooseChunk): string {
    if (typeof chunk !== "object" || chunk === null) return "";
    if (typeof chunk.model === "string" && chunk.model) this.#model = chunk.model;
    if (chunk.usage) {
      this.#usage = {
        input_tokens: count(chunk.usage.prompt_tokens),
        output_tokens: count(chunk.usage.completion_tokens),
      };
    }
    const choice = chunk.choices?.[0];
    if (!choice) return "";
    // Some endpoints send an empty one with every chunk.
    if (typeof choice.finish_reason === "string" && choice.finish_reason) this.#finish = choice.finish_reason;
    const part = choice.delta ?? choice.message;
    if (!part) return "";
    if (Array.isArray(part.tool_calls))
      for (const call of part.tool_calls as LooseCall[]) this.#addCall(call ?? {}, part === choice.delta);
    const text = textOfContent(part.content) || textOfContent(part.refusal);
    this.#text += text;
    this.#length += text.length;
    return text;
  }

  /** @param fragment true in a stream, where a delta may continue a call; in a whole message each is a call of its own */
  #addCall(delta: LooseCall, fragment: boolean): void {
    const id = typeof delta.id === "string" && delta.id ? delta.id : undefined;
    const name = typeof delta.function?.name === "string" ? delta.function.name : "";
    const args = delta.function?.arguments;
    const rawArguments = typeof args === "string" ? args : args == null ? "" : JSON.stringify(args);
    const index = delta.index ?? undefined;
    this.#length += name.length + rawArguments.length;

    const open = fragment && this.#openCall(index, { id, name, rawArguments });
    if (!open) {
      this.#calls.push({ index, call: { id, name, rawArguments } });
      return;
    }
    open.id ??= id;
    // Some endpoints repeat the whole name with every fragment; none splits it.
    if (!open.name) open.name = name;
    open.rawArguments += rawArguments;
  }

  /** Returns the call that a fragment continues, or undefined when it begins a new one. */
  #openCall(index: unknown, next: RequestedCall): RequestedCall | undefined {
    const open = index === undefined ? this.#calls.at(-1) : this.#calls.findLast((it) => it.index === index);
    return open && !beginsAnother(open.call, next, index !== undefined) ? open.call : undefined;
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  build(fallbackModel: string): ModelReply {
    return {
      text: this.#text,
      calls: this.#calls.map((entry) => entry.call).filter((call) => call.name !== ""),
      model: this.#model || fallbackModel,
      usage: this.#usage,
      finish: this.#finish,
    };
  }
}

/** Some endpoints give every call of a reply the same index or the same id, or send neither. */
function beginsAnother(open: RequestedCall, next: RequestedCall, indexed: boolean): boolean {
  if (next.id !== undefined && open.id !== undefined && next.id !== open.id) return true;
  if (next.name && open.name && next.name !== open.name) return true;
  if (next.name && next.id === undefined && !indexed) return true;
  // Complete JSON cannot continue with another object, so this is a new call.
  const bothWhole = parse(open.rawArguments) !== undefined && next.rawArguments.trimStart().startsWith("{");
  return next.name !== "" && bothWhole;
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : ""))
    .join("");
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

/**
 * Gives requested calls our own ids. The model's id is kept when it is usable (some endpoints check its form) and new to
 * the conversation: a repeated one would pair two calls with one result.
 *
 * @param used the model call ids that the conversation already has
 */
export function toCalls(requested: readonly RequestedCall[], used: ReadonlySet<string>): Call[] {
  const taken = new Set(used);
  return requested.map((request) => {
    const id = crypto.randomUUID();
    const usable =
      request.id !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(request.id) && !taken.has(request.id);
    const modelCallId = usable && request.id ? request.id : `call_${id.replaceAll("-", "")}`;
    taken.add(modelCallId);
    const { args, problem } = readArguments(request.rawArguments);
    return { id, modelCallId, name: request.name, args, ...(problem && { problem }) };
  });
}

/** Reads the arguments of a call. Unreadable ones, such as a cut-off object, become a `problem`; nothing is guessed. */
export function readArguments(raw: string): { args: Record<string, unknown>; problem?: string } {
  const text = withoutFence(raw.trim());
  if (text === "") return { args: {} };
  const value = parse(text) ?? parse(withoutTrailingCommas(text));
  // The JSON was encoded twice. The inner text is shorter, so the recursion ends.
  if (typeof value === "string") return readArguments(value);
  if (value === null) return { args: {} };
  if (typeof value === "object" && !Array.isArray(value)) return { args: value as Record<string, unknown> };
  return { args: {}, problem: `the arguments are not a JSON object: ${raw.slice(0, 200)}` };
}

/** Removes the code fence (three backticks) that models put around JSON. */
function withoutFence(text: string): string {
  if (!text.startsWith("```") || !text.endsWith("```") || text.length < 6) return text;
  const inside = text.slice(3, -3);
  return (inside.startsWith("json") ? inside.slice(4) : inside).trim();
}

/** Matches strings first, so that commas inside them stay. */
function withoutTrailingCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\[\s\S])*"?)|,(?=\s*[}\]])/g, "$1");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
