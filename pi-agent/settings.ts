/** agent.toml and the environment → settings, or errors that name the key and what would be right. */
import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { ModelSettings } from "@edgecall/core/loop/model.ts";
import type { LoopLimits } from "@edgecall/core/loop/next.ts";
import { AGENT_ID, DEFAULT_TOPIC_PREFIX } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { parse as parseToml } from "smol-toml";
import { defaultCapabilities } from "./capabilities.ts";
import { type PolicyRules, RULES, type Rule } from "./policy.ts";
import { QUESTION_EXPIRES_MS, QUESTION_MAX_MS } from "./questions.ts";

export type MqttSettings = {
  url: string;
  keepAliveSecs: number;
  username: string | undefined;
  password: string | undefined;
  /** Path of a PEM file: the authority that signed the broker's certificate. */
  ca: string | undefined;
  topicPrefix: string;
};

export type Settings = {
  agentId: string;
  agentType: string;
  capabilities: string;
  stateDir: string;
  /** /proc, /sys and /etc are read below this; `/` but in tests. */
  root: string;
  allowShutdown: boolean;
  clock: "auto" | "synced" | "unsynced";
  mqtt: MqttSettings;
  /** Absent: this agent has no model and answers no prompts. */
  llm: ModelSettings | undefined;
  /** Added to what the agent is told of itself. */
  systemPrompt: string;
  limits: LoopLimits;
  maxPrompts: number;
  /** What may be done to this device; see policy.ts. */
  policy: PolicyRules;
  /** How long an approval is waited for. */
  approvalMs: number;
  tools: { enabled: readonly string[] | undefined; timeoutMs: number; workspace: string };
};

/** Every problem of a configuration at once, so that a person mends it in one go. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const int = (min: number, max: number) => z.int().check(z.minimum(min), z.maximum(max));
const text = z.string().check(z.minLength(1));

const SECTIONS = {
  "": {
    agent_id: z.string().check(z.regex(AGENT_ID)),
    agent_type: z.optional(z.string().check(z.regex(AGENT_ID))),
    capabilities: z.optional(z.string().check(z.regex(/^[^\r\n]{1,4000}$/))),
    state_dir: z.optional(text),
    root: z.optional(text),
    allow_shutdown: z.optional(z.boolean()),
    clock: z.optional(z.enum(["auto", "synced", "unsynced"])),
  },
  mqtt: {
    url: z.optional(z.string().check(z.regex(/^(mqtts?|tcp|ssl|tls):\/\/[^\s/]+/))),
    broker: z.optional(text),
    port: z.optional(int(1, 65_535)),
    keep_alive_secs: z.optional(int(5, 3_600)),
    username: z.optional(z.string()),
    password: z.optional(z.string()),
    tls: z.optional(z.boolean()),
    ca: z.optional(text),
    topic_prefix: z.optional(z.string().check(z.regex(/^[^+#\s]{1,128}$/))),
  },
  llm: {
    base_url: z.optional(z.string().check(z.regex(/^https?:\/\/\S+/))),
    api_key: z.optional(z.string()),
    model: z.optional(text),
    max_tokens: z.optional(int(1, 1_000_000)),
    temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
  },
  agent: {
    max_tool_iterations: z.optional(int(1, 100)),
    tool_error_limit: z.optional(int(1, 100)),
    max_parallel_tools: z.optional(int(1, 32)),
    max_prompts: z.optional(int(1, 64)),
    approval_secs: z.optional(int(1, QUESTION_MAX_MS / 1_000)),
    system_prompt: z.optional(z.string()),
  },
  tools: {
    enabled: z.optional(z.array(text)),
    timeout_ms: z.optional(int(1, 86_400_000)),
    workspace: z.optional(text),
  },
} as const;
type Section = keyof typeof SECTIONS;

/** What would be right, for an error. A key that is missing here is described by its type alone. */
const RIGHT: Record<string, string> = {
  agent_id: '1 to 64 letters, digits, _ or -, e.g. agent_id = "alex-eye"',
  agent_type: '"monitor", "sensor", "trader", "governance" or a name of yours (letters, digits, _ or -)',
  capabilities: "one line of text, at most 4000 characters",
  allow_shutdown: "true or false",
  clock: '"auto", "synced" or "unsynced"',
  "mqtt.url": '"mqtt://host:1883", or "mqtts://host:8883" with TLS',
  "mqtt.broker": 'the broker\'s host name, e.g. broker = "192.168.1.10"',
  "mqtt.port": "a port from 1 to 65535",
  "mqtt.keep_alive_secs": "whole seconds from 5 to 3600",
  "mqtt.tls": "true or false",
  "mqtt.topic_prefix": 'text without +, # or spaces, e.g. "evoclaw"',
  "llm.base_url": 'an http(s) address up to and with /v1, e.g. "http://127.0.0.1:11434/v1"',
  "llm.max_tokens": "a whole number from 1",
  "llm.temperature": "a number from 0 to 2",
  "agent.max_tool_iterations": "a whole number from 1 to 100",
  "agent.tool_error_limit": "a whole number from 1 to 100",
  "agent.max_parallel_tools": "a whole number from 1 to 32",
  "agent.max_prompts": "a whole number from 1 to 64",
  "agent.approval_secs": "whole seconds from 1 to 604800 (a week)",
  "tools.enabled": 'a list of tool names, e.g. ["temperature", "disk"]',
  "tools.timeout_ms": "whole milliseconds from 1 to 86400000",
};

