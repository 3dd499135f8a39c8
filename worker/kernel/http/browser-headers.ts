/**
 * What a browser may do with an answer.
 *
 * Web pages of other sites may read answers only where `CORS_ORIGINS` names them. They bring a token of their own: cookies
 * are never for them (no `Access-Control-Allow-Credentials`). Only what OAuth's clients request without a token is for every
 * site (`*`): the metadata, and the routes that look at no cookie.
 */
import type { Context, Next } from "hono";
import { corsOrigins } from "../settings/limits.ts";
import { readMcpSettings } from "../settings/mcp.ts";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

const SAFE = {
  "referrer-policy": "no-referrer",
  // Only the console and a device's files are pages, and their routes set their own policy (page-files.ts, media.ts).
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  // Otherwise a page that a device made could tell its author that it is read, by names that the browser looks up.
  "x-dns-prefetch-control": "off",
  // No cache on the way stores what people and devices say.
  "cache-control": "no-store",
};
/** A year, as preload lists require. Subdomains may belong to others, so they are not included. */
const HSTS = "max-age=31536000";

export async function securityHeaders(c: Context<App>, next: Next): Promise<void> {
  await next();
  // The response of a socket cannot be changed, and no browser shows it.
  if (c.res.status === 101) return;
  // This makes a response whose headers can be changed. For each header of c.header it would make another.
  c.header("x-content-type-options", "nosniff");
  const { headers } = c.res;
  for (const [name, value] of Object.entries(SAFE)) if (!headers.has(name)) headers.set(name, value);
  // RFC 6797 §7.2 forbids this header over plain http (on one machine).
  if (c.req.url.startsWith("https:")) headers.set("strict-transport-security", HSTS);
}

/** The routes for programs. The console serves its own site alone, and chat platforms are no pages. */
const ROUTES = /^\/(v1(\/|$)|mcp$|ask$|\.well-known\/)/;
/** The routes of MCP's clients, which look for an authorization server first. */
const MCP_ROUTES = /^\/(mcp$|\.well-known\/)/;
/** Never `/oauth/authorize`, which looks at the session. */
const FOR_EVERY_SITE = /^\/(\.well-known\/oauth-|oauth\/(register|token|revoke)(\/|$))/;
const CONSOLE = /^\/v1\/console(\/|$)/;
const METHODS = "GET, POST, DELETE";
/** Headers of our clients and of MCP's and OpenAI's. Never `x-edgecall-console`: it proves that a request comes from our page. */
const HEADERS =
  /^(authorization|accept|content-type|idempotency-key|last-event-id|cache-control|if-none-match|prefer|edgecall-[a-z-]+|mcp-[a-z-]+|x-edge-[a-z-]+|x-conversation-id|x-session-id|x-stainless-[a-z-]+|openai-[a-z-]+|x-title|http-referer|x-requested-with)$/;
const EXPOSED =
  "edgecall-turn, x-edge-conversation, mcp-session-id, retry-after, www-authenticate, preference-applied, location";
/** Browsers store a preflight's answer for two hours at most. */
const PREFLIGHT_S = 7_200;
/** In characters, far more than any client sends. */
const ASKED_MAX = 2_000;

/** Answers preflights, and lets the pages of listed origins read the rest. */
export async function cors(c: Context<App>, next: Next): Promise<Response | undefined> {
  const isForAll = FOR_EVERY_SITE.test(c.req.path);
  if ((!ROUTES.test(c.req.path) && !isForAll) || CONSOLE.test(c.req.path)) {
    await next();
    return undefined;
  }
  const origin = c.req.header("origin");
  const allowed = origin !== undefined && (isForAll || mayRead(c, origin));
  const reader = allowed ? (isForAll ? "*" : origin) : undefined;
  const wanted = c.req.header("access-control-request-method");
  if (c.req.method !== "OPTIONS" || origin === undefined || wanted === undefined) {
    await next();
    if (c.res.status !== 101) mark(c, reader);
    return undefined;
  }
  mark(c, reader);
  if (!allowed)
    throw new HttpError(
      403,
      "forbidden",
      "pages of this origin may not call; CORS_ORIGINS names those that may",
    );
  c.header("vary", "Access-Control-Request-Headers", { append: true });
  c.header("access-control-allow-methods", METHODS);
  c.header(
    "access-control-allow-headers",
    allowedHeaders(c.req.header("access-control-request-headers") ?? ""),
  );
  c.header("access-control-max-age", String(PREFLIGHT_S));
  return c.body(null, 204);
}

/**
 * Sets the headers on a finished response; set earlier, they would be missing from responses that a library makes (/mcp).
 * @param origin of a page that may read the response
 */
function mark(c: Context<App>, origin: string | undefined): void {
  // A cache must not give a response with these headers to a page that may not read it, or the other way.
  c.header("vary", "Origin", { append: true });
  if (origin === undefined) return;
  c.header("access-control-allow-origin", origin);
  c.header("access-control-expose-headers", EXPOSED);
}

/** @returns true when `CORS_ORIGINS` names the page's origin, or for /mcp `MCP_ORIGINS` @throws SettingsError */
export function mayRead(c: Context<App>, origin: string): boolean {
  return (
    corsOrigins(c.env).has(origin) ||
    (MCP_ROUTES.test(c.req.path) && readMcpSettings(c.env).origins.has(origin))
  );
}

function allowedHeaders(asked: string): string {
  const names = asked.slice(0, ASKED_MAX).toLowerCase().split(",");
  return names
    .map((name) => name.trim())
    .filter((name) => HEADERS.test(name))
    .join(", ");
}
