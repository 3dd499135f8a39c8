/** Serves one message of a client with a server's tools. Nothing is held afterwards: there are no sessions. */
import { MCP_GATEWAY_KEY } from "@edgecall/core/protocol/names.ts";
import { check, type z } from "@edgecall/core/protocol/parse.ts";
import { logInfo } from "../../kernel/log.ts";
import { type AnswerForm, answerForm } from "./accept.ts";
import {
  CallParams,
  type CallToolResult,
  CAPABILITIES as CLIENT_CAPABILITIES,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  InitializeParams,
  ListParams,
  McpError,
  type McpRequest,
  type McpTool,
  METHOD_NOT_FOUND,
  MODERN_REVISION,
  OLD_REVISIONS,
  ReadParams,
  type RequestId,
  type ResourceContents,
  type ResourcePage,
  readMessage,
  SERVER,
} from "./protocol.ts";
import { type Exchange, errorOf, respond } from "./stream.ts";

export type McpServer = {
  info: { name: string; title: string; version: string };
  instructions: string;
  /** The public key of the home; absent: it is not told. */
  homeKey?(): Promise<string>;
  /** A client may use its list of tools for so long. */
  listTtlMs: number;
  list(): Promise<McpTool[]>;
  /** The resources that the caller may see. @throws McpError for a wrong cursor */
  resources(cursor: string | undefined): Promise<ResourcePage>;
  /** @throws McpError when there is no such resource */
  read(uri: string): Promise<ResourceContents>;
  /** @throws McpError when there is no such tool */
  call(name: string, args: Record<string, unknown>, context: CallContext): Promise<CallToolResult>;
};

export type CallContext = {
  headers: Headers;
  /** The client has left. */
  signal: AbortSignal;
  /** Closing the response cancels the call (since revision 2026-07-28). */
  closeCancels: boolean;
  /** Absent when the client wants no progress. */
  progress?: (text: string) => void;
  /** The client can show its person an address. */
  showsUrl: boolean;
  /** The call is sent again after the person was asked. */
  again?: { state: string; responses: Readonly<Record<string, unknown>> | undefined };
};

const METHODS = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
];
const OLD_METHODS = ["initialize", "ping", ...METHODS];
const MODERN_METHODS = ["server/discover", "subscriptions/listen", ...METHODS];
/** There are no prompts, so they are not announced. Clients that list them anyway take an error for a broken server. */
const CAPABILITIES = { tools: {}, resources: {} };
/** A stored file never changes. */
const FILE_TTL_MS = 3_600_000;

/** @param message the body of a POST */
export async function serve(http: Request, message: object, server: McpServer): Promise<Response> {
  let request: McpRequest | undefined;
  let form: AnswerForm = "json";
  try {
    request = readMessage(message, http.headers);
    // The answer to a notification has no body.
    if (request) form = answerForm(http.headers.get("accept"), request.modern);
    // In old revisions the stream has begun before a method is looked up.
    if (request?.modern && !MODERN_METHODS.includes(request.method)) throw unknownMethod(404);
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return refusal(error, idOf(message));
  }
  if (!request) return new Response(null, { status: 202 });
  const asked = request;
  return await respond(asked, form, http.signal, async (exchange) => {
    const result = await resultOf(asked, http.headers, server, exchange);
    if (!asked.modern) return result;
    return { resultType: "complete", ...result, _meta: { ...result._meta, [SERVER]: server.info } };
  });
}

/** A message is refused before its method runs. */
export function refusal(error: McpError, id: RequestId | null = null): Response {
  // The message quotes the client, so it is not logged.
  logInfo("mcp.refused", { code: error.code });
  return Response.json(
    { jsonrpc: "2.0", error: errorOf(error), id },
    { status: error.status, ...(error.status === 405 && { headers: { allow: "POST" } }) },
  );
}

function unknownMethod(status: number): McpError {
  return new McpError(METHOD_NOT_FOUND, "Method not found", { status });
}

