/** The routes that openapi.json does not describe, each with its reason. `ALL` is every method, or a check before other routes. */

const OPENAI = "OpenAI's own form: its SDKs are the clients (docs/using/openai.md)";
const OAUTH = "OAuth 2.1, which describes itself by its metadata (docs/using/connect.md)";
const PAGE = "a file of the console";
const OLD = "the name before 0.3 of a route that is described";
const DEVICE = "for devices, which sign with their own keys (docs/reference/protocol.md)";
const INSTALL = "the program for devices and its installer (docs/guides/first-pi.md)";

export const LEFT_OUT: Readonly<Record<string, string>> = {
  "ALL /*": "checks before every route: headers, CORS and the token",
  "ALL /v1/console/*": "the check of the session before the console's routes",
  "GET /bridge": "a WebSocket (docs/reference/protocol.md)",
  "ALL /mcp": "MCP, which describes itself (docs/using/mcp.md)",
  "ALL /.well-known/*": "all other addresses below it: not found, without a token",
  "GET /.well-known/oauth-protected-resource": OAUTH,
  "GET /.well-known/oauth-authorization-server": OAUTH,
  "POST /oauth/register": OAUTH,
  "GET /oauth/register/:id": OAUTH,
  "GET /oauth/authorize": OAUTH,
  "POST /oauth/authorize": OAUTH,
  "POST /oauth/token": OAUTH,
  "POST /oauth/revoke": OAUTH,
  "GET /webhooks/:channel/:connection":
    "chat apps deliver here, each in its own form (docs/using/chat-apps.md)",
  "POST /webhooks/:channel/:connection":
    "chat apps deliver here, each in its own form (docs/using/chat-apps.md)",
  "POST /v1/peer/:home/:kind": "for other homes' gateways, which sign with their keys (docs/guides/lend.md)",
  "POST /v1/relay/:home/chat/completions": DEVICE,
  "GET /v1/relay/:home/key": DEVICE,
  "GET /v1/polling":
    "for the program on the gateway's own machine that fetches chat messages, with a token of its own",
  "PUT /v1/media/:id": "for devices, with the token of one upload",
  "POST /v1/chat/completions": OPENAI,
  "POST /v1/responses": OPENAI,
  "GET /v1/responses/:id": OPENAI,
  "GET /v1/responses/:id/input_items": OPENAI,
  "POST /v1/responses/:id/cancel": OPENAI,
  "DELETE /v1/responses/:id": OPENAI,
  "GET /v1/models": OPENAI,
  "GET /v1/models/:id{.+}": OPENAI,
  "ALL /v1/chat/*": OPENAI,
  "ALL /v1/responses/*": OPENAI,
  "ALL /v1/models/*": OPENAI,
  "GET /install.sh": INSTALL,
  "GET /edgecall.cjs": INSTALL,
  "GET /edgecall.json": INSTALL,
  "GET /": PAGE,
  "GET /console.js": PAGE,
  "GET /:script{console-[a-z-]+-[A-Z0-9]+\\.js}": PAGE,
  "GET /console.css": PAGE,
  "GET /dev/parts": "the parts of the console, in the stack of a checkout alone",
  "GET /dev/parts.js": "the script of that page",
  "GET /dev/parts.css": "the style of that page",
  "GET /icon.svg": PAGE,
  "GET /icon-180.png": PAGE,
  "GET /icon-192.png": PAGE,
  "GET /icon-512.png": PAGE,
  "GET /manifest.webmanifest": PAGE,
  "GET /sw.js": PAGE,
  "GET /tokens": PAGE,
  "GET /tokens.js": PAGE,
  "GET /api": "the page that shows this document",
  "GET /api.js": "the script of that page",
  "GET /openapi.json": "this document",
  "POST /v1/pairings": OLD,
  "GET /v1/pairings": OLD,
  "GET /v1/pairings/:code": OLD,
  "POST /v1/pairings/:code": OLD,
  "DELETE /v1/pairings/:code": OLD,
};
