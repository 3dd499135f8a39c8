/** The client of one MCP server: the handshake of either kind, the list of tools, and calls. */
import { check, z } from "@edgecall/core/protocol/parse.ts";
import {
  CLIENT_INFO,
  LEGACY_VERSION,
  type Link,
  type Message,
  MODERN_VERSION,
  type Params,
  type RequestOptions,
  RpcError,
} from "./messages.ts";

/** A server may always name one more page, so reading its list ends here. */
const PAGES_MAX = 10;
const KNOWN_LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY_VERSION];

const ListedTool = z.looseObject({
  name: z.string().check(z.minLength(1), z.maxLength(256)),
  description: z.catch(z.optional(z.string()), undefined),
  inputSchema: z.catch(z._default(z.record(z.string(), z.unknown()), {}), {}),
});
export type ListedTool = z.infer<typeof ListedTool>;

const ToolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.optional(z.string()) });

export type McpClient = {
  tools(signal: AbortSignal): Promise<ListedTool[]>;
  call(name: string, args: Params, options: CallOptions): Promise<Params>;
  readonly ended: Promise<string>;
  close(): Promise<void>;
};

export type CallOptions = { signal: AbortSignal; progress?: (message: string) => void };

/**
 * Does the handshake of 2025. If the server refuses it, tries the one of 2026-07-28.
 * @throws RpcError, Unreachable, or the signal's reason; the link is closed then
 */
export async function connectMcp(link: Link, signal: AbortSignal): Promise<McpClient> {
  try {
    return await greet(link, signal);
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function greet(link: Link, signal: AbortSignal): Promise<McpClient> {
  const hello = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT_INFO };
  try {
    const { protocolVersion } = await link.request("initialize", hello, { signal });
    const version = String(protocolVersion);
    if (!KNOWN_LEGACY.includes(version)) throw new RpcError(0, `it speaks version '${version.slice(0, 40)}'`);
    link.agreed(version);
    await link.notify("notifications/initialized");
    return clientOf(link, (params) => params);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const first = error;
    link.agreed(MODERN_VERSION);
    await link.request("server/discover", enveloped({}), { signal }).catch(() => {
      throw first;
    });
    return clientOf(link, enveloped);
  }
}

/** Adds the client and the version, which each request names since 2026-07-28. */
function enveloped(params: Params): Params {
  const meta = (params._meta ?? {}) as Params;
  const prefix = "io.modelcontextprotocol";
  return {
    ...params,
    _meta: {
      ...meta,
      [`${prefix}/protocolVersion`]: MODERN_VERSION,
      [`${prefix}/clientInfo`]: CLIENT_INFO,
      [`${prefix}/clientCapabilities`]: {},
    },
  };
}

function clientOf(link: Link, withMeta: (params: Params) => Params): McpClient {
  let lastProgress = 0;
  return {
    ended: link.ended,
    async tools(signal) {
      const tools: ListedTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < PAGES_MAX; page += 1) {
        const params = withMeta(cursor === undefined ? {} : { cursor });
        const read = check(ToolPage, await link.request("tools/list", params, { signal }));
        if (!read.ok) throw new RpcError(0, `its list of tools cannot be read: ${read.error}`);
        tools.push(...read.value.tools.flatMap((tool) => readTool(tool)));
        cursor = read.value.nextCursor;
        if (cursor === undefined) break;
      }
      return tools;
    },
    async call(name, args, { signal, progress }) {
      lastProgress += 1;
      const progressToken = lastProgress;
      const params = { name, arguments: args, ...(progress && { _meta: { progressToken } }) };
      const onNotification = (message: Message) => {
        const { progressToken: of, message: text } = message.params ?? {};
        if (message.method === "notifications/progress" && of === progressToken && typeof text === "string")
          progress?.(text);
      };
      const options: RequestOptions = { signal, ...(progress && { onNotification }) };
      return await link.request("tools/call", withMeta(params), options);
    },
    close: () => link.close(),
  };
}

/** Leaves out a tool that cannot be read; the other tools of the list stay. */
function readTool(tool: unknown): ListedTool[] {
  const read = check(ListedTool, tool);
  return read.ok ? [read.value] : [];
}
