/**
 * A typed client of the gateway's HTTP API. It needs `fetch` alone, so it runs in Node, browsers and Workers. routes.ts has the
 * operations and their types, made of the gateway's own declarations (`npm run api`).
 */
import { sentEvents } from "./event-stream.ts";
import type { Routes } from "./routes.ts";

export type Route = keyof Routes;
/** The path, query, headers and body that an operation takes. */
export type RequestOf<R extends Route> = Omit<Routes[R], "answer" | "events"> & Extra;
export type AnswerOf<R extends Route> = Routes[R]["answer"];
/** Operations that answer with a stream of events. */
export type StreamRoute = { [R in Route]: Routes[R] extends { events: unknown } ? R : never }[Route];
export type EventOf<R extends StreamRoute> = Routes[R] extends { events: infer E } ? E : never;
/** The request may be left out where everything in it may. */
export type Arguments<R extends Route, More = unknown> =
  Record<never, never> extends RequestOf<R>
    ? [request?: RequestOf<R> & More]
    : [request: RequestOf<R> & More];

type Extra = {
  /** Aborts the request; its reason is thrown. */
  signal?: AbortSignal | undefined;
};

/** The gateway refused, or something else answered in its place. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
  readonly status: number;
  /** The gateway's own word, such as `offline`; undefined: the answer was not the gateway's. */
  readonly code: string | undefined;
  /** Seconds until a retry may succeed, when there were too many requests. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string | undefined, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** No answer came. The request may have arrived. `cause` has the reason. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/** A request as it was sent. @property path with its query @property body its text; empty: it has none */
export type SentRequest = { method: string; path: string; body: string };

/**
 * @property url of the gateway; empty: this page's own
 * @property token absent: the browser's session
 * @property headers of every request
 * @property confirm is asked when the gateway refuses a request; it returns headers with which the same request is sent once more, or
 *   undefined
 */
export type ClientOptions = {
  url: string;
  token?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  confirm?: (
    refused: ResponseError,
    request: SentRequest,
  ) => Promise<Readonly<Record<string, string>> | undefined>;
};

/** The gateway sends something every 15 s. After three times that, the connection is dead. */
const SILENCE_MS = 45_000;

/** The cause of a NoAnswerError whose connection was open, and dead. */
export const SILENT = new Error("the connection was silent");

/** The form that `Client` gives any operation's request. */
type AnyRequest = Extra & {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number | undefined>>;
  headers?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
};

export class Client {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #confirm: ClientOptions["confirm"];

  constructor({ url, token, headers = {}, confirm }: ClientOptions) {
    this.url = url.replace(/\/+$/, "");
    this.#confirm = confirm;
    this.#headers = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  }

  /** @returns the answer's JSON; undefined when it is empty @throws ResponseError, NoAnswerError */
  async json<R extends Route>(route: R, ...[request]: Arguments<R>): Promise<AnswerOf<R>> {
    const text = await this.text(route, ...([request] as Arguments<R>));
    return (text === "" ? undefined : this.#parsed(text, route, request)) as AnswerOf<R>;
  }

  /** @throws ResponseError, NoAnswerError */
  async text<R extends Route>(route: R, ...[request]: Arguments<R>): Promise<string> {
    const response = await this.open(route, request);
    try {
      return await response.text();
    } catch (error) {
      throw failureOf(error, request?.signal);
    }
  }

  /**
   * Yields the events of a stream to its end.
   * @throws ResponseError; NoAnswerError also when the connection is lost or has been silent for too long
   */
  async *events<R extends StreamRoute>(
    route: R,
    request: RequestOf<R>,
  ): AsyncGenerator<EventOf<R>, undefined> {
    const silent = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onSign = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(SILENT), SILENCE_MS);
    };
    onSign();
    const signal = request.signal ? AbortSignal.any([request.signal, silent.signal]) : silent.signal;
    try {
      const { body } = await this.open(route, { ...request, signal }, "text/event-stream");
      if (!body) return;
      // SAFETY: the types are made of the gateway's own; a later gateway's events are passed on.
      for await (const { event, data, id } of sentEvents(body, onSign))
        yield {
          ...(id !== undefined && { id: Number(id) }),
          event,
          data: this.#parsed(data, route, request),
        } as EventOf<R>;
    } catch (error) {
      throw failureOf(error, request.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @returns the response itself, for a download or a stream @throws ResponseError, NoAnswerError */
  async open<R extends Route>(
    route: R,
    request: RequestOf<R> | undefined,
    accept?: string,
  ): Promise<Response> {
    // SAFETY: each operation's request has a part of these fields.
    const { headers, body, signal } = (request ?? {}) as AnyRequest;
    const isText = typeof body === "string";
    const method = route.slice(0, route.indexOf(" "));
    const path = addressOf(route, request);
    const text = isText || body === undefined ? body : JSON.stringify(body);
    const send = (more: Readonly<Record<string, string>> = {}) =>
      fetch(`${this.url}${path}`, {
        method,
        headers: {
          ...this.#headers,
          ...(accept !== undefined && { accept }),
          ...(text !== undefined && { "content-type": isText ? "text/plain" : "application/json" }),
          ...textual(headers),
          ...more,
        },
        // The token is for this address alone, so redirects are not followed.
        redirect: "manual",
        ...(text !== undefined && { body: text }),
        ...(signal && { signal }),
      }).catch((error: unknown) => {
        throw failureOf(error, signal);
      });
    const response = await send();
    if (response.ok) return response;
    const refused = await errorOf(response);
    const confirmed = await this.#confirm?.(refused, { method, path, body: text ?? "" });
    if (!confirmed) throw refused;
    const second = await send(confirmed);
    if (second.ok) return second;
    throw await errorOf(second);
  }

  /** @throws ResponseError when another program than the gateway answered */
  #parsed(text: string, route: Route, request: object | undefined): unknown {
    try {
      return JSON.parse(text);
    } catch {
      const words = `${this.url}${addressOf(route, request)} answered with something else`;
      throw new ResponseError(200, undefined, words);
    }
  }
}

/** The path and query of a request. */
export function addressOf(route: Route, request: object | undefined): string {
  const { path = {}, query = {} } = (request ?? {}) as AnyRequest;
  const at = route
    .slice(route.indexOf(" ") + 1)
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  const asked = new URLSearchParams(textual(query)).toString();
  return asked === "" ? at : `${at}?${asked}`;
}

function textual(values: AnyRequest["query"] = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

/** @returns the reason of the signal, the client's own error, or NoAnswerError for any other one */
function failureOf(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof ResponseError || error instanceof NoAnswerError) return error;
  return new NoAnswerError("the gateway cannot be reached", { cause: error });
}

async function errorOf(response: Response): Promise<ResponseError> {
  const { status } = response;
  const seconds = Number(response.headers.get("retry-after") ?? "");
  const retryAfter = Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
  try {
    const { error } = (await response.json()) as { error?: { code?: string; message?: string } };
    if (error?.message) return new ResponseError(status, error.code ?? "", error.message, retryAfter);
  } catch {
    // A proxy's page, whose text does not help here.
  }
  // A browser hides the status of a redirect.
  const words = status === 0 ? "a redirect" : status;
  return new ResponseError(status, undefined, `the gateway answered with ${words}`, retryAfter);
}
