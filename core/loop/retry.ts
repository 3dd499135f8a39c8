/** Sorts the errors of a model endpoint by how to react to them. Pure. */

/**
 * - `now`: a passing fault (connection, 5xx, a broken stream); retry after a short pause.
 * - `later`: the endpoint asks us to wait (429, Retry-After).
 * - `never`: the same request would fail again (401, 404, 400).
 * - `cancelled`: we aborted it ourselves.
 */
export type RetryKind = "now" | "later" | "never" | "cancelled";

export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: RetryKind;
  readonly status: number | undefined;
  /** The pause that the endpoint asked for, in ms. */
  readonly retryAfterMs: number | undefined;
  /** No connection was made: the address is wrong, or nothing listens there. */
  readonly unreachable: boolean;
  /** No byte arrived within the time limit; the next attempt would take as long. */
  readonly slow: boolean;

  constructor(
    kind: RetryKind,
    message: string,
    more: {
      status?: number;
      retryAfterMs?: number;
      unreachable?: boolean;
      slow?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.unreachable = more.unreachable ?? false;
    this.slow = more.slow ?? false;
  }
}

/** Attempts at one model call before the turn fails with an error text. */
export const MAX_ATTEMPTS = 5;
/** Attempts that end without a first byte. A model that was loading may be ready the second time; a slow one never is. */
export const MAX_SLOW_ATTEMPTS = 2;
/** Longest pause within a turn, since a person is waiting. An endpoint that asks for more gets no further attempt. */
export const LONGEST_WAIT_MS = 60_000;

/**
 * @param attempts attempts so far at this model call, including the failed one
 * @returns ms to wait before the next attempt, or undefined to give up
 */
export function retryDelay(error: ModelError, attempts: number): number | undefined {
  if (error.kind === "never" || error.kind === "cancelled" || attempts >= MAX_ATTEMPTS) return undefined;
  if (error.slow && attempts >= MAX_SLOW_ATTEMPTS) return undefined;
  const backoff = error.kind === "now" ? 250 * 2 ** (attempts - 1) : 2_000 * 2 ** (attempts - 1);
  const wait = error.retryAfterMs ?? backoff;
  return wait > LONGEST_WAIT_MS ? undefined : wait;
}

const OUT_OF_MONEY = /insufficient_quota|billing_(?:hard_limit_reached|not_active)/;

/** Sorts an HTTP error of the endpoint. @param body the beginning of the error's body */
export function errorOfStatus(status: number, retryAfter: string | null, body: string): ModelError {
  const said = bodyMessage(body);
  const message = `the model endpoint answered ${status}${said ? `: ${said}` : ""}`;
  const retryAfterMs = readRetryAfter(retryAfter);
  const more = { status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  // OpenAI also answers 429 when the account has no money left, where waiting does not help. Only the code shows
  // this: the texts of passing limits mention billing too.
  if (status === 429 && OUT_OF_MONEY.test(body)) return new ModelError("never", message, { status });
  if (status === 429 || status === 529 || (status === 503 && retryAfterMs !== undefined))
    return new ModelError("later", message, more);
  if (status >= 500 || status === 408 || status === 409 || status === 425)
    return new ModelError("now", message, more);
  return new ModelError("never", message, { status });
}

/**
 * Sorts an error object that arrived with status 200, within a stream or in place of a completion. There is no agreed form:
 * some endpoints put an HTTP status in `code`, others a word in `code` or `type`.
 */
export function errorInReply(error: unknown): ModelError {
  const { code, type, status } = (typeof error === "object" && error !== null ? error : {}) as ErrorObject;
  const body = JSON.stringify({ error });
  const asStatus = [status, code].map(Number).find((n) => Number.isInteger(n) && n >= 400 && n <= 599);
  if (asStatus !== undefined) return errorOfStatus(asStatus, null, body);
  const message = `the model endpoint reported an error: ${bodyMessage(body) || body.slice(0, 300)}`;
  const name = `${code} ${type}`;
  if (OUT_OF_MONEY.test(name) || /invalid|auth|permission|not_found|context_length|content_/.test(name))
    return new ModelError("never", message);
  return new ModelError(/rate_limit|overloaded/.test(name) ? "later" : "now", message);
}

type ErrorObject = { message?: unknown; code?: unknown; type?: unknown; status?: unknown };

/** Reads Retry-After, given in seconds or as an HTTP date (RFC 9110 §10.2.3), and returns ms. */
export function readRetryAfter(value: string | null, now = Date.now()): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function bodyMessage(body: string): string {
  try {
    // Gemini's endpoint wraps it in a list; vLLM and FastAPI send it without `error` around it.
    const outer = [JSON.parse(body)].flat()[0] as ErrorObject & {
      error?: ErrorObject | string;
      detail?: unknown;
    };
    const { error } = outer;
    const message = typeof error === "string" ? error : (error?.message ?? outer.message ?? outer.detail);
    if (typeof message === "string") return message.slice(0, 300);
  } catch {
    // Not JSON: a proxy's HTML page holds nothing useful for a person.
  }
  return "";
}
