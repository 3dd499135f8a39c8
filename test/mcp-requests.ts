/** Sends single MCP requests, for tests inside workerd. */
import { ask } from "./workerd.ts";

type Init = Parameters<typeof ask>[1];

export type McpTool = {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: Record<string, unknown>;
};
type McpContent = { type: string; text?: string; data?: string; mimeType?: string; uri?: string };
export type McpResult = {
  tools: McpTool[];
  content: McpContent[];
  isError?: boolean;
  _meta?: Record<string, unknown>;
};
export type McpMessage = {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: McpResult;
  error?: { code: number; message: string };
};

/** Sends a message unchanged, and returns the messages of the answer, from JSON or events. */
export async function post(message: unknown, init: Init = {}) {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(init.headers as Record<string, string> | undefined),
  };
  const body = typeof message === "string" ? message : JSON.stringify(message);
  const response = await ask("/mcp", { method: "POST", body, ...init, headers });
  const text = await response.text();
  return { status: response.status, text, messages: messagesIn(response, text) };
}

/** Sends a request as a client of 2025 does. */
export async function rpc(method: string, params: object = {}, init: Init = {}) {
  const headers = { "mcp-protocol-version": "2025-06-18", ...(init.headers as object | undefined) };
  const answer = await post({ jsonrpc: "2.0", id: 1, method, params }, { ...init, headers });
  return { ...answer, ...answer.messages.find(({ id }) => id === 1) };
}

export async function tools(init: Init = {}): Promise<McpTool[]> {
  const { result, text } = await rpc("tools/list", {}, init);
  if (!result) throw new Error(text);
  return result.tools;
}

export async function call(
  name: string,
  args: object,
  init: Init = {},
  more: object = {},
): Promise<McpResult> {
  const { result, text } = await rpc("tools/call", { name, arguments: args, ...more }, init);
  if (!result) throw new Error(text);
  return result;
}

function messagesIn(response: Response, text: string): McpMessage[] {
  if (!response.headers.get("content-type")?.includes("text/event-stream"))
    return text.startsWith("{") ? [JSON.parse(text) as McpMessage] : [];
  return text
    .split("\n")
    .flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as McpMessage] : []));
}
