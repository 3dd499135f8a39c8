/** Turns agent.toml and the environment into settings, or into errors that name the key and the right value. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type Api, usualTemperature } from "@edgecall/core/loop/api.ts";
import type { LoopLimits } from "@edgecall/core/loop/next.ts";
import type { ModelSettings, ModelTimeouts } from "@edgecall/core/loop/request.ts";
import { systemCaFile } from "@edgecall/core/protocol/broker-tls.ts";
import { DEFAULT_TOPIC_PREFIX } from "@edgecall/core/protocol/names.ts";
import type { Permission } from "@edgecall/core/tools/contract.ts";
import { readTraceSettings, type TraceSettings } from "@edgecall/core/trace/settings.ts";
import { readAllowedRanges } from "@edgecall/core/web/address.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { type UpdateFiles, updateFiles } from "@edgecall/node/systemd/update.ts";
import { parse as parseToml } from "smol-toml";
import type { WriteBounds } from "../env/bounded-writes.ts";
import { isBelow } from "../env/local-exec.ts";
import type { Node } from "../env/nodes/node.ts";
import type { SandboxEngine } from "../env/sandbox/sandbox-engine.ts";
import type { McpServerSettings } from "./mcp-servers.ts";
import { withPaths } from "./node-settings.ts";
import type { PolicyRules } from "./policy-rules.ts";
import { PRESETS } from "./preset-names.ts";
import { QUESTION_EXPIRES_MS } from "./question-times.ts";
import { type ServeSettings, serveSettings } from "./serve-settings.ts";
import {
  checkSections,
  checkTogether,
  type Sections,
  type Values,
  withEnvironment,
} from "./settings-sections.ts";
import type { WebReach, WebSettings } from "./web-settings.ts";

export type MqttSettings = {
  url: string;
  keepAliveSecs: number;
  username: string | undefined;
  password: string | undefined;
  /** Path of a PEM file with the authorities that may have signed the broker's certificate; undefined: Node's own list. */
  ca: string | undefined;
  topicPrefix: string;
};

export type Settings = {
  agentId: string;
  agentType: string;
  /** The line of capabilities in its advert; undefined: made from its tools. */
  capabilities: string | undefined;
  /** Agents of one group do the same work, and the gateway chooses among them. */
  group: string | undefined;
  stateDir: string;
  /** /proc, /sys and /etc are read below this folder. It is `/` except in tests. */
  root: string;
  allowShutdown: boolean;
  clock: "auto" | "synced" | "unsynced";
  mqtt: MqttSettings;
  /** The gateway's public key (base64url); undefined: the one that pairing stored in the state directory, if any. */
  gatewayKey: string | undefined;
  /** Absent: this agent has no model and answers no prompts. */
  llm: ModelSettings | undefined;
  /** True if the model is the gateway's. It is called with tokens made with this device's key. */
  llmRelay: boolean;
  /** Added to the agent's own system prompt. */
  systemPrompt: string;
  limits: LoopLimits;
  maxPrompts: number;
  /** Metrics for Prometheus over HTTP; port 0: none. */
  metrics: { port: number; host: string };
  /** The actions whose values are kept; none: nothing is kept. */
  history: { readings: readonly string[] };
  /** The rules for calls; see policy.ts. */
  policy: PolicyRules;
  /** The time to wait for an approval. */
  approvalMs: number;
  /** The permissions that this agent may use at all; undefined: all, and policy.ts decides. */
  permissions: readonly Permission[] | undefined;
  tools: ToolSettings;
  /** Servers whose tools this agent offers as its own. */
  mcp: readonly McpServerSettings[];
  /** Other agents may work in the workspace, over HTTP; undefined: switched off. */
  serve: ServeSettings | undefined;
  /** Undefined: nothing is traced. */
  trace: TraceSettings | undefined;
};

/** The addresses that pages may reach, and the path of Chromium; without `program` it is searched. */
type BrowserSettings = { guard: WebReach; program?: string };

