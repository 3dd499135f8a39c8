/**
 * Calls a model at any OpenAI-compatible endpoint, streaming.
 *
 * From the `openai` package we take the types and the event parser (4 KB of gzip); its client class would
 * bring 86 KB into the Worker and 7 MB into the agent for what is one POST here. Not its `Stream` either:
 * that one swallows `[DONE]`, which is how endpoints that send no `finish_reason` end a reply.
 */
import { _iterSSEMessages as eventsOf } from "openai/streaming";
import type { ToolDefinition } from "../tools/registry.ts";
import type { ChatMessage } from "./messages.ts";
import { type LooseChunk, type ModelReply, ReplyBuilder } from "./reply.ts";
import { type RequestBody, requestBody, withoutRefused } from "./request.ts";
import { errorInReply, errorOfStatus, ModelError } from "./retry.ts";

export type ModelSettings = {
  /** Up to and with `/v1`, as the OpenAI client takes it. */
  baseUrl: string;
  /** A function is asked before each call: for a key that does not last. */
  apiKey?: string | (() => string);
  model: string;
  maxTokens: number;
  temperature: number;
  timeouts?: Partial<ModelTimeouts>;
};

export type ModelTimeouts = {
  firstByteMs: number;
  betweenBytesMs: number;
  totalMs: number;
  /** The setting behind `firstByteMs`, as its owner knows it: for the words of a failure. */
  firstByteSetting?: string;
};

/** A hosted endpoint sends its first byte within seconds; more is an outage. */
export const HOSTED_FIRST_BYTE_MS = 30_000;
/** A model on a machine at home may first have to be loaded, and reads a long prompt slowly. */
export const LOCAL_FIRST_BYTE_MS = 120_000;

export const DEFAULT_MODEL_TIMEOUTS: ModelTimeouts = {
  firstByteMs: HOSTED_FIRST_BYTE_MS,
  betweenBytesMs: 60_000,
  totalMs: 300_000,
};

/** The model has to call a tool: any one, or this one. */
export type ToolChoice = "required" | { type: "function"; function: { name: string } };

export type ModelRequest = {
  messages: ChatMessage[];
  tools: ToolDefinition[];
  toolChoice?: ToolChoice | undefined;
  maxTokens?: number;
  signal?: AbortSignal;
  /** Text as it arrives. */
  onText?: (delta: string) => void;
};

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A longer reply is refused while it arrives. At most 1.5 MB of UTF-8, so that it fits the 2 MB that a row of a
 * Durable Object may have (https://developers.cloudflare.com/durable-objects/platform/limits/).
 */
export const REPLY_MAX_CHARS = 500_000;
/** Of one event, or of a completion that comes whole: its text in JSON, where a character may be six bytes. */
const PART_MAX_BYTES = 4 * 1024 * 1024;

/** As much of an error's body as is read for its words: they stand at its beginning. */
const ERROR_BODY_MAX_CHARS = 64 * 1024;

/**
 * One call; no retry (retry.ts says when another one makes sense).
 *
 * @throws ModelError, and nothing else
 */
export async function callModel(
  settings: ModelSettings,
  request: ModelRequest,
  fetch: Fetch = (url, init) => globalThis.fetch(url, init),
): Promise<ModelReply> {
  const url = `${settings.baseUrl.replace(/\/+$/, "")}/chat/completions`;
  if (!URL.canParse(url)) throw new ModelError("never", `LLM_BASE_URL is not a URL: '${settings.baseUrl}'`);
  // Here and not by fetch, whose error quotes the key.
  const given = typeof settings.apiKey === "function" ? settings.apiKey() : settings.apiKey;
  const apiKey = given?.trim() ?? "";
  if (/[^\x21-\x7e]/.test(apiKey))
    throw new ModelError("never", "LLM_API_KEY holds a blank or a character that no header can carry");
  const timeouts = { ...DEFAULT_MODEL_TIMEOUTS, ...settings.timeouts };
  const watch = new Watch(whereOf(url), timeouts, request.signal);
  try {
    const response = await post(url, apiKey, requestBody(settings, request), watch, fetch);
    const reply = await readReply(response, settings.model, request, watch);
    if (reply.text.trim() === "" && reply.calls.length === 0) throw emptyReply(reply);
    return reply;
  } catch (error) {
    throw watch.explain(error);
  } finally {
    watch.end();
  }
}

/** Host and port, for the words of a failure; what else stands in an address may be a secret. Empty: no place of the net. */
function whereOf(url: string): string {
  return /^https?:/.test(url) ? ` at ${new URL(url).host}` : "";
}

/** The bytes of a body, each a sign of life; read by hand, since a transform stream costs more than the rest. */
type Answered = { headers: Headers; bytes: AsyncIterable<Uint8Array> };

/** @throws ModelError when the endpoint answers with an error */
async function post(
  url: string,
  apiKey: string,
  wanted: RequestBody,
  watch: Watch,
  fetch: Fetch,
): Promise<Answered> {
  let body: RequestBody | undefined = wanted;
  for (;;) {
    const answered = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        ...(apiKey && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: watch.signal,
    });
    const bytes = watch.bytes(answered);
    if (answered.ok) return { headers: answered.headers, bytes };
    const said = await beginningOf(bytes);
    body = answered.status === 400 ? withoutRefused(body, said) : undefined;
    if (!body) throw errorOfStatus(answered.status, answered.headers.get("retry-after"), said);
  }
}

