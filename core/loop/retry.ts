/** Sorts the errors of a model endpoint by how to react to them. Pure. */

import { isObject } from "../protocol/is-object.ts";
import { cutText } from "../text/cut.ts";
import { errorDetail } from "./error-detail.ts";

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
  /** The endpoint's own words; empty = it gave none, or the error is not the endpoint's. */
  readonly words: string;
  /** Attempts after which it is not tried again; absent = MAX_ATTEMPTS. */
  readonly maxAttempts: number | undefined;
  /** Why waiting does not help: the account has no money, or the requests of the day or of some hours are used up. */
  readonly spent: "credit" | "period" | undefined;

  constructor(
    kind: RetryKind,
    message: string,
    more: {
      status?: number;
      retryAfterMs?: number;
      unreachable?: boolean;
      slow?: boolean;
      words?: string;
      maxAttempts?: number;
      spent?: "credit" | "period";
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.unreachable = more.unreachable ?? false;
    this.slow = more.slow ?? false;
    this.words = more.words ?? "";
    this.maxAttempts = more.maxAttempts;
    this.spent = more.spent;
  }
}

/** Attempts at one model call before the turn fails with an error text. */
export const MAX_ATTEMPTS = 5;
/** Attempts that end without a first byte. A model that was loading may be ready the second time; a slow one never is. */
export const MAX_SLOW_ATTEMPTS = 2;
/** Attempts at what most often fails again: an error in words that do not say that it passes, or an empty reply. */
export const MAX_DOUBTFUL_ATTEMPTS = 2;
/** Attempts at a reply that the endpoint could not read as a call: the model may write it better. */
export const MAX_SLIP_ATTEMPTS = 3;
/** Longest pause within a turn, since a person is waiting. An endpoint that asks for more gets no further attempt. */
export const LONGEST_WAIT_MS = 60_000;

/**
 * @param attempts attempts so far at this model call, including the failed one
 * @returns ms to wait before the next attempt, or undefined to give up
 */
export function retryDelay(error: ModelError, attempts: number): number | undefined {
  if (error.kind === "never" || error.kind === "cancelled") return undefined;
  if (attempts >= (error.maxAttempts ?? MAX_ATTEMPTS)) return undefined;
  if (error.slow && attempts >= MAX_SLOW_ATTEMPTS) return undefined;
  const backoff = error.kind === "now" ? 250 * 2 ** (attempts - 1) : 2_000 * 2 ** (attempts - 1);
  const wait = error.retryAfterMs ?? backoff;
  return wait > LONGEST_WAIT_MS ? undefined : wait;
}

/** llama.cpp answers so from its start until it has read the model, which takes seconds to minutes. */
const LOADS = /^loading (?:the )?model\b|model is (?:still |currently )?loading/i;
/** The codes alone: the words of passing limits mention billing too. */
const OUT_OF_MONEY = /insufficient_quota|billing_(?:hard_limit_reached|not_active)/;
const NO_MONEY_WORDS =
  /insufficient (?:balance|credit|fund)|(?:balance|credits?) (?:is |are )?(?:exhausted|insufficient|too low)/i;
/** Limits of a day or of hours, whose end is too far away to wait for. */
const LONG_PERIOD =
  /per[ _-]?day|perday|\b(?:rpd|tpd)\b|daily|usage limit|limit will reset|resets? (?:at|in \d{1,4} ?h)|(?:hourly|weekly|monthly)|\b\d{1,4} ?hours?\b/i;
/** Groq and llama.cpp refuse a reply that they cannot read as a call; Gemini ends it. */
const SLIP =
  /tool_use_failed|failed to call a function|tool call validation failed|malformed.?function.?call|(?:failed|unable|could not|cannot|error) (?:to )?(?:parse|parsing|read|decode).{0,40}(?:tool|function)/i;
const PASSES =
  /overload|temporar|unavailable|try(?:ing)? (?:again|later)|retry|time[d -]{0,3}out|capacity|busy|throttl|rate.?limit|too many|internal (?:server )?error|server had an error|upstream|connection|gateway|is (?:still )?loading|starting|not ready|warming|queue|disconnect|unexpected error/i;
const RATE = /rate.?limit|too many requests|throttl|overload|resource.?exhausted/i;
/** Words and codes of what the same request meets again. */
const FINAL =
  /invalid|authenti|authoriz|api.?key|permission|forbidden|not.?found|does not exist|no such|context|too (?:long|large)|exceed|greater than|content_|filtered|insufficient|balance|billing|unsupported|not support|required|missing/i;

/**
 * Sorts an HTTP error of the endpoint.
 * @param headers its `retry-after-ms` and `retry-after`
 * @param body the beginning of the error's body
 */
