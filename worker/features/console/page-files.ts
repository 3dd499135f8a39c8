/** Serves the page's files, with headers that prevent any text of a device from running as code. */
import type { Context } from "hono";
import type { App } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";

export const PAGE_PATHS = [
  "/",
  "/console.js",
  /** A screen, or what several of them share: the build chooses the names. */
  "/:script{console-[a-z-]+-[A-Z0-9]+\\.js}",
  "/console.css",
  /** All parts of the page, in the stack of a checkout alone. */
  "/dev/parts",
  "/dev/parts.js",
  "/dev/parts.css",
  "/icon.svg",
  "/icon-180.png",
  "/icon-192.png",
  "/icon-512.png",
  "/manifest.webmanifest",
  "/sw.js",
  "/tokens",
  "/tokens.js",
  "/api",
  "/api.js",
  "/openapi.json",
] as const;

/**
 * Scripts and styles come only from our own files, never inline. Requests and pictures use only this origin. The page neither
 * contains frames nor can be framed. Trusted Types prevent text from becoming markup even if our code has a bug: the
 * one policy (page/service-worker.ts) makes nothing but the address of the service worker.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types sw",
].join("; ");

export async function servePage(c: Context<App>): Promise<Response> {
  const named = nameOfMachine(c);
  if (named !== undefined) return c.redirect(named, 302);
  if (!c.env.ASSETS) throw new HttpError(404, "not_found", "this gateway was deployed without its console");
  const file = await c.env.ASSETS.fetch(new Request(c.req.url, { headers: conditional(c) }));
  const headers = new Headers(file.headers);
  for (const [name, value] of Object.entries(SAFE)) headers.set(name, value);
  return new Response(file.body, { status: file.status, headers });
}

/** Browsers make no passkeys for an IP address. @returns the same page by the machine's name, for a person's browser on the machine itself */
function nameOfMachine(c: Context<App>): string | undefined {
  const url = new URL(c.req.url);
  const isPage = c.req.method === "GET" && (c.req.header("accept") ?? "").includes("text/html");
  if (!isPage || url.protocol !== "http:" || !/^127\.|^\[::1\]$/.test(url.hostname)) return undefined;
  url.hostname = "localhost";
  return url.href;
}

function conditional(c: Context<App>): Record<string, string> {
  const etag = c.req.header("if-none-match");
  return etag === undefined ? {} : { "if-none-match": etag };
}

const SAFE: Record<string, string> = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  // Always revalidate, so that a new version of the gateway is used at once; the files are small.
  "cache-control": "no-cache",
};