export type ToolSettings = {
  enabled: readonly string[] | undefined;
  /** The time-out of skills' and MCP servers' tools that name none; undefined: by the kind of tool. */
  timeoutMs: number | undefined;
  workspace: string;
  /** Paths outside the workspace that may be read. */
  readable: readonly string[];
  maxReadBytes: number;
  maxReadLines: number;
  bashTimeoutMs: number;
  /** The most that one call may write into the workspace, and the space that stays free on its disk. */
  writes: WriteBounds;
  sandbox: SandboxEngine;
  /** Other sandboxes for `bash` and the git tools; undefined: the same one. */
  engines: { bash: SandboxEngine | undefined; git: SandboxEngine | undefined };
  /** Tools of skills that ask for `sandboxing = "none"` and may have it. */
  unsandboxed: readonly string[];
  skillsPath: string;
  /** The folder of skills' programs; undefined: beside each skill. */
  binPath: string | undefined;
  /** Fetching and searching from this device, on its own network; undefined: switched off. */
  web: WebSettings | undefined;
  /** Undefined: switched off. */
  browser: BrowserSettings | undefined;
  /** `known`: the machines of agent.toml; `only`: the one on which the preset `remote` works. */
  nodes: { knownHosts: string | undefined; known: readonly Node[]; only: string | undefined };
  /** Header pins and further chips that may be written. `pins` undefined: the usual ones. */
  gpio: { pins: readonly number[] | undefined; chips: readonly string[] };
  /** The files by which the agent asks for an update of itself; undefined: nothing would carry it out. */
  updates: UpdateFiles | undefined;
  /** Network and devices that programs in the sandbox may use. */
  grants: { network: boolean; devices: readonly string[] };
};

