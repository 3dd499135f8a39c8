/**
 * What a browser may do with an answer.
 *
 * Web pages of other sites may read answers only where `CORS_ORIGINS` names them. They bring a token of their own: cookies
 * are never for them (no `Access-Control-Allow-Credentials`), and no answer is for every site (`*`).
 */
import type { Context, Next } from "hono";
import { corsOrigins } from "../settings/limits.ts";
import { readMcpSettings } from "../settings/mcp.ts";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

const SAFE = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // No answer is a page but the console's and a device's, and these bring their own (page-files.ts, media.ts).
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  // A page that a device made must not tell its author, by the names it makes a browser look up, that it is read.
  "x-dns-prefetch-control": "off",
  // What people and devices say stays out of every cache on its way.
  "cache-control": "no-store",
};
/** A year, as preload lists ask for. Subdomains are not ours to decide about. */
const HSTS = "max-age=31536000";

export async function securityHeaders(c: Context<App>, next: Next): Promise<void> {
  await next();
  // A socket's answer cannot be made anew, and no browser shows it.
  if (c.res.status === 101) return;
  for (const [name, value] of Object.entries(SAFE)) if (!c.res.headers.has(name)) c.header(name, value);
  // Over plain http (this machine) it says nothing, by RFC 6797 §7.2.
  if (c.req.url.startsWith("https:")) c.header("strict-transport-security", HSTS);
}

/** The routes for programs. The console is its own site's alone, and chat platforms are no pages. */
const ROUTES = /^\/(v1(\/|$)|mcp$|ask$|\.well-known\/)/;
/** … and those of MCP's clients, which look for an authorization server first. */
const MCP_ROUTES = /^\/(mcp$|\.well-known\/)/;
const CONSOLE = /^\/v1\/console(\/|$)/;
const METHODS = "GET, POST, DELETE";
/** Ours, and those of MCP's and OpenAI's clients. Never `x-edgecall-console`: it shows that a request is our page's. */
const HEADERS =
  /^(authorization|accept|content-type|idempotency-key|last-event-id|cache-control|if-none-match|edgecall-[a-z-]+|mcp-[a-z-]+|x-edge-[a-z-]+|x-conversation-id|x-session-id|x-stainless-[a-z-]+|openai-[a-z-]+)$/;
const EXPOSED = "edgecall-turn, x-edge-conversation, mcp-session-id, retry-after, www-authenticate";
/** Browsers ask again after two hours at the latest. */
const PREFLIGHT_S = 7_200;
/** Far more than any client asks for. */
const ASKED_MAX = 2_000;

/** Answers preflights, and lets the pages of listed origins read the rest. */
export async function cors(c: Context<App>, next: Next): Promise<Response | undefined> {
  if (!ROUTES.test(c.req.path) || CONSOLE.test(c.req.path)) {
    await next();
    return undefined;
  }
  const origin = c.req.header("origin");
  const allowed = origin !== undefined && mayRead(c, origin);
  const wanted = c.req.header("access-control-request-method");
  if (c.req.method !== "OPTIONS" || origin === undefined || wanted === undefined) {
    await next();
    if (c.res.status !== 101) mark(c, allowed ? origin : undefined);
    return undefined;
  }
  mark(c, allowed ? origin : undefined);
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
 * Headers of an answer that is made: before that they would miss the responses that a library makes (/mcp).
 * @param origin of a page that may read it
 */
function mark(c: Context<App>, origin: string | undefined): void {
  // An answer without these headers must not be taken from a cache for a page that gets them, or the other way.
  c.header("vary", "Origin", { append: true });
  if (origin === undefined) return;
  c.header("access-control-allow-origin", origin);
  c.header("access-control-expose-headers", EXPOSED);
}

/** Whether a page of this origin may: by `CORS_ORIGINS`, at /mcp by `MCP_ORIGINS`, too. @throws SettingsError */
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
