/** Adds the tools of MCP servers to the agent's own. The same settings filter them, and they change while the agent runs. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Unavailable } from "../calls/offered-tools.ts";
import { namesIn } from "../calls/policy.ts";
import type { Settings } from "../config/settings.ts";
import type { Engine } from "../env/sandbox/sandbox-engine.ts";
import { loadMcpTools } from "./optional-tools.ts";
import type { MachinePlaces, Places } from "./places.ts";

/** The time-out of a server's tools when no setting names one. */
const TIMEOUT_MS = 30_000;

export type McpTools = {
  /** Returns the agent's own tools and the servers' present ones. An own tool takes precedence over a server's of the same name. */
  withOwn(own: readonly Tool[]): readonly Tool[];
  unavailable(): readonly Unavailable[];
  /** Returns the names in `[tools]` and `[policy]` that a server's tool has, or that a server that is away may have. */
  names(settings: Settings): string[];
  onChange(listener: () => void): void;
  close(): Promise<void>;
};

/**
 * Resolves when each server was tried, or after a time limit without the slow ones.
 * @param refusal returns why this agent's settings do not offer a tool
 */
export async function openMcp(
  settings: Settings,
  places: Places,
  refusal: (tool: Tool) => string | undefined,
  log: Log,
): Promise<McpTools> {
  const listeners = new Set<() => void>();
  let version = 0;
  const changed = () => {
    version += 1;
    for (const listener of listeners) listener();
  };
  const servers = await start(settings, places, log, changed);
  let made: { own: readonly Tool[]; version: number; tools: readonly Tool[] } | undefined;
  return {
    withOwn(own) {
      if (!servers) return own;
      if (made?.own === own && made.version === version) return made.tools;
      const theirs = servers.tools().filter((tool) => refusal(tool) === undefined);
      made = { own, version, tools: [...theirs, ...own] };
      return made.tools;
    },
    unavailable() {
      const refused = servers?.tools().flatMap((tool) => {
        const why = refusal(tool);
        return why === undefined ? [] : [{ name: tool.name, why }];
      });
      return [...(refused ?? []), ...(servers?.missing() ?? [])];
    },
    names({ mcp, policy, tools }) {
      const prefixes = mcp.map(({ name }) => `${name}_`);
      const named = [...namesIn(policy), ...(tools.enabled ?? [])];
      return named.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
    },
    onChange: (listener) => void listeners.add(listener),
    close: async () => await servers?.close(),
  };
}

type Servers = {
  tools(): readonly Tool[];
  missing(): readonly Unavailable[];
  close(): Promise<void>;
};

/** Loads the MCP client only when there are servers. */
async function start(
  { mcp, tools, agentId, gatewayKey }: Settings,
  { local, work }: MachinePlaces & { work: Engine },
  log: Log,
  changed: () => void,
): Promise<Servers | undefined> {
  if (mcp.length === 0) return undefined;
  const loaded = await loadMcpTools();
  if (!loaded.ok) {
    log("error", "mcp.not_installed", { error: loaded.missing });
    const unavailable = mcp.map(({ name }) => ({
      name: `${name}_*`,
      why: `the MCP server '${name}': ${loaded.missing}`,
    }));
    return { tools: () => [], missing: () => unavailable, close: async () => {} };
  }
  const servers = new loaded.module.McpServers(
    mcp,
    {
      exec: (sandbox) => {
        if (!sandbox) return { ok: true, exec: local.exec };
        if (work.lack !== undefined) return { ok: false, missing: work.lack };
        const { kind, exec } = work.environment;
        return kind === "sandbox"
          ? { ok: true, exec }
          : { ok: false, missing: 'sandbox = true, but sandboxing in [tools] is "none"' };
      },
      grants: tools.grants,
      timeoutMs: tools.timeoutMs ?? TIMEOUT_MS,
      agentId,
      gatewayKey,
    },
    changed,
  );
  await servers.start();
  return servers;
}
