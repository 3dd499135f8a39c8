/**
 * Calls a model at any OpenAI-compatible endpoint, streaming.
 *
 * From the `openai` package we take the types and the stream parser (8 KB of gzip); its client class
 * would bring 92 KB into the Worker and 7 MB into the agent for what is one POST here.
 */
import { Stream } from "openai/streaming";
import type { ToolDefinition } from "../tools/registry.ts";
import type { ChatMessage } from "./messages.ts";
import { type LooseChunk, type ModelReply, ReplyBuilder } from "./reply.ts";
import { errorOfStatus, ModelError } from "./retry.ts";

export type ModelSettings = {
  /** Up to and with `/v1`, as the OpenAI client takes it. */
  baseUrl: string;
  apiKey?: string;
  model: string;
  maxTokens: number;
  temperature: number;
  timeouts?: Partial<ModelTimeouts>;
};

export type ModelTimeouts = { firstByteMs: number; betweenBytesMs: number; totalMs: number };
export const DEFAULT_MODEL_TIMEOUTS: ModelTimeouts = {
  firstByteMs: 30_000,
  betweenBytesMs: 60_000,
  totalMs: 300_000,
};

export type ModelRequest = {
  messages: ChatMessage[];
  tools: ToolDefinition[];
  maxTokens?: number;
  signal?: AbortSignal;
  /** Text as it arrives. */
  onText?: (delta: string) => void;
};

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** @throws ModelError, and nothing else */
export async function callModel(
  settings: ModelSettings,
  request: ModelRequest,
  fetch: Fetch = (url, init) => globalThis.fetch(url, init),
): Promise<ModelReply> {
  const watch = new Watch({ ...DEFAULT_MODEL_TIMEOUTS, ...settings.timeouts }, request.signal);
  try {
    const response = await fetch(`${settings.baseUrl.replace(/\/+$/, "")}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        ...(settings.apiKey && { authorization: `Bearer ${settings.apiKey}` }),
      },
      body: JSON.stringify(requestBody(settings, request)),
      signal: watch.signal,
    });
    if (!response.ok) {
      throw errorOfStatus(
        response.status,
        response.headers.get("retry-after"),
        (await response.text()).slice(0, 2_000),
      );
    }
    const reply = await readReply(response, settings, request, watch);
    if (reply.text.trim() === "" && reply.calls.length === 0) {
      throw new ModelError("now", `the model ${reply.model} gave an empty answer`);
    }
    return reply;
  } catch (error) {
    throw watch.explain(error);
  } finally {
    watch.end();
  }
}

function requestBody(settings: ModelSettings, request: ModelRequest): Record<string, unknown> {
  return {
    model: settings.model,
    messages: request.messages,
    // Left out when empty: some endpoints refuse an empty list.
    ...(request.tools.length > 0 && { tools: request.tools }),
    max_tokens: request.maxTokens ?? settings.maxTokens,
    temperature: settings.temperature,
    stream: true,
    stream_options: { include_usage: true },
  };
}

async function readReply(
  response: Response,
  settings: ModelSettings,
  request: ModelRequest,
  watch: Watch,
): Promise<ModelReply> {
  const type = response.headers.get("content-type") ?? "";
  const builder = new ReplyBuilder();
  if (type.includes("json")) {
    const text = builder.add(wholeCompletion(await response.text()));
    if (text) request.onText?.(text);
    return builder.build(settings.model);
  }
  if (!type.includes("event-stream") || !response.body) {
    throw new ModelError(
      "never",
      `the model endpoint answered ${type || "no content type"} instead of a stream; is LLM_BASE_URL right?`,
    );
  }
  const watched = new Response(response.body.pipeThrough(watch.bytes()), { headers: response.headers });
  for await (const chunk of Stream.fromSSEResponse<LooseChunk>(watched, watch.controller)) {
    const text = builder.add(chunk);
    if (text) request.onText?.(text);
  }
  // The parser ends quietly when the connection does, and at our own abort too.
  watch.signal.throwIfAborted();
  if (!builder.finished) throw new ModelError("now", "the model's stream broke off before its end");
  return builder.build(settings.model);
}

function wholeCompletion(body: string): LooseChunk {
  try {
    return JSON.parse(body) as LooseChunk;
  } catch (cause) {
    throw new ModelError("now", "the model endpoint answered with broken JSON", { cause });
  }
}

/** Three clocks over one call, and the words for whichever stopped it. */
class Watch {
  readonly controller = new AbortController();
  readonly #betweenBytesMs: number;
  readonly #timers: { idle: ReturnType<typeof setTimeout>; total: ReturnType<typeof setTimeout> };
  readonly #outer: AbortSignal | undefined;
  readonly #onOuterAbort = () =>
    this.controller.abort(new ModelError("cancelled", "the model call was cancelled"));

  constructor(timeouts: ModelTimeouts, outer: AbortSignal | undefined) {
    this.#betweenBytesMs = timeouts.betweenBytesMs;
    this.#outer = outer;
    this.#timers = {
      idle: this.#abortAfter(timeouts.firstByteMs, "now", "sent nothing for"),
      total: this.#abortAfter(timeouts.totalMs, "never", "was not done after"),
    };
    if (outer?.aborted) this.#onOuterAbort();
    else outer?.addEventListener("abort", this.#onOuterAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Passes bytes through and starts the idle clock anew at each of them: a comment line is a sign of life. */
  bytes(): TransformStream<Uint8Array, Uint8Array> {
    return new TransformStream({
      transform: (chunk, controller) => {
        clearTimeout(this.#timers.idle);
        this.#timers.idle = this.#abortAfter(this.#betweenBytesMs, "now", "stopped sending for");
        controller.enqueue(chunk);
      },
    });
  }

  #abortAfter(ms: number, kind: "now" | "never", what: string): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      this.controller.abort(
        new ModelError(kind, `the model endpoint ${what} ${Math.round(ms / 100) / 10} s`),
      );
    }, ms);
  }

  /** An abort surfaces as whatever the runtime makes of it; our reason is the true cause. */
  explain(error: unknown): ModelError {
    if (this.signal.reason instanceof ModelError) return this.signal.reason;
    if (error instanceof ModelError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new ModelError("now", `the model endpoint could not be reached or broke off: ${message}`, {
      cause: error,
    });
  }

  end(): void {
    clearTimeout(this.#timers.idle);
    clearTimeout(this.#timers.total);
    this.#outer?.removeEventListener("abort", this.#onOuterAbort);
  }
}
