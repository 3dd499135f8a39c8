/**
 * Fetches one page of the public web. Each address is checked before a request, redirects are followed by hand, and the body
 * is read up to a limit. The request carries no cookies, credentials or referrer.
 */
import type { ErrorCode } from "../tools/errors.ts";
import { type AllowedRanges, checkUrl } from "./address.ts";
import { readUpTo } from "./read-up-to.ts";

/** The part of `fetch` that is used. It must not follow redirects when `redirect` is `manual`. */
export type WebFetch = (url: string, init: WebInit) => Promise<Response>;
export type WebInit = {
  method: "GET";
  headers: Record<string, string>;
  redirect: "manual";
  signal: AbortSignal;
};

export type FetchOptions = {
  fetch: WebFetch;
  signal: AbortSignal;
  allowed?: AllowedRanges;
  /** Largest body, after decompression. */
  maxBodyBytes?: number;
};

export type Fetched =
  | { ok: true; url: URL; status: number; contentType: string; body: Uint8Array }
  | { ok: false; code: ErrorCode; problem: string; cause?: unknown };

const MAX_REDIRECTS = 5;
export const MAX_BODY_BYTES = 10 * 1024 * 1024;
const USER_AGENT = "Mozilla/5.0 (compatible; edgecall webfetch)";
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** With these answers the page does not exist, so a retry does not help. */
const GONE = new Set([404, 410]);

/**
 * @returns the page, or an error text that continues the tool's name and never quotes the address
 * @throws the signal's reason, and no other error
 */
export async function fetchPage(text: string, options: FetchOptions): Promise<Fetched> {
  const { allowed = [], fetch, signal } = options;
  let checked = checkUrl(text, allowed);
  if (!checked.ok) return { ...checked, problem: `'url' ${checked.problem}` };
  for (let redirects = 0; ; redirects += 1) {
    const { url } = checked;
    let response: Response;
    try {
      response = await fetch(url.href, { method: "GET", headers: headers(), redirect: "manual", signal });
    } catch (error) {
      signal.throwIfAborted();
      return unreached(error);
    }
    if (!REDIRECTS.has(response.status)) return await read(url, response, options);
    await discard(response);
    const location = response.headers.get("location");
    if (!location) return failed("bad_redirect", `the site answered ${response.status} and named no address`);
    if (redirects === MAX_REDIRECTS)
      return failed("bad_redirect", `the site redirects more than ${MAX_REDIRECTS} times`);
    checked = checkUrl(location, allowed, url);
    if (!checked.ok)
      return { ...checked, problem: `the site redirects to an address that ${checked.problem}` };
    if (url.protocol === "https:" && checked.url.protocol === "http:")
      return failed(
        "bad_redirect",
        "the site redirects from https:// to http://, which anybody on the way could change",
      );
  }
}

function headers(): Record<string, string> {
  return {
    accept:
      "text/markdown, text/html, application/xhtml+xml, application/json;q=0.9, text/*;q=0.8, */*;q=0.1",
    "user-agent": USER_AGENT,
  };
}

async function read(url: URL, response: Response, options: FetchOptions): Promise<Fetched> {
  const { status } = response;
  if (status < 200 || status > 299) {
    await discard(response);
    return failed(GONE.has(status) ? "not_found" : "io", `the site answered ${status}${meaning(status)}`);
  }
  const { maxBodyBytes = MAX_BODY_BYTES, signal } = options;
  try {
    const body = await readUpTo(response, maxBodyBytes);
    if (!body) return failed("too_large", `the page has more than ${maxBodyBytes} bytes`);
    return { ok: true, url, status, contentType: response.headers.get("content-type") ?? "", body };
  } catch (error) {
    signal.throwIfAborted();
    return failed("io", "the connection broke off before the page's end", error);
  }
}

/** Cancels a body, because an unread one keeps its connection open. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

function meaning(status: number): string {
  if (status === 401 || status === 403) return ": it does not show this page to a program without an account";
  if (status === 429) return ": too many requests for now";
  return status >= 500 ? ": it has a fault of its own" : "";
}

/** The error of a device's guard, which refuses an address while connecting. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
  /** `blocked`: a public address that the owner does not allow; the message says what is allowed. */
  readonly code: "private_address" | "blocked";

  constructor(message: string, code: RefusedAddress["code"] = "private_address") {
    super(message);
    this.code = code;
  }
}

function unreached(error: unknown): Fetched {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof RefusedAddress)) continue;
    if (cause.code === "blocked") return failed("blocked", cause.message);
    return failed(
      "private_address",
      "the site's name leads to a private or special address, which is never fetched",
    );
  }
  return failed("io", "the site could not be reached", error);
}

function failed(code: ErrorCode, problem: string, cause?: unknown): Fetched {
  return { ok: false, code, problem, ...(cause !== undefined && { cause }) };
}
