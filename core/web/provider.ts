/** The interface between the search tools and search services, and the request code that all services share. */
import type { ErrorCode } from "../tools/errors.ts";
import type { WebFetch } from "./fetch-page.ts";
import { readUpTo } from "./read-up-to.ts";

export type SearchHit = {
  title: string;
  url: string;
  /** A few lines of the page. */
  text: string;
  /** When it was written, as the service says it. */
  age?: string;
};

export type SearchRange = "d" | "w" | "m" | "y";

type SearchRequest = { query: string; count: number; range?: SearchRange };

/** Searches the web. Rejects with ProviderError, or with the signal's reason. */
export type SearchProvider = (request: SearchRequest, signal: AbortSignal) => Promise<SearchHit[]>;

/** Searches the documentation of libraries and returns Markdown. `library`: a name, or the service's id. */
export type DocsProvider = (
  request: { query: string; library?: string },
  signal: AbortSignal,
) => Promise<string>;

/** Why a service gave no result. The message is for the model and holds neither a key nor text of the service. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type ServiceOptions = {
  /** The service's name in errors. */
  name: string;
  fetch: WebFetch;
  /** Tried in this order; the next one is used when a key is used up or refused, or the service fails. */
  keys: readonly string[];
  /** Makes the headers; `key` is undefined for a request without one. */
  headers: (key: string | undefined) => Record<string, string>;
};

/** Largest answer; that of a search has a few KB. */
const ANSWER_MAX_BYTES = 2 * 1024 * 1024;

/**
 * Sends a request to a service, trying one key after the other.
 * @returns the answer's text
 * @throws ProviderError, or the signal's reason
 */
export async function askService(url: URL, service: ServiceOptions, signal: AbortSignal): Promise<string> {
  const keys: Array<string | undefined> = service.keys.length > 0 ? [...service.keys] : [undefined];
  let last = new ProviderError("unavailable", `${service.name} has no key`);
  for (const key of keys) {
    const answer = await ask(url, service.headers(key), service, signal);
    if (!(answer instanceof ProviderError)) return answer;
    last = answer;
    if (answer.code === "invalid_params") break;
  }
  throw last;
}

async function ask(
  url: URL,
  headers: Record<string, string>,
  { name, fetch }: ServiceOptions,
  signal: AbortSignal,
): Promise<string | ProviderError> {
  try {
    // Redirects are not followed, because they would carry the key to another host.
    const response = await fetch(url.href, { method: "GET", headers, redirect: "manual", signal });
    if (!response.ok) {
      await response.body?.cancel().catch(() => {});
      return refusal(name, response.status);
    }
    const bytes = await readUpTo(response, ANSWER_MAX_BYTES);
    return bytes
      ? new TextDecoder().decode(bytes)
      : new ProviderError("too_large", `${name} answered with more than ${ANSWER_MAX_BYTES} bytes`);
  } catch (error) {
    signal.throwIfAborted();
    return new ProviderError("io", `${name} could not be reached`, { cause: error });
  }
}

function refusal(name: string, status: number): ProviderError {
  if (status === 401 || status === 403)
    return new ProviderError(
      "unavailable",
      `${name} refused the gateway's key (${status}); the owner has to look at it`,
    );
  if (status === 402 || status === 429)
    return new ProviderError("unavailable", `${name} has no requests left for now (${status})`);
  if (status === 400 || status === 404 || status === 422)
    return new ProviderError("invalid_params", `${name} did not take the question (${status})`);
  return new ProviderError("io", `${name} answered ${status}`);
}

/** Parses a service's JSON. @throws ProviderError when it is not JSON */
export function serviceJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProviderError("io", `${name} answered with something that is not JSON`, { cause: error });
  }
}

/** Returns the address of a path below the base. */
export function below(baseUrl: string, path: string, query: Record<string, string>): URL {
  const url = new URL(`${baseUrl.replace(/\/+$/, "")}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