/** @throws ModelError when more than PART_MAX_BYTES come without a line's end: nobody would know where to stop */
async function* withBoundedLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(LINE_FEED);
    length = end === -1 ? length + chunk.length : chunk.length - end - 1;
    if (length > PART_MAX_BYTES) throw replyTooLong();
    yield chunk;
  }
}

const LINE_FEED = 0x0a;

function replyTooLong(): ModelError {
  return new ModelError(
    "never",
    `the model's reply is longer than ${REPLY_MAX_CHARS.toLocaleString("en")} characters, and none of it was kept; a lower MAX_TOKENS bounds it`,
  );
}

/** The first ERROR_BODY_MAX_CHARS of an error's body; the rest is left unread. */
async function beginningOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= ERROR_BODY_MAX_CHARS) break;
  }
  return text.slice(0, ERROR_BODY_MAX_CHARS);
}

/** @throws ModelError when it is longer than PART_MAX_BYTES */
async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let length = 0;
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > PART_MAX_BYTES) throw replyTooLong();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function readReply(
  response: Answered,
  fallbackModel: string,
  request: ModelRequest,
  watch: Watch,
): Promise<ModelReply> {
  const type = response.headers.get("content-type") ?? "";
  const builder = new ReplyBuilder();
  const take = (chunk: LooseChunk) => {
    const text = builder.add(chunk);
    if (builder.length > REPLY_MAX_CHARS) throw replyTooLong();
    if (text) request.onText?.(text);
  };
  if (type.includes("json")) {
    take(readChunk(await textOf(response.bytes)));
  } else if (type.includes("event-stream")) {
    const done = await readStream(response, watch, take, () => builder.finished);
    if (!done && !builder.finished)
      throw new ModelError("now", "the model's stream broke off before its end");
  } else {
    throw new ModelError(
      "never",
      `the model endpoint answered with ${type || "no content type"} instead of a stream; is LLM_BASE_URL right?`,
    );
  }
  return builder.build(fallbackModel);
}

/**
 * Reads the events of a stream until it says `[DONE]` or ends.
 *
 * @param finished whether the reply is whole: nothing that befalls the connection after that matters
 * @returns whether it said `[DONE]`
 */
async function readStream(
  response: Answered,
  watch: Watch,
  take: (chunk: LooseChunk) => void,
  finished: () => boolean,
): Promise<boolean> {
  try {
    // SAFETY: of a response the parser uses the body alone, and of that its async iterator.
    const body = { body: withBoundedLines(response.bytes) } as unknown as Response;
    for await (const { data, event } of eventsOf(body, watch.controller)) {
      if (data === "[DONE]") return true;
      if (data !== "") take(readChunk(data, event === "error"));
    }
  } catch (error) {
    if (!finished()) throw error;
  }
  return false;
}

/** @throws ModelError for what is not JSON, and for an error in place of a reply */
function readChunk(text: string, isError = false): LooseChunk {
  let chunk: LooseChunk & { error?: unknown };
  try {
    chunk = JSON.parse(text);
  } catch (cause) {
    throw new ModelError("now", `the model endpoint sent broken JSON: ${text.slice(0, 200)}`, { cause });
  }
  if (isError || chunk?.error) throw errorInReply(chunk?.error ?? chunk);
  return chunk;
}

