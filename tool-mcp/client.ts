/** The client of one MCP server: the handshake of either kind, the list of tools, and calls. */
import { MCP_GATEWAY_KEY } from "@edgecall/core/protocol/names.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import {
  type ClientInfo,
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
  /** The public key of the home that it serves, if it is a gateway of ours. */
  readonly gatewayKey: string | undefined;
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
export async function connectMcp(link: Link, info: ClientInfo, signal: AbortSignal): Promise<McpClient> {
  try {
    return await greet(link, info, signal);
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function greet(link: Link, info: ClientInfo, signal: AbortSignal): Promise<McpClient> {
  const hello = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: info };
  const inEnvelope = (params: Params) => enveloped(params, info);
  try {
    const { protocolVersion, _meta } = await link.request("initialize", hello, { signal });
    const version = String(protocolVersion);
    if (!KNOWN_LEGACY.includes(version)) throw new RpcError(0, `it speaks version '${version.slice(0, 40)}'`);
    link.agreed(version);
    await link.notify("notifications/initialized");
    const key = (_meta as Params | undefined)?.[MCP_GATEWAY_KEY];
    return clientOf(link, (params) => params, typeof key === "string" ? key : undefined);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const first = error;
    link.agreed(MODERN_VERSION);
    await link.request("server/discover", inEnvelope({}), { signal }).catch(() => {
      throw first;
    });
    return clientOf(link, inEnvelope);
  }
}

/** Adds the client and the version, which each request names since 2026-07-28. */
function enveloped(params: Params, info: ClientInfo): Params {
  const meta = (params._meta ?? {}) as Params;
  const prefix = "io.modelcontextprotocol";
  return {
    ...params,
    _meta: {
      ...meta,
      [`${prefix}/protocolVersion`]: MODERN_VERSION,
      [`${prefix}/clientInfo`]: info,
      [`${prefix}/clientCapabilities`]: {},
    },
  };
}

function clientOf(link: Link, withMeta: (params: Params) => Params, gatewayKey?: string): McpClient {
  let lastProgress = 0;
  return {
    gatewayKey,
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
