/**
 * Calls a model at an endpoint of any of the wires (wires.ts), streaming.
 *
 * Of the `openai` package it takes the types alone, and no other library either: of 187 cases of what real endpoints send, the
 * libraries come out right in 131 to 134, each loses some that are right here, and they cost the Worker 71 to 85 KiB
 * (docs/decisions/).
 */
import { cutText } from "../text/cut.ts";
import {
  type Habit,
  HabitsInMemory,
  habitsFor,
  habitsOfHost,
  knownHabits,
  tellsOfMissing,
} from "./habits.ts";
import { addUsage } from "./history.ts";
import type { ModelReply } from "./model-reply.ts";
import { sourceOf } from "./replay.ts";
import { ReplyBody } from "./reply-body.ts";
import type { ModelRequest, ModelSettings, ModelTimeouts, RequestBody } from "./request.ts";
import {
  errorInReply,
  errorOfStatus,
  MAX_DOUBTFUL_ATTEMPTS,
  MAX_SLIP_ATTEMPTS,
  ModelError,
} from "./retry.ts";
import type { ServerEvent } from "./server-events.ts";
import type { ReplyReader, Wire } from "./wire.ts";
import { wireOf } from "./wires.ts";
import { HeldText, WRITTEN_CALL_NOTE, writtenCall } from "./written-calls.ts";

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
/** A body ends so soon after its reply, or is broken off. */
const BODY_END_MS = 1_000;

/** Characters read of an error's body; its message stands at the beginning. */
const ERROR_BODY_MAX_CHARS = 64 * 1024;

/** Serves callers without a store of their own, as long as the program runs. */
const LEARNED = new HabitsInMemory();

/** Refusals of one request that are adapted to. */
const MAX_REFUSALS = 8;
/** Forms that are tried for the same words. */
const MAX_GUESSES = 2;

/**
 * Asks a model once. An endpoint that refuses a form of the request is asked again in the form that it takes (habits.ts), and a
 * model that writes a call as text is asked once more to make it. Other failures are for the caller to try again (retry.ts).
 * @throws ModelError, and no other error
 */
export async function callModel(
  settings: ModelSettings,
  request: ModelRequest,
  fetch: Fetch = (url, init) => globalThis.fetch(url, init),
): Promise<ModelReply> {
  const names = namesOf(request);
  const held = new HeldText(names);
  const give = (text: string) => {
    if (text) request.onText?.(text);
  };
  const onReset = () => {
    held.forget();
    request.onReset?.();
  };
  const onText = (text: string) => give(held.add(text));
  const reply = await ask(settings, { ...request, onText, onReset }, fetch);
  const written = reply.calls.length === 0 ? writtenCall(reply.text, names) : undefined;
  if (written === undefined) {
    give(held.end());
    return reply;
  }
  // What a person has seen before the call stays the beginning of the answer.
  const isSeen = writtenCall(held.given, names) !== undefined;
  if (isSeen) onReset();
  const lead = held.given.trim() === "" ? held.given : `${held.given}\n\n`;
  give(lead.slice(held.given.length));
  const again = [
    { role: "assistant" as const, content: reply.text },
    { role: "user" as const, content: WRITTEN_CALL_NOTE },
  ];
  const messages = [...request.messages, ...again];
  const resetToLead = () => {
    request.onReset?.();
    give(lead);
  };
  const second = await ask(settings, { ...request, messages, onText: give, onReset: resetToLead }, fetch);
  if (second.calls.length === 0 && writtenCall(second.text, names) !== undefined) {
    throw new ModelError(
      "never",
      `the model ${second.model} wrote the call of ${written} as text, twice, in place of making it. Nothing was run. It cannot call tools at this endpoint: choose another model, or turn on the endpoint's tool calls for it`,
    );
  }
  const usage = second.usage ? addUsage(second.usage, reply.usage) : reply.usage;
  return { ...second, text: lead + second.text, usage };
}

/** The names of the tools that may be called. */
function namesOf({ tools, toolChoice }: ModelRequest): ReadonlySet<string> {
  if (toolChoice === "none") return new Set();
  return new Set(tools.map((tool) => tool.function.name));
}

async function ask(settings: ModelSettings, request: ModelRequest, fetch: Fetch): Promise<ModelReply> {
  const wire = wireOf(settings);
  const url = addressOf(settings.baseUrl, wire.path);
  const apiKey = readKey(settings);
  const timeouts = { ...DEFAULT_MODEL_TIMEOUTS, ...settings.timeouts };
  const watch = new Watch(url, timeouts, request.signal);
  const forms = new Forms(settings, url);
  let isShown = false;
  const heard = {
    ...request,
    onText: (piece: string) => {
      isShown = true;
      request.onText?.(piece);
    },
  };
  try {
    for (;;) {
      const body = wire.body(settings, request, forms.habits);
      try {
        const bytes = await post(url, wire.headers(apiKey, url), body, watch, fetch);
        const reply = await readReply(bytes, wire.reader(namesOf(request)), settings.model, heard);
        watch.isReplied = true;
        if (reply.text.trim() === "" && reply.calls.length === 0) throw emptyReply(reply);
        forms.remember();
        return { ...reply, from: sourceOf(settings) };
      } catch (error) {
        const isRefused = !isShown && error instanceof ModelError && !watch.signal.aborted;
        const makes = (habits: ReadonlySet<Habit>) => JSON.stringify(wire.body(settings, request, habits));
        if (!isRefused || !forms.adapt(error, makes)) throw error;
      }
    }
  } catch (error) {
    throw watch.explain(error);
  } finally {
    watch.end();
  }
}

