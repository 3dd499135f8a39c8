/** Methods, paths, headers and encodings that no client sends, with a token and without. */
import fc from "fast-check";
import { headerText, POLLUTING, pathPart } from "../corpus.ts";
import { bearer, type HostileRequest, http, json, pathnameOf } from "../request.ts";
import { TOKENS } from "../world.ts";

const METHODS = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "PROPFIND",
  "PURGE",
  "SEARCH",
  "REPORT",
  "MKCOL",
  "LOCK",
];
const STARTS = [
  "/",
  "/v1/",
  "/v1/conversations/",
  "/v1/agents/",
  "/v1/media/",
  "/v1/models/",
  "/webhooks/",
  "/mcp/",
  "/bridge/",
  "/console.js",
  "/healthz",
  "//",
  "/v1//agents",
  "/V1/AGENTS",
  "/.env",
  "/.git/config",
  "/wp-login.php",
  "/v1/../v1/agents",
  "/object/attach?turn=x",
  "/attach",
  "/wait?call=x",
];
/** Paths that are open to everybody. */
const OPEN = /^\/(healthz|console(-\w+)?\.js|console\.css|icon\.svg)?$/;

const path = fc
  .tuple(
    fc.constantFrom(...STARTS),
    fc.option(pathPart, { nil: "" }),
    fc.option(
      pathPart.map((part) => `?${part}=${part}`),
      { nil: "" },
    ),
  )
  .map((parts) => parts.join(""));
const headers = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      "accept",
      "accept-encoding",
      "content-type",
      "content-encoding",
      "range",
      "if-none-match",
      "if-modified-since",
      "expect",
      "te",
      "via",
      "forwarded",
      "x-forwarded-for",
      "x-forwarded-host",
      "x-http-method-override",
      "x-original-url",
      "cookie",
      "referer",
      "origin",
      "access-control-request-method",
      "access-control-request-headers",
      "sec-fetch-site",
      "cf-connecting-ip",
      "cf-ray",
      "x-edgecall-bridge",
      "x-edgecall-origin",
      "upgrade-insecure-requests",
      "dnt",
      ...POLLUTING.map((name) => name.toLowerCase()),
    ),
    fc
      .stringMatching(/^[a-z][a-z0-9-]{0,30}$/)
      .filter(
        (name) =>
          !/^(connection|upgrade|transfer-encoding|content-length|host|trailer|keep-alive|proxy-.*|mf-.*|authorization)$/.test(
            name,
          ),
      ),
  ),
  headerText,
  { maxKeys: 8 },
);
/** Invalid hosts are in raw.ts. */
const host = fc.option(
  fc.constantFrom(
    "evil.example",
    "127.0.0.1:1",
    "[::1]",
    "x".repeat(300),
    "127.0.0.1@evil",
    "user:pass@host",
    "..",
    "EVIL.example.",
  ),
  { nil: undefined, freq: 8 },
);

export const routes: fc.Arbitrary<HostileRequest> = fc
  .tuple(
    fc.constantFrom(...METHODS),
    path,
    headers,
    host,
    fc.boolean(),
    fc.option(fc.constantFrom("{}", "x", "")),
  )
  .map(([method, where, more, named, known, body]) =>
    http("route", where, {
      method,
      headers: {
        ...withoutExpect(more),
        ...(known && bearer(TOKENS.guest)),
        ...(named !== undefined && { host: named }),
      },
      body: body === null || method === "GET" || method === "HEAD" ? undefined : json(body),
      may: known || OPEN.test(pathnameOf(where)) || method === "OPTIONS" ? "answered" : "refused",
    }),
  );

/** Node answers "100-continue" itself, and HTTP defines the answer to other expectations. */
function withoutExpect({ expect: _, ...rest }: Record<string, string>): Record<string, string> {
  return rest;
}
