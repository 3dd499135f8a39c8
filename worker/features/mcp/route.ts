/**
 * `/mcp`: Model Context Protocol over streamable HTTP, stateless, for clients of revision 2026-07-28 and of 2024 to 2025. This route
 * checks token, Origin and size; then serve.ts reads the message.
 */

import { isTooDeep } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { EDGE_CALL } from "../../kernel/api/edge-call.ts";
import type { App } from "../../kernel/http/app.ts";
import { requireScope } from "../../kernel/http/auth.ts";
import { mayRead } from "../../kernel/http/browser-headers.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { readBytes } from "../../kernel/http/request.ts";
import { traceOf } from "../../kernel/http/trace.ts";
import { logError } from "../../kernel/log.ts";
import { issuerOf } from "../../kernel/settings/oauth.ts";
import { readSettings } from "../../kernel/settings/settings.ts";
import { INVALID_REQUEST, McpError, PARSE_ERROR, TRANSPORT_ERROR } from "./protocol.ts";
import { refusal, serve } from "./serve.ts";
import { mcpServer } from "./server.ts";
import { SEPARATOR } from "./tool-name.ts";

/** A broker has to accept a call's arguments later, and they have 64 KiB at most. */
const BODY_MAX_BYTES = 256 * 1024;

export async function serveMcp(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "ask");
  refuseStrangeOrigin(c);
  const { env } = c;
  const origin = readSettings(env).publicUrl ?? new URL(c.req.url).origin;
  if (c.req.method !== "POST")
    return refusal(new McpError(TRANSPORT_ERROR, "Method not allowed.", { status: 405 }));
  const message = await readBody(c);
  if (message instanceof McpError) return refusal(message);
  if (token.grant?.mayGrow && needsCommand(message)) throw insufficientScope(c);
  const isCall = "method" in message && message.method === "tools/call";
  const server = mcpServer({
    env,
    token,
    ...(isCall && traceOf(c)),
    origin,
    waitUntil: (work) =>
      c.executionCtx.waitUntil(work.catch((error: unknown) => logError("mcp.late_failed", error))),
  });
  return await serve(c.req.raw, message, server);
}

/** Whether a connected program needs `command` for this call. Its person could give it that. */
function needsCommand(message: object): boolean {
  const { method, params } = message as {
    method?: unknown;
    params?: { name?: unknown; arguments?: unknown };
  };
  const name = method === "tools/call" ? params?.name : undefined;
  if (typeof name !== "string") return false;
  if (name !== EDGE_CALL) return name.includes(SEPARATOR);
  // No schema has seen the arguments yet: what is no object is refused later, in words.
  const given: unknown = params?.arguments;
  const action = typeof given === "object" && given !== null && "action" in given ? given.action : undefined;
  // Models send an empty text or null for what they leave out.
  return action !== undefined && action !== null && action !== "";
}

/** Tells the client to ask its person for more (the specification's step-up). */
function insufficientScope(c: Context<App>): HttpError {
  const issuer = issuerOf(c.env, c.req.url);
  c.header(
    "www-authenticate",
    `Bearer error="insufficient_scope", scope="ask command", resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`,
  );
  return new HttpError(
    403,
    "insufficient_scope",
    "this connection may not name actions: it needs the scope 'command'",
  );
}

/**
 * Any site could make a browser call this gateway, so an Origin has to be allowed (the specification requires this check).
 * Programs send no Origin.
 */
function refuseStrangeOrigin(c: Context<App>): void {
  const origin = c.req.header("origin");
  if (origin === undefined || origin === new URL(c.req.url).origin) return;
  if (mayRead(c, origin)) return;
  throw new HttpError(
    403,
    "forbidden",
    "this origin may not call; CORS_ORIGINS and MCP_ORIGINS name those that may",
  );
}

/** @returns one message, or what is wrong with it: revision 2025-06-18 removed batches from the protocol */
async function readBody(c: Context<App>): Promise<object | McpError> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new HttpError(415, "unsupported_media_type", "expected content-type: application/json");
  const bytes = await readBytes(c, BODY_MAX_BYTES);
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return new McpError(PARSE_ERROR, "Parse error: the body is not JSON in UTF-8");
  }
  if (isTooDeep(message))
    return new McpError(INVALID_REQUEST, "Invalid Request: too many lists and objects in one another");
  if (Array.isArray(message))
    return new McpError(
      INVALID_REQUEST,
      "Invalid Request: batches are not taken; send one message a request",
    );
  if (typeof message !== "object" || message === null)
    return new McpError(INVALID_REQUEST, "Invalid Request: expected a JSON-RPC message");
  return message;
}
