/**
 * A door in front of `/mcp` for MCP's conformance tests: they send no token, and they call tools by names of their own.
 * It adds the token, and puts a device's real tool in the place of each name. Everything else passes unchanged.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";

/** A device's tool, with the arguments that let it do what the test of that name wants to see. */
export type Stand = { tool: string; arguments: Record<string, unknown> };

/** Headers of one connection, and those that `fetch` makes itself. */
const OWN_HEADERS = new Set(["connection", "content-length", "host", "keep-alive", "transfer-encoding"]);

/** @returns the address for the tests, and what closes it */
export async function openDoor(options: {
  gateway: string;
  token: string;
  stands: Readonly<Record<string, Stand>>;
}): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    pass(request, response, options).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => server.close().closeAllConnections() };
}

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { gateway, token, stands }: Parameters<typeof openDoor>[0],
): Promise<void> {
  let body = "";
  for await (const chunk of request) body += chunk;
  const headers = new Headers({ authorization: `Bearer ${token}` });
  for (const [name, value] of Object.entries(request.headers))
    if (!OWN_HEADERS.has(name)) headers.set(name, String(value));
  // The gateway compares a page's origin with its own address, which is this door's for the tests.
  const own = `http://127.0.0.1:${request.socket.localPort}`;
  if (headers.get("origin") === own) headers.set("origin", gateway);
  const message = parsed(body);
  const stand = message?.method === "tools/call" ? stands[message.params?.name ?? ""] : undefined;
  if (stand) {
    Object.assign(message?.params ?? {}, { name: stand.tool, arguments: stand.arguments });
    if (headers.has("mcp-name")) headers.set("mcp-name", stand.tool);
    body = JSON.stringify(message);
  }
  const answer = await fetch(`${gateway}/mcp`, {
    method: request.method ?? "POST",
    headers,
    ...(body !== "" && { body }),
  });
  const kept = [...answer.headers].filter(([name]) => !OWN_HEADERS.has(name) && name !== "content-encoding");
  response.writeHead(answer.status, Object.fromEntries(kept));
  // The types of the DOM and of Node say the same of a stream in other words.
  if (answer.body) await pipeline(Readable.fromWeb(answer.body as NodeStream), response);
  else response.end();
}

function parsed(body: string): { method?: string; params?: { name?: string } } | undefined {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