export function errorOfStatus(
  status: number,
  headers: Pick<Headers, "get"> | null,
  body: string,
): ModelError {
  const words = errorDetail(body);
  const isRedirect = status >= 300 && status < 400;
  const said = isRedirect ? "a redirect, which is not followed: set the address that it leads to" : words;
  const message = `the model endpoint answered ${status}${said ? `: ${said}` : ""}`;
  const retryAfterMs = waitOf(headers, body);
  const more = { status, words, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  if (SLIP.test(body)) return new ModelError("now", message, { ...more, maxAttempts: MAX_SLIP_ATTEMPTS });
  if (status === 402) return new ModelError("never", message, { ...more, spent: "credit" });
  if (status === 429) {
    const spent = spentBy(body, retryAfterMs);
    return spent
      ? new ModelError("never", message, { ...more, spent })
      : new ModelError("later", message, more);
  }
  if (status === 529 || (status === 503 && (retryAfterMs !== undefined || LOADS.test(words))))
    return new ModelError("later", message, more);
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    // Local servers answer 500 to what they will never take: no memory for the model, a template that fails.
    const isDoubtful = words !== "" && !PASSES.test(words);
    return new ModelError("now", message, {
      ...more,
      ...(isDoubtful && { maxAttempts: MAX_DOUBTFUL_ATTEMPTS }),
    });
  }
  return new ModelError("never", message, more);
}

/** OpenAI also answers 429 when the account has no money left, and others when the day's requests are used up. */
function spentBy(body: string, waitMs: number | undefined): "credit" | "period" | undefined {
  if (OUT_OF_MONEY.test(body) || NO_MONEY_WORDS.test(body)) return "credit";
  if (waitMs !== undefined && waitMs <= LONGEST_WAIT_MS) return undefined;
  return waitMs !== undefined || LONG_PERIOD.test(body) ? "period" : undefined;
}

/**
 * Sorts an error that arrived with status 200, within a stream or in place of a completion. There is no agreed form: some endpoints put
 * an HTTP status in `code`, others a word in `code` or `type`.
 * @param error its object; anything else counts as words
 */
export function errorInReply(error: unknown): ModelError {
  const body = JSON.stringify({ error });
  const inner = Array.isArray(error) ? error[0] : error;
  const { code, type, status, status_code } = isObject(inner) ? inner : ({} as Record<string, unknown>);
  const asStatus = [status, code, status_code]
    .map(Number)
    .find((n) => Number.isInteger(n) && n >= 400 && n <= 599);
  if (asStatus !== undefined) return errorOfStatus(asStatus, null, body);
  const words = errorDetail({ error });
  const message = `the model endpoint reported an error: ${words || cutText(body, 300)}`;
  const said = `${code} ${type} ${words}`;
  const retryAfterMs = waitOf(null, body);
  const more = { words, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  if (SLIP.test(body)) return new ModelError("now", message, { ...more, maxAttempts: MAX_SLIP_ATTEMPTS });
  if (OUT_OF_MONEY.test(said) || NO_MONEY_WORDS.test(said))
    return new ModelError("never", message, { ...more, spent: "credit" });
  if (RATE.test(said)) return new ModelError("later", message, more);
  if (FINAL.test(said)) return new ModelError("never", message, more);
  return new ModelError("now", message, {
    ...more,
    ...(!PASSES.test(said) && { maxAttempts: MAX_DOUBTFUL_ATTEMPTS }),
  });
}

/** The pause that the endpoint asks for, in ms: in its headers, in Google's RetryInfo, or in words. */
function waitOf(headers: Pick<Headers, "get"> | null, body: string): number | undefined {
  const ms = headers?.get("retry-after-ms");
  if (ms && Number(ms) >= 0) return Number(ms);
  const given = readRetryAfter(headers?.get("retry-after") ?? null);
  if (given !== undefined) return given;
  // https://cloud.google.com/apis/design/errors#retry_info
  const info = /"retryDelay"\s*:\s*\\?"([\d.]+)s/.exec(body)?.[1];
  if (info !== undefined) return Math.ceil(Number(info) * 1_000);
  const said =
    /(?:try again|retry|available again|reset\w{0,4}) (?:in|after) (?:(\d{1,6})h)? ?(?:(\d{1,6})m(?!s))? ?(?:([\d.]{1,12}) ?(ms|s\b|sec|milli))?/i.exec(
      body,
    );
  if (!said || said.slice(1, 4).every((part) => part === undefined)) return undefined;
  const [, hours = 0, minutes = 0, rest = 0, unit = "s"] = said;
  const restMs = Number(rest) * (/^m/i.test(unit) ? 1 : 1_000);
  return Math.ceil(Number(hours) * 3_600_000 + Number(minutes) * 60_000 + restMs);
}

/** Reads Retry-After, given in seconds or as an HTTP date (RFC 9110 §10.2.3), and returns ms. */
export function readRetryAfter(value: string | null, now = Date.now()): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
