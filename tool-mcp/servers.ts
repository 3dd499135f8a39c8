/**
 * The MCP servers of agent.toml. Each is connected at the start, and again whenever it goes away. The tools of a connected server
 * are tools of this agent; for the others the reason is given by name.
 */

import { type Backoff, backoffMs } from "@edgecall/core/backoff.ts";
import { GATEWAY_TOOLS } from "@edgecall/core/protocol/names.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { McpServerSettings } from "@edgecall/pi-agent/config/mcp-servers.ts";
import type { ExecOps } from "@edgecall/pi-agent/env/environment.ts";
import { connectMcp, type ListedTool, type McpClient } from "./client.ts";
import { httpLink } from "./http-link.ts";
import { clientInfo, type Link, Unreachable } from "./messages.ts";
import { stdioLink } from "./stdio-link.ts";
import { type CallServer, mcpTool } from "./tool.ts";

/** The agent waits for slow servers at most this long before it goes online; their tools follow. */
const START_WITHIN_MS = 2_000;
/** `npx` may have to download a package first. */
const CONNECT_WITHIN_MS = 20_000;
const RETRIES: Backoff = { baseMs: 1_000, capMs: 60_000 };
const OWN_GATEWAY =
  "it is this agent's own gateway, and calls with its token would be the token owner's; the agent's model calls other agents with edge_call";
const PASSED_ON = (tool: string) =>
  `it passes on the tools of an edgecall gateway (${tool}), so a call would go round in a circle, with the rights of another person. Name the tools that you want of it in \`tools\`; in Home Assistant choose the API "Assist" alone`;
/** The limit of one server, since the advert of all tools has to pass the broker. */
const TOOLS_MAX = 64;

export type McpPlaces = {
  /** Returns where a command runs, or what is missing for that. */
  exec(sandbox: boolean): { ok: true; exec: ExecOps } | { ok: false; missing: string };
  grants: { network: boolean; devices: readonly string[] };
  /** For servers that name no time-out. */
  timeoutMs: number;
  agentId: string;
  /** The public key of this agent's own gateway. */
  gatewayKey: string | undefined;
};

export type Missing = { name: string; why: string };

export class McpServers {
  readonly #servers: readonly McpServer[];

  constructor(settings: readonly McpServerSettings[], places: McpPlaces, changed: () => void) {
    this.#servers = settings.map((one) => new McpServer(one, places, changed));
  }

  /** Resolves when each server was tried once, or after a time limit without the slow ones. Never rejects. */
  async start(): Promise<void> {
    const tried = Promise.all(this.#servers.map((server) => server.start()));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, START_WITHIN_MS);
    });
    await Promise.race([tried, late]);
    clearTimeout(timer);
  }

  tools(): Tool[] {
    return this.#servers.flatMap((server) => server.tools);
  }

  missing(): Missing[] {
    return this.#servers.flatMap((server) => server.missing ?? []);
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }
}

class McpServer {
  readonly #settings: McpServerSettings;
  readonly #places: McpPlaces;
  readonly #changed: () => void;
  readonly #stop = new AbortController();
  #client: McpClient | undefined;
  #connecting: Promise<McpClient> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #listed: readonly ListedTool[] = [];
  #tools: readonly Tool[] = [];
  #why = "it is being started";

  constructor(settings: McpServerSettings, places: McpPlaces, changed: () => void) {
    this.#settings = settings;
    this.#places = places;
    this.#changed = changed;
  }

  /** The tools of the last connection. A call finds out whether the server is connected now. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get missing(): Missing | undefined {
    if (this.#client) return undefined;
    return { name: `${this.#settings.name}_*`, why: `the MCP server '${this.#settings.name}': ${this.#why}` };
  }

  async start(): Promise<void> {
    await this.#connected().catch(() => {});
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the agent stops"));
    clearTimeout(this.#retry);
    await this.#connecting?.catch(() => {});
    await this.#client?.close();
  }

  readonly #call: CallServer = async (name, args, options) => {
    const client = await this.#connected().catch((error: unknown) => {
      throw new Unreachable(messageOf(error), false);
    });
    return await client.call(name, args, options);
  };

  /** Connects once for all who ask at the same time. */
  async #connected(): Promise<McpClient> {
    if (this.#client) return this.#client;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return await this.#connecting;
  }

  async #connect(): Promise<McpClient> {
    clearTimeout(this.#retry);
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(CONNECT_WITHIN_MS)]);
    try {
      signal.throwIfAborted();
      const { agentId, gatewayKey } = this.#places;
      const client = await connectMcp(this.#link(), clientInfo(agentId), signal);
      if (client.gatewayKey !== undefined && client.gatewayKey === gatewayKey) {
        await client.close();
        throw new Error(OWN_GATEWAY);
      }
      const listed = await client.tools(signal).catch(async (error: unknown) => {
        await client.close();
        throw error;
      });
      const passedOn = client.gatewayKey === undefined && this.#wanted(listed).find(isOfGateway);
      if (passedOn) {
        await client.close();
        throw new Error(PASSED_ON(passedOn.name));
      }
      this.#client = client;
      this.#failures = 0;
      void client.ended.then((why) => this.#lost(client, why));
      this.#offer(listed);
      return client;
    } catch (error) {
      this.#why = cutText(messageOf(error), 500);
      this.#again();
      throw error;
    }
  }

  #link(): Link {
    const { reach } = this.#settings;
    if (reach.by === "url") return httpLink(reach);
    const place = this.#places.exec(reach.sandbox);
    if (!place.ok) throw new Error(place.missing);
    return stdioLink({ exec: place.exec, argv: reach.argv, env: reach.env, grants: this.#places.grants });
  }

  /** Those that the owner wants of it. */
  #wanted(listed: readonly ListedTool[]): readonly ListedTool[] {
    const { only } = this.#settings;
    return only === undefined ? listed : listed.filter((tool) => only.includes(tool.name));
  }

  #offer(listed: readonly ListedTool[]): void {
    const { timeoutMs = this.#places.timeoutMs } = this.#settings;
    const offered = this.#wanted(listed).slice(0, TOOLS_MAX);
    // A reconnect with the same tools is no change.
    if (JSON.stringify(offered) !== JSON.stringify(this.#listed)) {
      this.#listed = offered;
      this.#tools = offered.map((tool) => mcpTool(tool, this.#settings, this.#call, timeoutMs));
    }
    this.#changed();
  }

  #lost(client: McpClient, why: string): void {
    if (this.#client !== client || this.#stop.signal.aborted) return;
    this.#client = undefined;
    this.#why = cutText(why, 500);
    this.#again();
  }

  #again(): void {
    if (this.#stop.signal.aborted) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.start(), backoffMs(RETRIES, this.#failures));
    this.#retry.unref();
    this.#failures += 1;
  }
}

/** Home Assistant sets the name of its own source before a name that two of them have, and two underlines. */
function isOfGateway({ name }: ListedTool): boolean {
  return GATEWAY_TOOLS.some((tool) => name === tool || name.endsWith(`__${tool}`));
}
