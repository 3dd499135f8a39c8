/** Reads `[[mcp]]` of agent.toml: the MCP servers whose tools this agent offers as its own. */
import { check, type Parsed, wrong, z } from "@edgecall/core/protocol/parse.ts";
import { type Effect, PERMISSIONS, type Permission } from "@edgecall/core/tools/contract.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { refuseEnv } from "../env/clean-env.ts";

export type McpServerSettings = {
  name: string;
  reach:
    | { by: "command"; argv: readonly [string, ...string[]]; env: Record<string, string>; sandbox: boolean }
    | { by: "url"; url: string; token: string | undefined };
  permission: Permission;
  effect: Effect;
  /** Tools that change nothing, by the server's names. The owner names them; the server's claims do not count. */
  reads: readonly string[];
  /** The tools that are offered; undefined = all. */
  only: readonly string[] | undefined;
  /** Its results do not count as a stranger's text. */
  trusted: boolean;
  /** False: its success means that it took a command, not that it was done. */
  confirms: boolean;
  timeoutMs: number | undefined;
};

const names = z.array(z.string().check(z.minLength(1), z.maxLength(128)));

const McpServer = z.strictObject({
  name: z.string().check(z.regex(/^[A-Za-z0-9-]{1,20}$/, "expected 1 to 20 letters, digits or -")),
  command: z.optional(z.array(z.string().check(z.minLength(1))).check(z.minLength(1))),
  url: z.optional(z.string().check(z.regex(/^https?:\/\/\S+$/, "expected an http(s) address"))),
  env: z.optional(z.record(z.string(), z.string())),
  token: z.optional(z.string().check(z.regex(/^[\x21-\x7e]{1,4096}$/, "expected a bearer token"))),
  sandbox: z.optional(z.boolean()),
  permission: z.optional(z.enum(PERMISSIONS)),
  effect: z.optional(z.enum(["read", "write", "exec", "network", "device"])),
  reads: z.optional(names),
  tools: z.optional(names),
  trusted: z.optional(z.boolean()),
  confirms: z.optional(z.boolean()),
  timeout_ms: z.optional(z.int().check(z.minimum(1), z.maximum(86_400_000))),
});

/** The advert of more servers' tools would be too long for a model to choose from. */
const SERVERS_MAX = 16;

/** @param value of the key `mcp`; @returns an error that names the key and what would be right */
export function readMcpServers(value: unknown): Parsed<McpServerSettings[]> {
  if (value === undefined) return { ok: true, value: [] };
  if (!Array.isArray(value)) return wrong("mcp: must be a list of sections, each [[mcp]]");
  if (value.length > SERVERS_MAX) return wrong(`mcp: at most ${SERVERS_MAX} servers`);
  const servers: McpServerSettings[] = [];
  for (const [index, item] of value.entries()) {
    const read = check(McpServer, item);
    if (!read.ok) return wrong(`mcp.${index}.${read.error}`);
    const server = settingsOf(read.value);
    if (!server.ok) return wrong(`mcp.${index}.${server.error}`);
    if (servers.some(({ name }) => name === server.value.name))
      return wrong(`mcp.${index}.name: there is another server '${server.value.name}'`);
    servers.push(server.value);
  }
  return { ok: true, value: servers };
}

function settingsOf(server: z.infer<typeof McpServer>): Parsed<McpServerSettings> {
  const { name, reads = [], tools, trusted = false, confirms = true, timeout_ms } = server;
  const reach = reachOf(server);
  if (!reach.ok) return reach;
  const runs = reach.value.by === "command";
  return {
    ok: true,
    value: {
      name,
      reach: reach.value,
      permission: server.permission ?? (runs ? "shell" : "network"),
      effect: server.effect ?? (runs ? "exec" : "network"),
      reads,
      only: tools,
      trusted,
      confirms,
      timeoutMs: timeout_ms,
    },
  };
}

function reachOf({
  command,
  url,
  env = {},
  token,
  sandbox,
}: z.infer<typeof McpServer>): Parsed<McpServerSettings["reach"]> {
  const [program, ...args] = command ?? [];
  if (url !== undefined) {
    if (program !== undefined) return wrong("url: give either url or command, not both");
    if (sandbox !== undefined) return wrong("sandbox: only for command; a url is not run here");
    return { ok: true, value: { by: "url", url, token } };
  }
  if (program === undefined)
    return wrong('command: missing; right would be: command = ["npx", "-y", "a-server"], or url');
  if (token !== undefined) return wrong("token: only for url; a command gets its secrets by env");
  try {
    refuseEnv(env);
  } catch (error) {
    return wrong(`env: ${messageOf(error)}`);
  }
  return { ok: true, value: { by: "command", argv: [program, ...args], env, sandbox: sandbox ?? false } };
}

/** Keys are longer than this. Shorter values (`1`, `info`) are no secrets and occur in many texts. */
const SECRET_MIN = 16;

/** Returns the texts that no tool may reveal: the server's token, and the long values of its program's variables. */
export function mcpSecrets({ reach }: McpServerSettings): string[] {
  if (reach.by === "url") return reach.token === undefined ? [] : [reach.token];
  return Object.values(reach.env).filter((value) => value.length >= SECRET_MIN);
}