function idOf(message: object): RequestId | null {
  // SAFETY: both are looked at before use.
  const { id, method } = message as { id?: unknown; method?: unknown };
  return typeof method === "string" && (typeof id === "string" || typeof id === "number") ? id : null;
}

type Result = Record<string, unknown> & { _meta?: Readonly<Record<string, unknown>> };

async function resultOf(
  request: McpRequest,
  headers: Headers,
  server: McpServer,
  exchange: Exchange,
): Promise<Result> {
  const { method, modern } = request;
  if (!modern && !OLD_METHODS.includes(method)) throw unknownMethod(200);
  const { info, instructions } = server;
  switch (method) {
    case "initialize": {
      const { protocolVersion } = paramsOf(request, InitializeParams);
      const known = OLD_REVISIONS.includes(protocolVersion);
      return {
        protocolVersion: known ? protocolVersion : OLD_REVISIONS[0],
        capabilities: CAPABILITIES,
        serverInfo: info,
        instructions,
        // By it an agent knows its own gateway.
        ...(server.homeKey && { _meta: { [MCP_GATEWAY_KEY]: await server.homeKey() } }),
      };
    }
    case "server/discover":
      return {
        supportedVersions: [MODERN_REVISION],
        capabilities: CAPABILITIES,
        instructions,
        ...cached(0),
      };
    case "tools/list": {
      paramsOf(request, ListParams);
      const tools = await server.list();
      return { tools, ...(modern && cached(server.listTtlMs)) };
    }
    case "resources/list": {
      const { cursor } = paramsOf(request, ListParams);
      // Devices send files at any time.
      return { ...(await server.resources(cursor)), ...(modern && cached(0)) };
    }
    case "resources/read": {
      const { uri } = paramsOf(request, ReadParams);
      return { contents: [await server.read(uri)], ...(modern && cached(FILE_TTL_MS)) };
    }
    case "resources/templates/list":
      paramsOf(request, ListParams);
      return { resourceTemplates: [], ...(modern && cached(server.listTtlMs)) };
    case "prompts/list":
      paramsOf(request, ListParams);
      return { prompts: [], ...(modern && cached(server.listTtlMs)) };
    case "tools/call": {
      const { name, arguments: args = {}, requestState, inputResponses } = paramsOf(request, CallParams);
      const context = contextOf(request, headers, exchange);
      // Earlier revisions know neither.
      if (modern && requestState !== undefined)
        context.again = { state: requestState, responses: inputResponses };
      return await server.call(name, args, context);
    }
    case "subscriptions/listen":
      // For changes a Worker would have to hold a stream open.
      throw new McpError(INTERNAL_ERROR, "Subscription limit reached");
    default:
      return {};
  }
}

/** The fields of revision 2026-07-28 by which a client may keep an answer. */
function cached(ttlMs: number): { ttlMs: number; cacheScope: "private" } {
  return { ttlMs, cacheScope: "private" };
}

/** `elicitation: {}` means forms alone, which a program with the model could fill in itself. */
function showsUrl(params: McpRequest["params"]): boolean {
  const meta = params._meta as Record<string, { elicitation?: { url?: unknown } }> | undefined;
  const url = meta?.[CLIENT_CAPABILITIES]?.elicitation?.url;
  return typeof url === "object" && url !== null;
}

function paramsOf<T>({ method, params }: McpRequest, schema: z.ZodMiniType<T>): T {
  const read = check(schema, params);
  if (!read.ok) throw new McpError(INVALID_PARAMS, `Invalid ${method} request: ${read.error}`);
  return read.value;
}

function contextOf(
  { modern, progressToken, params }: McpRequest,
  headers: Headers,
  { signal, notify }: Exchange,
): CallContext {
  const context = { headers, signal, closeCancels: modern, showsUrl: modern && showsUrl(params) };
  if (progressToken === undefined || !notify) return context;
  let progress = 0;
  return {
    ...context,
    progress: (message) => {
      progress += 1;
      notify("notifications/progress", { progressToken, progress, message });
    },
  };
}
