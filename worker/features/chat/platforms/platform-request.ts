/** Requests to a platform, limited in time and size. All refusals have one form. */

import { objectIn } from "@edgecall/core/protocol/json-text.ts";
import { withTimeLimit } from "@edgecall/core/time-limit.ts";
import { readUpTo } from "@edgecall/core/web/read-up-to.ts";

/** Platforms answer in well under a second. A request that takes longer is repeated. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Enough for a picture over a slow line. */
const DOWNLOAD_TIMEOUT_MS = 20_000;
/** The longest pause, even when a platform asks for more. */
const RETRY_AFTER_MAX_MS = 3_600_000;

export type Refusal =
  /** It may work later. `afterMs`: the pause that the platform asks for. */
  | { kind: "again"; afterMs: number }
  /** The message to edit is gone, or can no longer be edited. */
  | { kind: "not_editable" }
  /** It works only after the person has written again. */
  | { kind: "unheard" }
  /** It will never work. */
  | { kind: "never" };

/** A platform refused a request, or did not answer. The message goes to the log, so it contains no token. */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  readonly refusal: Refusal;

  constructor(refusal: Refusal, message: string) {
    super(message);
    this.refusal = refusal;
  }
}

export type Reply = { status: number; headers: Headers; body: Record<string, unknown> };

/** @param what for the log @throws PlatformError when nobody answers, or the platform is overloaded */
export async function send(what: string, url: string, init: RequestInit): Promise<Reply> {
  let response: Response;
  let text: string;
  try {
    [response, text] = await withTimeLimit(REQUEST_TIMEOUT_MS, async (signal) => {
      const answer = await fetch(url, { ...init, redirect: "manual", signal });
      return [answer, await answer.text()] as const;
    });
  } catch (error) {
    // Not the error's own message: it may contain the address, and Telegram's addresses contain the token.
    const name = error instanceof Error ? error.name : "Error";
    throw new PlatformError({ kind: "again", afterMs: 0 }, `${what}: no answer (${name})`);
  }
  const { status, headers } = response;
  const body = objectIn(text) ?? {};
  if (status === 429 || status >= 500)
    throw new PlatformError({ kind: "again", afterMs: retryAfterMs(headers, body) }, `${what}: ${status}`);
  return { status, headers, body };
}

export function postJson(
  what: string,
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = "POST",
): Promise<Reply> {
  return send(what, url, {
    method,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
  });
}

/** Reads the pause from a header or from a field of the body; both are in seconds. */
function retryAfterMs(headers: Headers, body: Record<string, unknown>): number {
  const { parameters } = body;
  const inBody =
    typeof parameters === "object" && parameters !== null && "retry_after" in parameters
      ? parameters.retry_after
      : body.retry_after;
  const seconds = Math.max(Number(headers.get("retry-after") ?? 0) || 0, Number(inBody ?? 0) || 0);
  return Math.min(Math.max(0, seconds * 1_000), RETRY_AFTER_MAX_MS);
}

/**
 * Downloads a file.
 * @param options `allowed` checks the address, since the request carries the token
 * @throws PlatformError
 */
export async function download(
  what: string,
  url: string,
  options: { headers?: Record<string, string>; maxBytes: number; allowed: (url: URL) => boolean },
): Promise<{ mediaType: string; data: Uint8Array }> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !options.allowed(parsed))
    throw new PlatformError({ kind: "never" }, `${what}: not an address of this platform`);
  let response: Response;
  let data: Uint8Array | undefined;
  try {
    [response, data] = await withTimeLimit(DOWNLOAD_TIMEOUT_MS, async (signal) => {
      const { headers } = options;
      const answer = await fetch(parsed, { ...(headers && { headers }), redirect: "manual", signal });
      return [answer, answer.status === 200 ? await readUpTo(answer, options.maxBytes) : undefined] as const;
    });
    if (response.status === 200) {
      if (data) return { mediaType: mediaTypeOf(response), data };
      throw new PlatformError({ kind: "never" }, `${what}: more than ${options.maxBytes} bytes`);
    }
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw new PlatformError({ kind: "again", afterMs: 0 }, `${what}: no answer`);
  }
  const again = response.status === 429 || response.status >= 500;
  throw new PlatformError(
    again ? { kind: "again", afterMs: retryAfterMs(response.headers, {}) } : { kind: "never" },
    `${what}: ${response.status}`,
  );
}

function mediaTypeOf(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** @returns true when an address is on the origin of `base`, or on one of the platform's hosts */
export function isOn(url: URL, base: string, hosts: readonly string[]): boolean {
  if (url.origin === new URL(base).origin) return true;
  return (
    url.protocol === "https:" &&
    hosts.some((host) => url.hostname === host || (host.startsWith(".") && url.hostname.endsWith(host)))
  );
}
