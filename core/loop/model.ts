/**
 * Calls a model at any OpenAI-compatible endpoint, streaming.
 *
 * Of the `openai` package it takes the types alone. Its client class would add 86 KB to the Worker and 7 MB to the agent for a
 * single POST. Its `Stream` hides `[DONE]`, which is the only end of a reply that endpoints without `finish_reason` send.
 */
import { type LooseChunk, type ModelReply, ReplyBuilder } from "./reply.ts";
import {
  type ModelRequest,
  type ModelSettings,
  type ModelTimeouts,
  type RequestBody,
  requestBody,
  withoutRefused,
} from "./request.ts";
import { errorInReply, errorOfStatus, ModelError } from "./retry.ts";
import { type ServerEvent, ServerEvents } from "./server-events.ts";

/** A hosted endpoint sends its first byte within seconds; a longer silence is an outage. */
export const HOSTED_FIRST_BYTE_MS = 30_000;
/** A model at home may have to load first, and reads a long prompt slowly. */
export const LOCAL_FIRST_BYTE_MS = 120_000;

const DEFAULT_MODEL_TIMEOUTS: ModelTimeouts = {
  firstByteMs: HOSTED_FIRST_BYTE_MS,
  betweenBytesMs: 60_000,
  totalMs: 300_000,
};

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A longer reply is refused while it arrives. This is at most 1.5 MB of UTF-8, which fits the 2 MB limit of a Durable
 * Object's row (https://developers.cloudflare.com/durable-objects/platform/limits/).
 */
const REPLY_MAX_CHARS = 500_000;
/** Most characters of one event, and bytes of a whole completion: in its JSON a character may take six. */
const PART_MAX = 4 * 1024 * 1024;

/** A body ends so soon after its reply, or is broken off. */
const BODY_END_MS = 1_000;

/** Characters read of an error's body; its message stands at the beginning. */
const ERROR_BODY_MAX_CHARS = 64 * 1024;

/**
 * Makes one call without a retry (retry.ts says when to retry).
 *
 * @throws ModelError, and no other error
 */
export async function callModel(
  settings: ModelSettings,
  request: ModelRequest,
  fetch: Fetch = (url, init) => globalThis.fetch(url, init),
): Promise<ModelReply> {
  const url = `${settings.baseUrl.replace(/\/+$/, "")}/chat/completions`;
  if (!URL.canParse(url)) throw new ModelError("never", `LLM_BASE_URL is not a URL: '${settings.baseUrl}'`);
  // fetch would check this too, but its error quotes the key.
  const given = typeof settings.apiKey === "function" ? settings.apiKey() : settings.apiKey;
  const apiKey = given?.trim() ?? "";
  if (/[^\x21-\x7e]/.test(apiKey))
    throw new ModelError("never", "LLM_API_KEY holds a blank or a character that no header can carry");
  const timeouts = { ...DEFAULT_MODEL_TIMEOUTS, ...settings.timeouts };
  const watch = new Watch(url, timeouts, request.signal);
  try {
    const response = await post(url, apiKey, requestBody(settings, request), watch, fetch);
    const reply = await readReply(response, settings.model, request);
    watch.isReplied = true;
    if (reply.text.trim() === "" && reply.calls.length === 0) throw emptyReply(reply);
    return reply;
  } catch (error) {
    throw watch.explain(error);
  } finally {
    watch.end();
  }
}

/** Returns host and port for error texts; the rest of an address may be secret. Empty when it is not a network address. */
function whereOf(url: string): string {
  return /^https?:/.test(url) ? ` at ${new URL(url).host}` : "";
}

/** An answer whose body is read chunk by chunk, because a transform stream costs more than everything else here. */
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
    watch.asks();
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

function replyTooLong(): ModelError {
  return new ModelError(
    "never",
    `the model's reply is longer than ${REPLY_MAX_CHARS.toLocaleString("en")} characters, and none of it was kept; a lower MAX_TOKENS bounds it`,
  );
}

/** Returns the first ERROR_BODY_MAX_CHARS of an error's body and leaves the rest unread. */
async function beginningOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= ERROR_BODY_MAX_CHARS) break;
  }
  return text.slice(0, ERROR_BODY_MAX_CHARS);
}

/** @throws ModelError when it is longer than PART_MAX */
async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let length = 0;
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > PART_MAX) throw replyTooLong();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function readReply(
  response: Answered,
  fallbackModel: string,
  request: ModelRequest,
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
    const done = await readStream(response, take, () => builder.finished);
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
 * Reads the events of a stream until `[DONE]` or its end.
 *
 * @param finished whether the reply is complete; errors of the connection after that are ignored
 * @returns whether `[DONE]` arrived
 * @throws ModelError also when one event is longer than PART_MAX, since it would be held whole
 */
async function readStream(
  response: Answered,
  take: (chunk: LooseChunk) => void,
  finished: () => boolean,
): Promise<boolean> {
  const events = new ServerEvents();
  const takeAll = (parsed: readonly ServerEvent[]) =>
    parsed.some(({ data, event }) => {
      if (data === "[DONE]") return true;
      if (data !== "") take(readChunk(data, event === "error"));
      return false;
    });
  try {
    for await (const piece of response.bytes) {
      if (takeAll(events.add(piece))) return true;
      if (events.length > PART_MAX) throw replyTooLong();
    }
    return takeAll(events.end());
  } catch (error) {
    if (!finished()) throw error;
  }
  return false;
}

/** @throws ModelError when the text is not JSON, or holds an error instead of a reply */
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
  // A reasoning model can use up its tokens before its first word. A retry would end the same way.
  if (finish === "length")
    return new ModelError("never", `the model ${model} reached MAX_TOKENS before it said anything`);
  return new ModelError("now", `the model ${model} gave an empty answer${finish ? ` (${finish})` : ""}`);
}