/** All problems of a configuration together, so that a person can mend them at once. */
export class AgentSettingsError extends Error {
  override readonly name = "AgentSettingsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** These describe the system, and say nothing about the people. */
const DEFAULT_READABLE = ["/etc/hostname", "/etc/os-release"];

/** The longest time from a model's first byte to the end of its reply. */
const ANSWER_MS = 180_000;

export type ReadSettings = { settings: Settings; notes: string[] };

/** Reads agent.toml. @param override the flag `--id` @throws AgentSettingsError */
export function loadSettings(
  file: string,
  env: Record<string, string | undefined>,
  override: { agentId?: string } = {},
): ReadSettings {
  let source: string;
  try {
    source = readFileSync(file, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : String(error);
    throw new AgentSettingsError([`${file}: ${why}; pi-agent/agent.example.toml is a start`]);
  }
  return readSettings(source, { file: resolve(file), env, override });
}

/** @param from.file the absolute path of the text's file: relative paths start at its folder */
export function readSettings(
  source: string,
  from: { file: string; env?: Record<string, string | undefined>; override?: { agentId?: string } },
): ReadSettings {
  const file = basename(from.file);
  const table = parseFile(source, file);
  if (from.override?.agentId !== undefined) table.agent_id = from.override.agentId;
  const { sections, problems, notes } = checkSections(table);
  const llm = withEnvironment(sections.llm, from.env ?? {}, problems);
  problems.push(...checkTogether(sections, llm));
  const trace = readTrace(sections.trace, from.env ?? {}, problems);
  if (problems.length > 0) throw new AgentSettingsError(problems.map((problem) => `${file}: ${problem}`));
  const settings = { ...assemble(sections, llm, dirname(from.file), from.env ?? {}), trace };
  const exposed = exposedSecrets(settings);
  if (exposed.length > 0) throw new AgentSettingsError(exposed.map((problem) => `${file}: ${problem}`));
  return { settings, notes };
}

function parseFile(source: string, file: string): Record<string, unknown> {
  try {
    return parseToml(source);
  } catch (error) {
    throw new AgentSettingsError([`${file}: not TOML: ${messageOf(error)}`]);
  }
}

function assemble(
  { "": top, mqtt, gateway, agent, metrics, history, policy, mcp, serve, trace: _, ...rest }: Sections,
  llm: Values<"llm">,
  folder: string,
  env: Record<string, string | undefined>,
): Omit<Settings, "trace"> {
  const url = brokerUrl(mqtt);
  const agentType = top.agent_type ?? agent.type ?? "monitor";
  // As a service the agent can write to one folder, which systemd names.
  const stateDir = resolve(folder, top.state_dir ?? env.STATE_DIRECTORY ?? `${top.agent_id}.state`);
  const path = (text: string) => resolve(folder, text.replace(/^~(?=\/|$)/, env.HOME ?? "/"));
  return {
    agentId: top.agent_id,
    agentType,
    capabilities: top.capabilities,
    group: top.group,
    stateDir,
    root: resolve(folder, top.root ?? "/"),
    allowShutdown: top.allow_shutdown ?? false,
    clock: top.clock ?? "auto",
    mqtt: {
      url,
      keepAliveSecs: mqtt.keep_alive_secs ?? 15,
      username: mqtt.username,
      password: mqtt.password,
      ca: mqtt.ca === undefined ? systemCaFile(url, env, existsSync) : resolve(folder, mqtt.ca),
      topicPrefix: mqtt.topic_prefix ?? DEFAULT_TOPIC_PREFIX,
    },
    gatewayKey: gateway.public_key,
    llm:
      llm.base_url === undefined || llm.model === undefined
        ? undefined
        : {
            baseUrl: llm.base_url,
            ...(llm.api && { api: llm.api }),
            model: llm.model,
            ...(llm.api_key !== undefined && { apiKey: llm.api_key }),
            maxTokens: llm.max_tokens ?? 4_096,
            ...temperatureOf(llm.temperature, llm.base_url, llm.api),
            timeouts: timeoutsOf(llm),
          },
    llmRelay: llm.relay ?? false,
    systemPrompt: env.SYSTEM_PROMPT || (agent.system_prompt ?? ""),
    limits: {
      maxModelCalls: agent.max_tool_iterations ?? 10,
      maxFailedBatches: agent.tool_error_limit ?? 3,
      maxParallel: agent.max_parallel_tools ?? 5,
    },
    maxPrompts: agent.max_prompts ?? 4,
    metrics: { port: metrics.port ?? 0, host: metrics.host ?? "127.0.0.1" },
    history: { readings: history.readings ?? [] },
    policy,
    approvalMs: agent.approval_secs === undefined ? QUESTION_EXPIRES_MS : agent.approval_secs * 1_000,
    permissions: agent.capabilities,
    tools: toolSettings(rest, path, stateDir, env),
    mcp,
    serve: serveSettings(serve, path),
  };
}

/** The environment overrides the file, as for the model. */
function readTrace(
  { endpoint, headers }: Values<"trace">,
  env: Record<string, string | undefined>,
  problems: string[],
): TraceSettings | undefined {
  const read = readTraceSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: env.OTEL_EXPORTER_OTLP_ENDPOINT || endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: env.OTEL_EXPORTER_OTLP_HEADERS || headers,
  });
  if (read.ok) return read.value;
  const [name = "", ...right] = read.error.split(":");
  const key = name.endsWith("ENDPOINT") ? "trace.endpoint" : "trace.headers";
  problems.push(`${env[name] ? `environment ${name}` : key}:${right.join(":")}`);
  return undefined;
}

/** The files of tokens and keys must be where no tool can read them. */
function exposedSecrets({ serve, tools }: Settings): string[] {
  const files = [
    ...(serve ? [["serve.token_file", serve.tokenFile]] : []),
    ...(serve?.tls ? [["serve.tls_key", serve.tls.key]] : []),
    ...tools.nodes.known.map((node) =>
      node.kind === "http"
        ? [`nodes ${node.name}: token_file`, node.token_file]
        : [`nodes ${node.name}: key`, node.key],
    ),
  ] as Array<[key: string, file: string]>;
  const open = [tools.workspace, ...tools.readable];
  return files
    .filter(([, file]) => open.some((place) => isBelow(place, file)))
    .map(
      ([key, file]) => `${key}: tools can read ${file}; right would be a file outside workspace and readable`,
    );
}

function temperatureOf(
  set: number | undefined,
  baseUrl: string,
  api: Api | undefined,
): Pick<ModelSettings, "temperature"> {
  const temperature = set ?? usualTemperature({ baseUrl, ...(api && { api }) });
  return temperature === undefined ? {} : { temperature };
}

