/** The tools of MCP servers within this agent's own: filtered by the same settings, and changing while it runs. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { Log } from "@edgecall/node/log.ts";
import { namesIn } from "../calls/policy.ts";
import type { Settings } from "../config/settings.ts";
import type { Engine } from "../env/sandbox/sandbox-engine.ts";
import type { Unavailable } from "./group.ts";
import { loadMcpTools } from "./optional-tools.ts";
import type { MachinePlaces, Places } from "./places.ts";

/** For a server's tools, where no setting names a time-out. */
const TIMEOUT_MS = 30_000;

export type McpOffer = {
  /** These and what the servers offer now; one of the same name stands before a server's. */
  beside(own: readonly Tool[]): readonly Tool[];
  unavailable(): readonly Unavailable[];
  /** What `[tools]` and `[policy]` may name: the tools, and whatever a server that is away could have. */
  names(settings: Settings): string[];
  onChange(listener: () => void): void;
  close(): Promise<void>;
};

/**
 * Resolves when each server was tried, or after a while without those that are slow.
 * @param refusal why a tool is not offered by this agent's settings
 */
export async function openMcp(
  settings: Settings,
  places: Places,
  refusal: (tool: Tool) => string | undefined,
  log: Log,
): Promise<McpOffer> {
  const listeners = new Set<() => void>();
  let version = 0;
  const changed = () => {
    version += 1;
    for (const listener of listeners) listener();
  };
  const servers = await start(settings, places, log, changed);
  let made: { own: readonly Tool[]; version: number; tools: readonly Tool[] } | undefined;
  return {
    beside(own) {
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

/** An agent without servers does not even load what it takes. */
async function start(
  { mcp, tools }: Settings,
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
    },
    changed,
  );
  await servers.start();
  return servers;
}