/** EvoClaw's sections that mean nothing to this agent: taken, so that its files work here. */
const FOREIGN_SECTIONS = ["orchestrator", "trading", "monitor", "skills", "risk"];

export type ReadSettings = { settings: Settings; notes: string[] };

/**
 * Reads agent.toml.
 * @param override the flag `--id`
 * @throws SettingsError
 */
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
    throw new SettingsError([`${file}: ${why}; pi-agent/agent.example.toml is a start`]);
  }
  return readSettings(source, { file: resolve(file), env, override });
}

/** @param from.file the absolute path that the text came from: relative paths start at its folder */
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
  if (problems.length > 0) throw new SettingsError(problems.map((problem) => `${file}: ${problem}`));
  return { settings: assemble(sections, llm, dirname(from.file), from.env ?? {}), notes };
}

function parseFile(source: string, file: string): Record<string, unknown> {
  try {
    return parseToml(source);
  } catch (error) {
    throw new SettingsError([`${file}: not TOML: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

type Values<S extends Section> = {
  [K in keyof (typeof SECTIONS)[S]]: z.output<(typeof SECTIONS)[S][K] & z.ZodMiniType>;
};
type Sections = { [S in Exclude<Section, "">]: Values<S> } & { top: Values<"">; policy: PolicyRules };

function checkSections(table: Record<string, unknown>) {
  const problems: string[] = [];
  const notes: string[] = [];
  const top: Record<string, unknown> = {};
  const found = new Map<string, Record<string, unknown>>();
  for (const [key, value] of Object.entries(table)) {
    if (FOREIGN_SECTIONS.includes(key)) notes.push(`[${key}] means nothing to this agent and is left alone`);
    else if (key !== "" && (key in SECTIONS || key === "policy")) {
      if (isTable(value)) found.set(key, value);
      else problems.push(`${key}: must be a section, [${key}]`);
    } else top[key] = value;
  }
  const read = <S extends Section>(name: S, values: Record<string, unknown>) =>
    checkSection(name, values, problems) as Values<S>;
  const sections: Sections = {
    top: read("", top),
    mqtt: read("mqtt", found.get("mqtt") ?? {}),
    llm: read("llm", found.get("llm") ?? {}),
    agent: read("agent", found.get("agent") ?? {}),
    tools: read("tools", found.get("tools") ?? {}),
    policy: checkPolicy(found.get("policy") ?? {}, problems),
  };
  return { sections, problems, notes };
}

/** Its keys are the names of tools and permissions; whether there are such tools is known at the start only. */
function checkPolicy(values: Record<string, unknown>, problems: string[]): PolicyRules {
  const rules = new Map<string, Rule>();
  for (const [name, value] of Object.entries(values)) {
    const rule = RULES.find((it) => it === value);
    if (rule) rules.set(name, rule);
    else problems.push(`policy.${name}: wrong; right would be: "allow", "ask" or "deny"`);
  }
  return rules;
}

function checkSection(
  name: Section,
  values: Record<string, unknown>,
  problems: string[],
): Record<string, unknown> {
  const shape: Record<string, z.ZodMiniType> = SECTIONS[name];
  const full = (key: string) => (name ? `${name}.${key}` : key);
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(shape, key)) {
      const where = name ? `[${name}]` : "at the top level";
      problems.push(`${full(key)}: unknown; known ${where}: ${Object.keys(shape).join(", ")}`);
    }
  }
  const read: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(shape)) {
    const result = schema.safeParse(values[key]);
    if (result.success) read[key] = result.data;
    else {
      const what = values[key] === undefined ? "missing" : (result.error.issues[0]?.message ?? "wrong");
      const right = RIGHT[full(key)];
      problems.push(`${full(key)}: ${what}${right ? `; right would be: ${right}` : ""}`);
    }
  }
  return read;
}

/** The environment wins over the file: it is how a service or a container gives its secrets. */
function withEnvironment(
  llm: Values<"llm">,
  env: Record<string, string | undefined>,
  problems: string[],
): Values<"llm"> {
  const merged: Record<string, unknown> = { ...llm };
  const names = {
    LLM_BASE_URL: "base_url",
    LLM_API_KEY: "api_key",
    LLM_MODEL: "model",
    MAX_TOKENS: "max_tokens",
    TEMPERATURE: "temperature",
  } as const;
  for (const [name, key] of Object.entries(names) as [
    keyof typeof names,
    (typeof names)[keyof typeof names],
  ][]) {
    const value = env[name];
    if (value === undefined || value === "") continue;
    const typed = key === "max_tokens" || key === "temperature" ? Number(value) : value;
    const result = SECTIONS.llm[key].safeParse(typed);
    if (result.success) merged[key] = result.data;
    else problems.push(`environment ${name}: right would be: ${RIGHT[`llm.${key}`] ?? "text"}`);
  }
  return merged as Values<"llm">;
}

function checkTogether(sections: Sections, llm: Values<"llm">): string[] {
  const problems: string[] = [];
  const { url, broker, port, tls } = sections.mqtt;
  if (url !== undefined && (broker !== undefined || port !== undefined)) {
    problems.push("mqtt.url: give either url or broker and port, not both");
  }
  if (url !== undefined && tls === true && /^(mqtt|tcp):/.test(url)) {
    problems.push("mqtt.tls: true, but mqtt.url is without TLS; right would be: mqtts://host:8883");
  }
  if (llm.base_url !== undefined && llm.model === undefined) {
    problems.push(
      'llm.model: missing beside llm.base_url; right would be: the model\'s name, e.g. "qwen3:4b"',
    );
  }
  if (llm.base_url === undefined && llm.model !== undefined) {
    problems.push(`llm.base_url: missing beside llm.model; right would be: ${RIGHT["llm.base_url"]}`);
  }
  return problems;
}

function assemble(
  { top, mqtt, agent, tools, policy }: Sections,
  llm: Values<"llm">,
  folder: string,
  env: Record<string, string | undefined>,
): Settings {
  const agentType = top.agent_type ?? "monitor";
  const stateDir = resolve(folder, top.state_dir ?? `${top.agent_id}.state`);
  return {
    agentId: top.agent_id,
    agentType,
    capabilities: top.capabilities ?? defaultCapabilities(agentType, top.agent_id),
    stateDir,
    root: resolve(folder, top.root ?? "/"),
    allowShutdown: top.allow_shutdown ?? false,
    clock: top.clock ?? "auto",
    mqtt: {
      url: brokerUrl(mqtt),
      keepAliveSecs: mqtt.keep_alive_secs ?? 15,
      username: mqtt.username,
      password: mqtt.password,
      ca: mqtt.ca === undefined ? undefined : resolve(folder, mqtt.ca),
      topicPrefix: mqtt.topic_prefix ?? DEFAULT_TOPIC_PREFIX,
    },
    llm:
      llm.base_url === undefined || llm.model === undefined
        ? undefined
        : {
            baseUrl: llm.base_url,
            model: llm.model,
            ...(llm.api_key !== undefined && { apiKey: llm.api_key }),
            maxTokens: llm.max_tokens ?? 4_096,
            temperature: llm.temperature ?? 0.7,
          },
    systemPrompt: env.SYSTEM_PROMPT || (agent.system_prompt ?? ""),
    limits: {
      maxModelCalls: agent.max_tool_iterations ?? 10,
      maxFailedBatches: agent.tool_error_limit ?? 3,
      maxParallel: agent.max_parallel_tools ?? 5,
    },
    maxPrompts: agent.max_prompts ?? 4,
    policy,
    approvalMs: agent.approval_secs === undefined ? QUESTION_EXPIRES_MS : agent.approval_secs * 1_000,
    tools: {
      enabled: tools.enabled,
      timeoutMs: tools.timeout_ms ?? 30_000,
      workspace: resolve(folder, tools.workspace ?? `${stateDir}/workspace`),
    },
  };
}

function brokerUrl({ url, broker, port, tls }: Values<"mqtt">): string {
  if (url !== undefined) return url;
  const scheme = tls === true ? "mqtts" : "mqtt";
  return `${scheme}://${broker ?? "127.0.0.1"}:${port ?? (tls === true ? 8883 : 1883)}`;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