/** A model on a small board may have to be loaded first, and reads a long prompt slowly. */
function timeoutsOf({ first_byte_timeout_s: seconds = 120 }: Values<"llm">): Partial<ModelTimeouts> {
  const firstByteMs = seconds * 1_000;
  return {
    firstByteMs,
    firstByteSetting: "first_byte_timeout_s in [llm] of agent.toml",
    totalMs: firstByteMs + ANSWER_MS,
  };
}

function toolSettings(
  sections: Pick<
    Sections,
    | "tools"
    | "gpio"
    | "tools.paths"
    | "tools.engines"
    | "tools.grants"
    | "tools.web"
    | "tools.browser"
    | "tools.nodes"
    | "nodes"
  >,
  path: (text: string) => string,
  stateDir: string,
  env: Record<string, string | undefined>,
): ToolSettings {
  const { tools, gpio, "tools.paths": paths, "tools.grants": grants, "tools.nodes": ofNodes } = sections;
  const { "tools.engines": engines } = sections;
  return {
    enabled: tools.preset ? [...PRESETS[tools.preset], ...(tools.enabled ?? [])] : tools.enabled,
    timeoutMs: tools.timeout_ms,
    workspace: path(tools.workspace ?? `${stateDir}/workspace`),
    readable: tools.readable ?? DEFAULT_READABLE,
    maxReadBytes: tools.max_read_bytes ?? 512 * 1024,
    maxReadLines: tools.max_read_lines ?? 2_000,
    bashTimeoutMs: tools.bash_timeout_ms ?? 30_000,
    writes: {
      callBytes: (tools.max_write_mb ?? 1_024) * 1024 ** 2,
      freeBytes: (tools.min_free_mb ?? 256) * 1024 ** 2,
    },
    sandbox: tools.sandboxing ?? "bubblewrap",
    engines: { bash: engines.bash, git: engines.git },
    unsandboxed: tools.unsandboxed ?? [],
    skillsPath: path(
      tools.skills_path ?? (env.STATE_DIRECTORY ? `${env.STATE_DIRECTORY}/skills` : "~/.evoclaw/skills"),
    ),
    binPath: paths.bin === undefined ? undefined : path(paths.bin),
    gpio: { pins: gpio.pins, chips: gpio.chips ?? [] },
    web: webSettings(sections["tools.web"], env),
    browser: browserSettings(sections["tools.browser"]),
    nodes: {
      knownHosts: ofNodes.known_hosts === undefined ? undefined : path(ofNodes.known_hosts),
      known: withPaths(sections.nodes, path),
      only: tools.node,
    },
    updates: updateFiles(env),
    grants: { network: grants.network ?? false, devices: grants.devices ?? [] },
  };
}

function boundsOf({ domains = [], ports = [], allow_addresses = [] }: Values<"tools.web" | "tools.browser">) {
  const allowed = readAllowedRanges(allow_addresses);
  return { only: { domains, ports }, allowed: allowed.ok ? allowed.value : [] };
}

function browserSettings(browser: Values<"tools.browser">): BrowserSettings | undefined {
  if (browser.enabled === false) return undefined;
  return { guard: boundsOf(browser), ...(browser.program && { program: browser.program }) };
}

function webSettings(
  web: Values<"tools.web">,
  env: Record<string, string | undefined>,
): WebSettings | undefined {
  if (!web.enabled) return undefined;
  const fromEnv = (env.BRAVE_API_KEY ?? "").split(/[\s,]+/).filter(Boolean);
  const braveKeys = fromEnv.length > 0 ? fromEnv : [web.brave_api_key ?? []].flat();
  const codeKey = env.CODESEARCH_API_KEY || web.codesearch_api_key;
  return {
    ...boundsOf(web),
    ...(braveKeys.length > 0 && {
      brave: { keys: braveKeys, ...(web.brave_base_url && { baseUrl: web.brave_base_url }) },
    }),
    codesearch: {
      ...(codeKey && { key: codeKey }),
      ...(web.codesearch_base_url && { baseUrl: web.codesearch_base_url }),
    },
  };
}

function brokerUrl({ url, broker, port, tls }: Values<"mqtt">): string {
  if (url !== undefined) return url;
  const scheme = tls === true ? "mqtts" : "mqtt";
  return `${scheme}://${broker ?? "127.0.0.1"}:${port ?? (tls === true ? 8883 : 1883)}`;
}
