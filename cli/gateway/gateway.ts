/** A client of the gateway's HTTP routes. Its errors are texts for a person that say what to do. */
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { Connection } from "./connection.ts";

/** Longer than the 25 s after which the gateway answers 202. */
const WITHIN_MS = 40_000;

export type GatewayErrorKind =
  /** No answer at all. */
  | "unreachable"
  /** Something else than a gateway answered. */
  | "foreign"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  /** Any other 4xx. */
  | "refused"
  /** 5xx. */
  | "failed";

export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly kind: GatewayErrorKind;
  /** The gateway's own code, e.g. `offline`. */
  readonly code: string | undefined;

  constructor(kind: GatewayErrorKind, message: string, code?: string) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

export type Asking = {
  method?: "GET" | "POST" | "DELETE";
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Aborts the request; its reason is thrown. */
  signal?: AbortSignal;
  withinMs?: number;
};

const ErrorBody = z.looseObject({
  error: z.looseObject({ code: z.optional(z.string()), message: z.string() }),
});

export class Gateway {
  readonly url: string;
  readonly #token: string;

  constructor({ url, token }: Pick<Connection, "url" | "token">) {
    this.url = url;
    this.#token = token;
  }

  /** @throws GatewayError */
  async json<T>(schema: z.ZodMiniType<T>, path: string, asking: Asking = {}): Promise<T> {
    const read = checkJson(schema, await this.text(path, asking));
    if (read.ok) return read.value;
    throw new GatewayError("foreign", `${this.url}${path} answered with something else: ${read.error}`);
  }

  /** @throws GatewayError */
  async text(path: string, asking: Asking = {}): Promise<string> {
    const timeout = AbortSignal.timeout(asking.withinMs ?? WITHIN_MS);
    const signal = asking.signal ? AbortSignal.any([asking.signal, timeout]) : timeout;
    const response = await this.open(path, { ...asking, signal });
    try {
      return await response.text();
    } catch (error) {
      throw this.#unreachable(error, signal);
    }
  }

  /** @returns the response itself, for a stream that only the caller's signal ends @throws GatewayError */
  async open(path: string, { method = "GET", body, headers = {}, signal }: Asking): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${this.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        // The token is for this address alone, so redirects are not followed.
        redirect: "manual",
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    } catch (error) {
      throw this.#unreachable(error, signal);
    }
    if (response.ok) return response;
    throw refusal(this.url, path, response.status, await response.text().catch(() => ""));
  }

  #unreachable(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted && !isTimeout(signal.reason)) return signal.reason;
    return new GatewayError("unreachable", `${this.url}: ${unreachableWords(error, signal)}`);
  }
}

function refusal(url: string, path: string, status: number, text: string): GatewayError {
  const body = checkJson(ErrorBody, text);
  const code = body.ok ? body.value.error.code : undefined;
  const message = body.ok ? body.value.error.message : `${url}${path}: ${status}`;
  if (status === 401) {
    const todo = "run `edgecall login` again, or correct EDGECALL_TOKEN";
    return new GatewayError("unauthorized", `the gateway does not know this token: ${todo}`, code);
  }
  if (status === 403) return new GatewayError("forbidden", `${message}: use a token that may do this`, code);
  if (status >= 300 && status < 400) {
    return new GatewayError("foreign", `${url} sends us elsewhere (${status}): is the address right?`);
  }
  if (status === 404) return new GatewayError(body.ok ? "not_found" : "foreign", message, code);
  if (status === 429) return new GatewayError("refused", `${message}: wait a minute`, code);
  return new GatewayError(status >= 500 ? "failed" : "refused", message, code);
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

function unreachableWords(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted) return "no answer in time: is the network up?";
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const reason = cause instanceof Error ? cause.message : String(cause);
  switch (code) {
    case "ECONNREFUSED":
      return "nothing listens there: is the gateway running, and is the address right?";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "no such name: is the address right, and is the network up?";
    case "ECONNRESET":
    case "UND_ERR_SOCKET":
      return "the connection broke off: try again";
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return "the host does not answer: is the network up?";
    case "ERR_SSL_WRONG_VERSION_NUMBER":
      return "it does not speak https there: is it http://?";
    default:
      return /CERT|SELF_SIGNED|ALTNAME/.test(code)
        ? `its certificate is not trusted (${code}): is the address right?`
        : `${reason || "no answer"} ${code}`.trim();
  }
}