/** The forms of one request: what is known of the endpoint, and what is learned by its refusals. */
class Forms {
  readonly habits: Set<Habit>;
  readonly #settings: ModelSettings;
  /** Learned by earlier requests. */
  readonly #known: readonly Habit[];
  /** Forms that were taken up for this request, and known ones that were dropped: a router may ask another endpoint today. */
  readonly #changed: Habit[][] = [];
  readonly #tried = new Set<string>();
  #words = "";
  #guesses = 0;
  #refusals = 0;

  constructor(settings: ModelSettings, url: URL) {
    this.#settings = settings;
    this.#known = knownHabits((settings.habits ?? LEARNED).of(sourceOf(settings)));
    this.habits = new Set([...habitsOfHost(url.hostname), ...this.#known]);
  }

  /**
   * Changes the form to one that the error asks for.
   * @param makes the body in a form, to leave out one that changes nothing
   * @returns false when there is none
   */
  adapt(error: ModelError, makes: (habits: ReadonlySet<Habit>) => string): boolean {
    this.#refusals += 1;
    const isSame = error.words === this.#words;
    this.#guesses = isSame ? this.#guesses + 1 : 1;
    this.#words = error.words;
    // The form that was tried for these words did not help.
    const last = isSame ? this.#changed.pop() : undefined;
    if (last) this.#toggle(last);
    if (this.#refusals > MAX_REFUSALS || this.#guesses > MAX_GUESSES) return false;
    const now = makes(this.habits);
    for (const forms of this.#candidates(error)) {
      if (this.#tried.has(forms.join())) continue;
      this.#toggle(forms);
      if (makes(this.habits) !== now) {
        this.#tried.add(forms.join());
        this.#changed.push(forms);
        return true;
      }
      this.#toggle(forms);
    }
    return false;
  }

  /** @returns the forms to change, each group in a try of its own. Something that is missing may have been spoiled by any known form */
  #candidates(error: ModelError): Habit[][] {
    const habits = habitsFor(error, this.habits);
    const known = this.#known.filter((habit) => this.habits.has(habit));
    const spoiled = known.length > 0 && tellsOfMissing(error) ? known : [];
    const others = habits.filter((habit) => !spoiled.includes(habit)).map((habit) => [habit]);
    return spoiled.length > 0 ? [spoiled, ...others] : others;
  }

  #toggle(forms: readonly Habit[]): void {
    for (const habit of forms) if (!this.habits.delete(habit)) this.habits.add(habit);
  }

  /** The endpoint took the request. */
  remember(): void {
    if (this.#changed.length === 0) return;
    const changed = this.#changed.flat();
    const learned = changed.filter((habit) => this.habits.has(habit));
    const dropped = changed.filter((habit) => !this.habits.has(habit));
    (this.#settings.habits ?? LEARNED).learned(sourceOf(this.#settings), learned, dropped);
  }
}

/**
 * Returns the address of a request. People paste addresses with the path of a request, and Azure's have a query.
 * @throws ModelError when the base is no address
 */
function addressOf(baseUrl: string, path: Wire["path"]): URL {
  if (!URL.canParse(baseUrl)) throw new ModelError("never", `LLM_BASE_URL is not a URL: '${baseUrl}'`);
  const url = new URL(baseUrl);
  url.pathname = path(url.pathname.replace(/\/+$/, "").replace(/\/(?:chat\/completions|messages)$/, ""));
  return url;
}

/** @throws ModelError for a key that no header can carry: fetch would check this too, but its error quotes the key */
function readKey(settings: ModelSettings): string {
  const given = typeof settings.apiKey === "function" ? settings.apiKey() : settings.apiKey;
  const apiKey = given?.trim() ?? "";
  if (/[^\x21-\x7e]/.test(apiKey))
    throw new ModelError("never", "LLM_API_KEY holds a blank or a character that no header can carry");
  return apiKey;
}

/** Returns host and port for error texts; the rest of an address may be secret. Empty when it is not a network address. */
function whereOf(url: URL): string {
  return /^https?:/.test(url.protocol) ? ` at ${url.host}` : "";
}

/**
 * @returns the body, which is read chunk by chunk, because a transform stream costs more than everything else here
 * @throws ModelError when the endpoint answers with an error
 */
async function post(
  url: URL,
  headers: Record<string, string>,
  body: RequestBody,
  watch: Watch,
  fetch: Fetch,
): Promise<AsyncIterable<Uint8Array>> {
  // A whole completion begins when it is complete.
  watch.asks(body.stream !== false);
  const answered = await fetch(url.href, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      ...headers,
    },
    body: JSON.stringify(body),
    // A redirect would take the key and what is said to an address that no person set.
    redirect: "manual",
    signal: watch.signal,
  });
  const bytes = watch.bytes(answered);
  if (!answered.ok) throw errorOfStatus(answered.status, answered.headers, await beginningOf(bytes));
  return bytes;
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

/** Reads a reply, and gives its text on while it arrives. */
async function readReply(
  bytes: AsyncIterable<Uint8Array>,
  reader: ReplyReader,
  fallbackModel: string,
  request: ModelRequest,
): Promise<ModelReply> {
  const done = await readEvents(bytes, reader, request);
  if (!done && !reader.finished) throw new ModelError("now", "the model's stream broke off before its end");
  const { left, isOther } = reader.end();
  if (isOther) request.onReset?.();
  if (left) request.onText?.(left);
  const reply = reader.build(fallbackModel);
  if (reply.finish === "malformed")
    throw new ModelError("now", "the model wrote a call that its endpoint could not read", {
      maxAttempts: MAX_SLIP_ATTEMPTS,
    });
  if (reply.finish === "error")
    throw new ModelError("now", "the model's endpoint broke its reply off (finish_reason: error)", {
      maxAttempts: MAX_DOUBTFUL_ATTEMPTS,
    });
  return reply;
}

/**
 * Reads the events of a body until `[DONE]` or its end.
 * @returns whether the reply is whole without a finish_reason
 * @throws ModelError also for an event that is too long, since it would be held whole
 */
async function readEvents(
  bytes: AsyncIterable<Uint8Array>,
  reader: ReplyReader,
  request: ModelRequest,
): Promise<boolean> {
  const body = new ReplyBody();
  const addAll = (events: readonly ServerEvent[]) =>
    events.some(({ data, event }) => {
      if (data === "[DONE]") return true;
      if (data === "") return false;
      const text = reader.add(parsed(data, event), event);
      if (reader.length > REPLY_MAX_CHARS) throw replyTooLong();
      if (text) request.onText?.(text);
      return false;
    });
  try {
    for await (const piece of bytes) {
      if (addAll(body.add(piece))) return true;
      if (body.isTooLong) throw replyTooLong();
    }
    return addAll(body.end()) || body.isJson;
  } catch (error) {
    if (!reader.finished || reader.length > REPLY_MAX_CHARS) throw error;
  }
  return false;
}

/** @throws ModelError when the text is not JSON */
function parsed(text: string, event: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (event === "error") throw errorInReply(text);
    throw new ModelError("now", `the model endpoint sent broken JSON: ${cutText(text, 200)}`, {
      cause,
      maxAttempts: MAX_SLIP_ATTEMPTS,
    });
  }
}

/** A reply without a word or a call. Asking again ends the same way most often. */
function emptyReply({ model, finish, isThoughtful }: ModelReply): ModelError {
  if (finish === "length") {
    const what = isThoughtful ? "while it thought, before it said anything" : "before it said anything";
    return new ModelError("never", `the model ${model} reached MAX_TOKENS ${what}`);
  }
  if (finish === "content_filter")
    return new ModelError(
      "never",
      `the endpoint's content filter held back the answer of the model ${model}`,
    );
  const what = isThoughtful ? "thought, and gave no answer" : "gave an empty answer";
  return new ModelError("now", `the model ${model} ${what}${finish ? ` (${finish})` : ""}`, {
    maxAttempts: MAX_DOUBTFUL_ATTEMPTS,
  });
}

/** The three time limits of one call, and the error text of the one that stopped it. */
class Watch {
  readonly controller = new AbortController();
  /** The reply is read; of its body nothing else is of use. */
  isReplied = false;
  readonly #url: URL;
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
  #streams = true;
  readonly #onOuterAbort = () =>
    this.controller.abort(new ModelError("cancelled", "the model call was cancelled"));

  constructor(url: URL, timeouts: ModelTimeouts, outer: AbortSignal | undefined) {
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

  /**
   * A request is about to be sent. What was read of an answer before it counts no more.
   * @param streams false = the first byte comes with the last one
   */
  asks(streams: boolean): void {
    this.#streams = streams;
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
    const { firstByteSetting, betweenBytesMs, totalMs } = this.#timeouts;
    const firstByteMs = this.#streams ? this.#timeouts.firstByteMs : totalMs;
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
    return new ModelError("now", `${what}: ${describeError(error)}`, {
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
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // For an unknown name or a closed port workerd says only "internal error; reference = …".
  if (error.message.startsWith("internal error")) return "no connection";
  const cause = error.cause as { message?: unknown; code?: unknown } | undefined;
  const more = cause?.message || cause?.code;
  return more ? `${error.message} (${more})` : error.message;
}
