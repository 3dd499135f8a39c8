/**
 * Clients put an address and a path together in ways that double a slash or end in one: `https://gateway/v1/` and `/models` give
 * `/v1//models`. The request goes on with the path that was meant, before anything looks at it: routes, scopes, origins and tokens see one
 * form. A redirect would lose the body of a POST.
 */

/** Other paths are for browsers and platforms, which write them as they are. */
const PLACES = /^\/+(?:v1|mcp|\.well-known)(?:\/|$)/;

export function tidyPath(request: Request): Request {
  const url = new URL(request.url);
  const path = url.pathname;
  if (!PLACES.test(path)) return request;
  const meant = path.replace(/\/+/g, "/").replace(/\/$/, "");
  if (meant === path) return request;
  url.pathname = meant;
  return new Request(url, request);
}
