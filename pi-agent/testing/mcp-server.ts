/**
 * A real MCP server from the SDK for tests: `node mcp-server.ts stdio
 * http [modern]`. Over HTTP it writes its port to stdout, and accepts the bearer token `secret-token-of-the-test`.
 * `modern`: without the handshake of 2025.
 */
import { once } from "node:events";
import { appendFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [how, era] = process.argv.slice(2);
const legacy = era === "modern" ? "reject" : undefined;
/** A GIF of one pixel. */
const GIF = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";

const anything = fromJsonSchema({ type: "object" });
const words = (text: string) => ({ content: [{ type: "text" as const, text }] });

function tools(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const echoed = fromJsonSchema<{ text: string }>({
    type: "object",
    properties: { text: { type: "string", description: "What to say\nagain" } },
    required: ["text"],
  });
  server.registerTool("echo", { description: "Say it\nagain.", inputSchema: echoed }, ({ text }) =>
    words(text),
  );
  server.registerTool("dotted.name", { inputSchema: anything }, () => words("dots"));
  server.registerTool("picture", { inputSchema: anything }, () => ({
    content: [{ type: "image" as const, data: GIF, mimeType: "image/gif" }],
  }));
  server.registerTool("fail", { inputSchema: anything }, () => ({
    ...words("no such thing"),
    isError: true,
  }));
  server.registerTool("environment", { inputSchema: anything }, () =>
    words(JSON.stringify({ env: process.env, root: readdirSync("/") })),
  );
  server.registerTool("die", { inputSchema: anything }, () => process.exit(7));
  server.registerTool(
    "hold",
    { description: "Until it is cancelled.", inputSchema: anything },
    async (_, context) => {
      const { progressToken } = context.mcpReq._meta ?? {};
      if (progressToken !== undefined)
        await context.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress: 1, message: "held" },
        });
      await pause(60_000, undefined, { signal: context.mcpReq.signal }).catch(() => {
        if (process.env.CANCELLED_FILE) appendFileSync(process.env.CANCELLED_FILE, "cancelled\n");
      });
      return words("let go");
    },
  );
  return server;
}

async function http(): Promise<void> {
  const handler = createMcpHandler(() => tools(), legacy && { legacy });
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== "Bearer secret-token-of-the-test")
      return response.writeHead(401).end();
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { port } = server.address() as AddressInfo;
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1:${port}${request.url}`, {
        method: request.method ?? "GET",
        headers: new Headers(
          Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
        ),
        ...(parts.length > 0 && { body: Buffer.concat(parts).toString("utf8") }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const part of answer.body ?? []) response.write(part);
    return response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
}

if (how === "http") await http();
else serveStdio(() => tools(), legacy && { legacy });
