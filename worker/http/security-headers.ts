/** What every answer tells a browser, unless its route says something stricter or other itself. */
import type { Context, Next } from "hono";
import type { App } from "./app.ts";

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
