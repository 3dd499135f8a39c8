/**
 * `/mcp`: Model Context Protocol over streamable HTTP, stateless, for clients of revision 2026-07-28 and of 2025.
 * The SDK checks neither token nor Origin nor the size of a message, so this route checks them first.
 */

import { isTooDeep } from "@edgecall/core/protocol/parse.ts";
import {
  createMcpHandler,
  INVALID_REQUEST,
  type McpServerFactory,
  PARSE_ERROR,
} from "@modelcontextprotocol/server";
import type { Context } from "hono";
import type { App } from "../../http/app.ts";
import { requireScope } from "../../http/auth.ts";
import { mayRead } from "../../http/browser-headers.ts";
import { HttpError } from "../../http/errors.ts";
import { readBytes } from "../../http/request.ts";
import { logError, logInfo } from "../../log.ts";
import { readSettings } from "../../settings/settings.ts";
import { mcpServer } from "./server.ts";

/** A broker has to accept a call's arguments later, and they have 64 KiB at most. */
const BODY_MAX_BYTES = 256 * 1024;

export async function serveMcp(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "ask");
  refuseStrangeOrigin(c);
  const { env } = c;
  const origin = readSettings(env).publicUrl ?? new URL(c.req.url).origin;
  const factory: McpServerFactory = ({ era }) =>
    mcpServer({
      env,
      token,
      origin,
      closeCancels: era === "modern",
      waitUntil: (work) =>
        c.executionCtx.waitUntil(work.catch((error: unknown) => logError("mcp.late_failed", error))),
    });
  // Changes are not announced: for that a Worker would have to hold a stream open.
  const handler = createMcpHandler(factory, {
    maxSubscriptions: 0,
    // The SDK's messages quote the client, so the log gets only the kind of error.
    onerror: (error) => logInfo("mcp.refused", { kind: error.name }),
  });
  if (c.req.method !== "POST") return await handler.fetch(c.req.raw);
  const message = await readMessage(c);
  return message instanceof Response ? message : await handler.fetch(c.req.raw, { parsedBody: message });
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

/** @returns one message, or the response that refuses it: revision 2025-06-18 removed batches from the protocol */
async function readMessage(c: Context<App>): Promise<object | Response> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new HttpError(415, "unsupported_media_type", "expected content-type: application/json");
  const bytes = await readBytes(c, BODY_MAX_BYTES);
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return rpcError(c, PARSE_ERROR, "Parse error: the body is not JSON in UTF-8");
  }
  if (isTooDeep(message))
    return rpcError(c, INVALID_REQUEST, "Invalid Request: too many lists and objects in one another");
  if (Array.isArray(message))
    return rpcError(c, INVALID_REQUEST, "Invalid Request: batches are not taken; send one message a request");
  if (typeof message !== "object" || message === null)
    return rpcError(c, INVALID_REQUEST, "Invalid Request: expected a JSON-RPC message");
  return message;
}

function rpcError(c: Context<App>, code: number, message: string): Response {
  return c.json({ jsonrpc: "2.0", id: null, error: { code, message } }, 400);
}