function emptyReply({ model, finish }: ModelReply): ModelError {
  // A reasoning model can use up its tokens before it says anything, and would again.
  if (finish === "length")
    return new ModelError("never", `the model ${model} reached MAX_TOKENS before it said anything`);
  return new ModelError("now", `the model ${model} gave an empty answer${finish ? ` (${finish})` : ""}`);
}

/** Three clocks over one call, and the words for whichever stopped it. */
class Watch {
  readonly controller = new AbortController();
  readonly #where: string;
  readonly #betweenBytesMs: number;
  readonly #timers: { idle: ReturnType<typeof setTimeout>; total: ReturnType<typeof setTimeout> };
  readonly #outer: AbortSignal | undefined;
  #answered = false;
  /** When the last byte came (monotonic ms); 0 = none yet. */
  #heardAt = 0;
  /** The body was read to its end. */
  #wholly = false;
  readonly #onOuterAbort = () =>
    this.controller.abort(new ModelError("cancelled", "the model call was cancelled"));

  /** @param where as whereOf has it */
  constructor(where: string, timeouts: ModelTimeouts, outer: AbortSignal | undefined) {
    this.#where = where;
    this.#betweenBytesMs = timeouts.betweenBytesMs;
    this.#outer = outer;
    this.#timers = {
      idle: setTimeout(() => this.#tooSlow(timeouts), timeouts.firstByteMs),
      total: setTimeout(
        () => this.#abort("never", `was not done after ${seconds(timeouts.totalMs)}`),
        timeouts.totalMs,
      ),
    };
    if (outer?.aborted) this.#onOuterAbort();
    else outer?.addEventListener("abort", this.#onOuterAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The body's bytes; each of them starts the idle clock anew: a comment line is a sign of life. */
  async *bytes(response: Response): AsyncGenerator<Uint8Array> {
    this.#answered = true;
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      if (this.#heardAt === 0) this.#heard(this.#betweenBytesMs);
      else this.#heardAt = performance.now();
      yield part.value;
    }
    this.#wholly = true;
  }

  /** From the first byte on. The clock runs on for what is left: a timer for each chunk would cost more. */
  #heard(withinMs: number): void {
    clearTimeout(this.#timers.idle);
    this.#heardAt = performance.now();
    const look = () => {
      const left = this.#heardAt + withinMs - performance.now();
      if (left > 0) this.#timers.idle = setTimeout(look, left);
      else this.#abort("now", `stopped sending for ${seconds(withinMs)}`);
    };
    this.#timers.idle = setTimeout(look, withinMs);
  }

  #tooSlow({ firstByteMs, firstByteSetting }: ModelTimeouts): void {
    const setting = firstByteSetting ? ` (${firstByteSetting} says how long to wait)` : "";
    this.#abort("now", `sent nothing for ${seconds(firstByteMs)}${setting}`, { slow: true });
  }

  #abort(kind: "now" | "never", what: string, more: { slow?: boolean } = {}): void {
    this.controller.abort(new ModelError(kind, `the model endpoint${this.#where} ${what}`, more));
  }

  /** An abort surfaces as whatever the runtime makes of it; our reason is the true cause. */
  explain(error: unknown): ModelError {
    if (this.signal.reason instanceof ModelError) return this.signal.reason;
    if (error instanceof ModelError) return error;
    const what = this.#answered
      ? `the connection to the model${this.#where} broke off`
      : `the model${this.#where} could not be reached`;
    return new ModelError("now", `${what}: ${inWords(error)}`, {
      cause: error,
      unreachable: !this.#answered,
    });
  }

  end(): void {
    // Lets go of a body that was not read to its end.
    if (!this.#wholly) this.controller.abort();
    clearTimeout(this.#timers.idle);
    clearTimeout(this.#timers.total);
    this.#outer?.removeEventListener("abort", this.#onOuterAbort);
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

/** Node's fetch says only "fetch failed"; what happened stands in the cause, for some of them as a code alone. */
function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // workerd's words for a name that does not resolve and a port where nobody listens: "internal error; reference = …".
  if (error.message.startsWith("internal error")) return "no connection";
  const cause = error.cause as { message?: unknown; code?: unknown } | undefined;
  const more = cause?.message || cause?.code;
  return more ? `${error.message} (${more})` : error.message;
}
