/**
 * Reads the body of a reply by its first characters: a stream of events, JSON, or a JSON value a line. Endpoints and proxies name any
 * media type, so it is not asked.
 */
import { errorDetail } from "./error-detail.ts";
import { ModelError } from "./retry.ts";
import { type ServerEvent, ServerEvents } from "./server-events.ts";

/** Most characters of one event, and of a whole completion: in its JSON a character may take six. */
const PART_MAX = 4 * 1024 * 1024;
/** Characters of a body that is no reply, for the error's words. */
const BEGINNING_CHARS = 2_000;

export class ReplyBody {
  readonly #decoder = new TextDecoder();
  readonly #events = new ServerEvents();
  #form: "unknown" | "events" | "json" = "unknown";
  /** The beginning, or all of a body in JSON. */
  #text = "";
  #hasEvents = false;

  /** A body in JSON is whole at its end, whether it says so or not. */
  get isJson(): boolean {
    return this.#form === "json";
  }

  /** Characters that are held. */
  get isTooLong(): boolean {
    return this.#text.length > PART_MAX || this.#events.length > PART_MAX;
  }

  /** @returns the events that this piece ends @throws ModelError for an HTML page */
  add(piece: Uint8Array): ServerEvent[] {
    const text = this.#decoder.decode(piece, { stream: true });
    if (this.#form !== "events") this.#text += text;
    if (this.#form === "unknown") return this.#begin();
    return this.#form === "events" ? this.#noteEvents(this.#events.add(text)) : [];
  }

  /** @returns what the end of the body ends @throws ModelError when the body is no reply */
  end(): ServerEvent[] {
    const events = this.#noteEvents(this.#events.end());
    if (!this.#hasEvents && isJson(this.#text)) this.#form = "json";
    if (this.#form === "json") return jsonEvents(this.#text);
    if (!this.#hasEvents && /[^\s]/.test(this.#text) && !/^\s*(?::|data|event|id|retry)/m.test(this.#text))
      throw notReply(this.#text);
    return events;
  }

  #begin(): ServerEvent[] {
    const first = /\S/.exec(this.#text)?.[0];
    if (first === undefined) return [];
    if (first === "<") throw notReply(this.#text);
    this.#form = first === "{" || first === "[" ? "json" : "events";
    if (this.#form === "json") return [];
    const text = this.#text;
    this.#text = text.slice(0, BEGINNING_CHARS);
    return this.#noteEvents(this.#events.add(text));
  }

  #noteEvents(events: ServerEvent[]): ServerEvent[] {
    this.#hasEvents ||= events.length > 0;
    return events;
  }
}

/** One value, a list of them, or one a line. */
function jsonEvents(text: string): ServerEvent[] {
  if (isJson(text)) {
    const value: unknown = JSON.parse(text);
    return (Array.isArray(value) ? value : [value]).map((it) => ({ event: "", data: JSON.stringify(it) }));
  }
  const lines = text.split(/\r?\n/).map((line) => line.replace(/^data:\s*/, "").trim());
  return lines.filter((line) => line !== "").map((data) => ({ event: "", data }));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function notReply(text: string): ModelError {
  const words = errorDetail(text.slice(0, BEGINNING_CHARS));
  const what = text.trimStart().startsWith("<") ? "a web page" : "plain text";
  return new ModelError(
    "never",
    `the model endpoint answered with ${what} in place of a reply${words ? `: ${words}` : ""}. Is LLM_BASE_URL right?`,
  );
}
