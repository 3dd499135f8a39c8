/** Judges one answer: may a stranger get it? */

import type { ErrorForm, HostileRequest, HttpRequest } from "./request.ts";
import type { Answer } from "./send.ts";

/** Close codes of an object that threw or is gone. */
const BAD_CLOSES = [1006, 1011];

/** Also matches escaped line breaks, as in JSON. */
const STACK = /\n\s+at \S+|\bat .*\.(m?js|ts):\d+/;

/** @returns what is wrong, in words, or undefined */
export function complaint(request: HostileRequest, answer: Answer): string | undefined {
  if (request.by === "raw") {
    // Only the Worker sets this header. workerd itself answers an unknown method with 501, and the local server in
    // front of Workers answers an invalid Host with 500. On Cloudflare neither request gets that far.
    const isOurs = answer.as === "response" && /^x-content-type-options:/im.test(answer.text);
    return isOurs && answer.status >= 500 ? `${answer.status}` : undefined;
  }
  if (answer.as === "dropped") return `no answer: ${answer.why}`;
  if (answer.as === "closed") {
    if (request.may === "refused") return "it was let in";
    return BAD_CLOSES.includes(answer.code) ? `closed with ${answer.code}` : undefined;
  }
  const { status, headers, text } = answer;
  const quoted = `${status} ${text.slice(0, 300)}`;
  if (status >= 500 || status < 200) return quoted;
  if (request.may === "refused" && status < 400) return `it was taken: ${quoted}`;
  if (request.by === "http" && request.exactly && !isExactly(request.exactly, status, text))
    return `not ${request.exactly.status} ${request.exactly.words ?? ""}: ${quoted}`;
  if (STACK.test(text)) return `a stack trace: ${quoted}`;
  if (headers["x-content-type-options"] !== "nosniff" || headers["referrer-policy"] === undefined)
    return `without its safe headers: ${quoted}`;
  if (request.by === "http" && status >= 400 && request.method !== "HEAD")
    return formComplaint(request, headers["content-type"], text);
  return undefined;
}

function isExactly(
  { status, words }: NonNullable<HttpRequest["exactly"]>,
  got: number,
  text: string,
): boolean {
  return got === status && (words === undefined || words.test(text));
}

function formComplaint({ form }: HttpRequest, type = "", text: string): string | undefined {
  if (form === "oauth" && type.startsWith("text/html"))
    return text.includes("Nothing was allowed") || text.includes("Sign in")
      ? undefined
      : `an error page without words: ${text}`;
  if (!type.startsWith("application/json")) return `an error as '${type}': ${text.slice(0, 300)}`;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return `an error that is no JSON: ${text.slice(0, 300)}`;
  }
  return isError(body, form) ? undefined : `an error in another form than '${form}': ${text.slice(0, 300)}`;
}

function isError(body: unknown, form: ErrorForm): boolean {
  const { jsonrpc, error } = body as { jsonrpc?: unknown; error?: Record<string, unknown> };
  if (form === "oauth" && typeof error === "string")
    return typeof (body as { error_description?: unknown }).error_description === "string";
  const { code, message, type, param, ...more } = error ?? {};
  if (typeof message !== "string" || message === "") return false;
  if (form === "openai") return typeof code === "string" && typeof type === "string";
  if (form === "mcp" && jsonrpc === "2.0") return typeof code === "number";
  return typeof code === "string" && code !== "" && Object.keys(more).length === 0;
}