/** The three time limits of one call, and the error text of the one that stopped it. */
class Watch {
  readonly controller = new AbortController();
  /** The reply is read; of its body nothing else is of use. */
  isReplied = false;
  readonly #url: string;
  readonly #timeouts: ModelTimeouts;
  readonly #outer: AbortSignal | undefined;
  readonly #beganAt = performance.now();
  /** The time when the request was sent, or sent again without the parameter that the endpoint refused. */
  #askedAt = this.#beganAt;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #answered = false;
  /** When the last byte arrived (monotonic ms); undefined = none yet. */
  #heardAt: number | undefined;
  /** The body was read to its end. */
  #wholly = false;
  readonly #onOuterAbort = () =>
    this.controller.abort(new ModelError("cancelled", "the model call was cancelled"));

  constructor(url: string, timeouts: ModelTimeouts, outer: AbortSignal | undefined) {
    this.#url = url;
    this.#timeouts = timeouts;
    this.#outer = outer;
    this.#look();
    if (outer?.aborted) this.#onOuterAbort();
    else outer?.addEventListener("abort", this.#onOuterAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** A request is about to be sent. What was read of an answer before it counts no more. */
  asks(): void {
    this.#reader?.cancel().catch(() => {});
    this.#reader = undefined;
    this.#askedAt = performance.now();
    this.#answered = false;
    this.#heardAt = undefined;
    this.#wholly = false;
  }

  /** Yields the body's bytes. Each piece restarts the idle clock, comment lines included. */
  async *bytes(response: Response): AsyncGenerator<Uint8Array> {
    this.#answered = true;
    const reader = response.body?.getReader();
    this.#reader = reader;
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      this.#heardAt = performance.now();
      yield part.value;
    }
    this.#wholly = true;
  }

  /** One timer for all limits, set anew only when it runs: one for each piece would cost more. */
  #look(): void {
    const { firstByteMs, firstByteSetting, betweenBytesMs, totalMs } = this.#timeouts;
    const now = performance.now();
    const totalLeft = this.#beganAt + totalMs - now;
    const heardAt = this.#heardAt;
    const idleLeft = (heardAt === undefined ? this.#askedAt + firstByteMs : heardAt + betweenBytesMs) - now;
    if (totalLeft <= 0) {
      this.#abort("never", `was not done after ${seconds(totalMs)}`);
    } else if (idleLeft > 0) {
      // The first byte may arrive at any time, and its idle clock ends no sooner than this.
      this.#timer = setTimeout(() => this.#look(), Math.min(totalLeft, idleLeft, betweenBytesMs));
    } else if (heardAt === undefined) {
      const setting = firstByteSetting ? ` (${firstByteSetting} says how long to wait)` : "";
      this.#abort("now", `sent nothing for ${seconds(firstByteMs)}${setting}`, { slow: true });
    } else {
      this.#abort("now", `stopped sending for ${seconds(betweenBytesMs)}`);
    }
  }

  #abort(kind: "now" | "never", what: string, more: { slow?: boolean } = {}): void {
    this.controller.abort(new ModelError(kind, `the model endpoint${whereOf(this.#url)} ${what}`, more));
  }

  /** Runtimes report an abort in different ways, so the reason of our own signal is used. */
  explain(error: unknown): ModelError {
    if (this.signal.reason instanceof ModelError) return this.signal.reason;
    if (error instanceof ModelError) return error;
    const where = whereOf(this.#url);
    const what = this.#answered
      ? `the connection to the model${where} broke off`
      : `the model${where} could not be reached`;
    return new ModelError("now", `${what}: ${inWords(error)}`, {
      cause: error,
      unreachable: !this.#answered,
    });
  }

  /** Releases the connection: for the next call when the body ends of itself, as it does right after a reply. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#onOuterAbort);
    if (this.#wholly) return;
    if (this.isReplied) void this.#readEnd();
    else this.controller.abort();
  }

  async #readEnd(): Promise<void> {
    const timer = setTimeout(() => this.controller.abort(), BODY_END_MS);
    const part = await this.#reader?.read().catch(() => undefined);
    clearTimeout(timer);
    if (!part?.done) this.controller.abort();
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

/** Node's fetch says only "fetch failed"; the cause holds the details, sometimes only as a code. */
function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // For an unknown name or a closed port workerd says only "internal error; reference = …".
  if (error.message.startsWith("internal error")) return "no connection";
  const cause = error.cause as { message?: unknown; code?: unknown } | undefined;
  const more = cause?.message || cause?.code;
  return more ? `${error.message} (${more})` : error.message;
}
