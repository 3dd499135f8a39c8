/** A client of the gateway's HTTP routes. Its errors are texts for a person that say what to do. */
import {
  type Arguments,
  addressOf,
  Client,
  NoAnswerError,
  ResponseError,
  type Route,
} from "@edgecall/client/client.ts";
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
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

/** The longest time that an answer may take. */
export type Within = { withinMs?: number };

export class Gateway {
  readonly url: string;
  readonly client: Client;

  constructor({ url, token }: Pick<Connection, "url" | "token">) {
    this.url = url;
    this.client = new Client({ url, token });
  }

  /** Checks the answer, since the gateway may be older or newer than this command. @throws GatewayError */
  async json<T, R extends Route>(
    schema: z.ZodMiniType<T>,
    route: R,
    ...[request]: Arguments<R, Within>
  ): Promise<T> {
    const read = checkJson(schema, await this.text(route, ...([request] as Arguments<R, Within>)));
    if (read.ok) return read.value;
    const address = `${this.url}${addressOf(route, request)}`;
    throw new GatewayError("foreign", `${address} answered with something else: ${read.error}`);
  }

  /** @throws GatewayError */
  async text<R extends Route>(route: R, ...[request]: Arguments<R, Within>): Promise<string> {
    const timeout = AbortSignal.timeout(request?.withinMs ?? WITHIN_MS);
    const signal = request?.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
    try {
      return await this.client.text(route, ...([{ ...request, signal }] as unknown as Arguments<R>));
    } catch (error) {
      if (signal.aborted && isTimeout(signal.reason))
        throw this.#unreachable("no answer in time: is the network up?");
      throw this.errorOf(error, addressOf(route, request));
    }
  }

  /** An error of the client, in words for a person; any other error as it is. */
  errorOf(error: unknown, address = ""): unknown {
    if (error instanceof NoAnswerError) return this.#unreachable(unreachableText(error.cause ?? error));
    return error instanceof ResponseError ? refusal(this.url, address, error) : error;
  }

  #unreachable(words: string): GatewayError {
    return new GatewayError("unreachable", `${this.url}: ${words}`);
  }
}

function refusal(url: string, address: string, { status, code, message: said }: ResponseError): GatewayError {
  const isOurs = code !== undefined;
  const message = isOurs ? said : `${url}${address}: ${status}`;
  if (status < 300) return new GatewayError("foreign", said);
  if (status === 401) {
    const todo = "run `edgecall login` again, or correct EDGECALL_TOKEN";
    return new GatewayError("unauthorized", `the gateway does not know this token: ${todo}`, code);
  }
  if (status === 403) return new GatewayError("forbidden", `${message}: use a token that may do this`, code);
  if (status < 400) {
    return new GatewayError("foreign", `${url} sends us elsewhere (${status}): is the address right?`);
  }
  if (status === 404) return new GatewayError(isOurs ? "not_found" : "foreign", message, code);
  if (status === 429) return new GatewayError("refused", `${message}: wait a minute`, code);
  return new GatewayError(status >= 500 ? "failed" : "refused", message, code);
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

function unreachableText(error: unknown): string {
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
