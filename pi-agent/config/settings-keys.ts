/** The keys of agent.toml: their allowed values, and a description of them for error texts. */
import { APIS } from "@edgecall/core/loop/api.ts";
import { AGENT_ID, isReservedId, RESERVED_ID } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { PublicKey } from "@edgecall/core/protocol/signing.ts";
import { PERMISSIONS } from "@edgecall/core/tools/contract.ts";
import { readAllowedRanges } from "@edgecall/core/web/address.ts";
import { NODE_NAME } from "../env/nodes/node.ts";
import { SANDBOX_ENGINES } from "../env/sandbox/sandbox-engine.ts";
import { PRESET_NAMES } from "./preset-names.ts";
import { QUESTION_MAX_MS } from "./question-times.ts";

const int = (min: number, max: number) => z.int().check(z.minimum(min), z.maximum(max));
const text = z.string().check(z.minLength(1));

/** Less than the 300 s after which Node's fetch gives up. */
const FIRST_BYTE_MAX_S = 280;

/** The part of the web that may be reached. The guard refuses some addresses anyway. */
const BOUNDS = {
  domains: z.optional(z.array(z.string().check(z.regex(/^(\*\.)?[a-z0-9.-]{1,253}$/)))),
  ports: z.optional(z.array(int(1, 65_535))),
  allow_addresses: z.optional(z.array(z.string().check(z.refine((entry) => readAllowedRanges([entry]).ok)))),
} as const;

const NOT_RESERVED = z.refine<string>((id) => !isReservedId(id), RESERVED_ID);

/** Every key of agent.toml, by section. The empty name is the top level. */
export const SECTIONS = {
  "": {
    agent_id: z.string().check(z.regex(AGENT_ID), NOT_RESERVED),
    agent_type: z.optional(z.string().check(z.regex(AGENT_ID))),
    capabilities: z.optional(z.string().check(z.regex(/^(?=.*\S)[^\r\n]{1,4000}$/))),
    group: z.optional(z.string().check(z.regex(AGENT_ID), NOT_RESERVED)),
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
  trace: {
    endpoint: z.optional(text),
    headers: z.optional(z.string()),
  },
  gateway: {
    public_key: z.optional(PublicKey),
  },
  llm: {
    base_url: z.optional(z.string().check(z.regex(/^https?:\/\/\S+/))),
    api: z.optional(z.enum(APIS)),
    api_key: z.optional(z.string()),
    model: z.optional(text),
    relay: z.optional(z.boolean()),
    max_tokens: z.optional(int(1, 1_000_000)),
    temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
    first_byte_timeout_s: z.optional(int(1, FIRST_BYTE_MAX_S)),
  },
  agent: {
    type: z.optional(z.string().check(z.regex(AGENT_ID))),
    max_tool_iterations: z.optional(int(1, 100)),
    tool_error_limit: z.optional(int(1, 100)),
    max_parallel_tools: z.optional(int(1, 32)),
    max_prompts: z.optional(int(1, 64)),
    approval_secs: z.optional(int(1, QUESTION_MAX_MS / 1_000)),
    system_prompt: z.optional(z.string()),
    capabilities: z.optional(z.array(z.enum(PERMISSIONS))),
  },
  tools: {
    enabled: z.optional(z.array(text)),
    preset: z.optional(z.enum(PRESET_NAMES)),
    node: z.optional(z.string().check(z.regex(NODE_NAME))),
    timeout_ms: z.optional(int(1, 300_000)),
    workspace: z.optional(text),
    readable: z.optional(z.array(z.string().check(z.regex(/^\//)))),
    max_read_bytes: z.optional(int(1_024, 16 * 1024 * 1024)),
    max_read_lines: z.optional(int(1, 100_000)),
    bash_timeout_ms: z.optional(int(1, 300_000)),
    max_write_mb: z.optional(int(1, 1_048_576)),
    min_free_mb: z.optional(int(0, 1_048_576)),
    sandboxing: z.optional(z.enum(SANDBOX_ENGINES)),
    unsandboxed: z.optional(z.array(text)),
    skills_path: z.optional(text),
  },
  "tools.paths": {
    bin: z.optional(text),
  },
  "tools.engines": {
    bash: z.optional(z.enum(SANDBOX_ENGINES)),
    git: z.optional(z.enum(SANDBOX_ENGINES)),
  },
  "tools.grants": {
    network: z.optional(z.boolean()),
    devices: z.optional(z.array(z.string().check(z.regex(/^\/dev\/[A-Za-z0-9_./-]+$/)))),
  },
  metrics: {
    port: z.optional(int(0, 65_535)),
    host: z.optional(text),
  },
  serve: {
    enabled: z.optional(z.boolean()),
    host: z.optional(text),
    port: z.optional(int(1, 65_535)),
    token_file: z.optional(text),
    exec: z.optional(z.boolean()),
    read_only: z.optional(z.boolean()),
    tls_cert: z.optional(text),
    tls_key: z.optional(text),
  },
  gpio: {
    pins: z.optional(z.array(int(0, 1_023))),
    chips: z.optional(z.array(z.string().check(z.regex(/^gpiochip\d{1,3}$/)))),
  },
  "tools.browser": {
    enabled: z.optional(z.boolean()),
    program: z.optional(z.string().check(z.regex(/^\//))),
    ...BOUNDS,
  },
  "tools.nodes": {
    known_hosts: z.optional(text),
  },
  "tools.web": {
    enabled: z.optional(z.boolean()),
    ...BOUNDS,
    brave_api_key: z.optional(z.union([text, z.array(text)])),
    brave_base_url: z.optional(z.string().check(z.regex(/^https?:\/\/\S+/))),
    codesearch_api_key: z.optional(text),
    codesearch_base_url: z.optional(z.string().check(z.regex(/^https?:\/\/\S+/))),
  },
} as const;
export type Section = keyof typeof SECTIONS;

const TYPE =
  '"monitor", "sensor", "trader", "governance", "desktop" or a name of yours (letters, digits, _ or -)';

const ENGINES = SANDBOX_ENGINES.map((engine) => `"${engine}"`).join(", ");

/** The right value of each key, for error texts. A key that is missing here is described by its type alone. */
export const RIGHT: Record<string, string> = {
  agent_id: '1 to 64 letters, digits, _ or -, e.g. agent_id = "alex-eye"',
  agent_type: TYPE,
  "agent.type": TYPE,
  capabilities: "one line of text, at most 4000 characters",
  group: '1 to 64 letters, digits, _ or -, e.g. group = "lathes"',
  allow_shutdown: "true or false",
  clock: '"auto", "synced" or "unsynced"',
  "mqtt.url": '"mqtt://host:1883", or "mqtts://host:8883" with TLS',
  "mqtt.broker": 'the broker\'s host name, e.g. broker = "192.168.1.10"',
  "mqtt.port": "a port from 1 to 65535",
  "mqtt.keep_alive_secs": "whole seconds from 5 to 3600",
  "mqtt.tls": "true or false",
  "mqtt.topic_prefix": 'text without +, # or spaces, e.g. "evoclaw"',
  "gateway.public_key": "the gateway's key, 43 characters, as `GET /v1/keys` returns it",
  "llm.base_url": 'an http(s) address up to and with /v1, e.g. "http://127.0.0.1:11434/v1"',
  "llm.api": '"openai" or "anthropic"',
  "llm.relay": "true or false; true: base_url is the gateway's, https://…/v1/relay/HOME",
  "llm.max_tokens": "a whole number from 1",
  "llm.temperature": "a number from 0 to 2",
  "llm.first_byte_timeout_s": `whole seconds from 1 to ${FIRST_BYTE_MAX_S}`,
  "agent.max_tool_iterations": "a whole number from 1 to 100",
  "agent.tool_error_limit": "a whole number from 1 to 100",
  "agent.max_parallel_tools": "a whole number from 1 to 32",
  "agent.max_prompts": "a whole number from 1 to 64",
  "agent.approval_secs": "whole seconds from 1 to 604800 (a week)",
  "tools.enabled": 'a list of tool names, e.g. ["temperature", "disk"]',
  "tools.preset": PRESET_NAMES.map((name) => `"${name}"`).join(", "),
  "tools.node": "a name of [[nodes]]",
  "agent.capabilities": `a list of permissions, some of: ${PERMISSIONS.join(", ")}`,
  "tools.readable": 'a list of absolute paths, e.g. ["/etc/hostname"]',
  "tools.max_read_bytes": "whole bytes from 1024 to 16777216",
  "tools.max_read_lines": "a whole number from 1 to 100000",
  "tools.unsandboxed": 'a list of tools of skills that run without a sandbox, e.g. ["set_fan"]',
  "tools.max_write_mb": "whole megabytes from 1 to 1048576",
  "tools.min_free_mb": "whole megabytes from 0 (none are kept free) to 1048576",
  "tools.bash_timeout_ms": "whole milliseconds from 1 to 300000",
  "tools.sandboxing": ENGINES,
  "tools.engines.bash": ENGINES,
  "tools.engines.git": ENGINES,
  "tools.skills_path": 'a folder, e.g. "~/.evoclaw/skills"',
  "tools.grants.network": "true or false",
  "tools.grants.devices": 'a list of devices, e.g. ["/dev/gpiochip0"]',
  "metrics.port": "a port from 1 to 65535, or 0 for none",
  "metrics.host": 'an address of this device, e.g. "127.0.0.1", or "0.0.0.0" for all of them',
  "serve.enabled": "true or false",
  "serve.host": 'an address of this device, e.g. "127.0.0.1", or "0.0.0.0" for all of them',
  "serve.port": "a port from 1 to 65535",
  "serve.token_file": 'a file of tokens, e.g. "serve-tokens"',
  "serve.exec": "true or false",
  "serve.read_only": "true or false",
  "serve.tls_cert": 'a PEM file, e.g. "cert.pem"',
  "serve.tls_key": 'a PEM file, e.g. "key.pem"',
  "gpio.pins": "a list of GPIO numbers, e.g. [17, 27]",
  "gpio.chips": 'a list of chips, e.g. ["gpiochip2"]',
  "tools.browser.enabled": "true or false",
  "tools.browser.program": 'an absolute path, e.g. "/usr/bin/chromium"',
  "tools.browser.domains": 'a list of names, e.g. ["example.com", "*.example.org"]',
  "tools.browser.ports": "a list of ports, e.g. [80, 443]",
  "tools.browser.allow_addresses": 'a list of addresses or ranges, e.g. ["192.168.1.10", "198.18.0.0/15"]',
  "tools.nodes.known_hosts": 'a file as ssh has it, e.g. "~/.ssh/known_hosts"',
  "tools.web.enabled": "true or false",
  "tools.web.domains": 'a list of names, e.g. ["example.com", "*.example.org"]',
  "tools.web.ports": "a list of ports, e.g. [80, 443]",
  "tools.web.allow_addresses": 'a list of addresses or ranges, e.g. ["192.168.1.10", "198.18.0.0/15"]',
  "tools.web.brave_api_key": "a key of Brave's search, or a list of them",
  "tools.web.brave_base_url": "an http(s) address",
  "tools.web.codesearch_api_key": "a key of the documentation search",
  "tools.web.codesearch_base_url": "an http(s) address",
  "tools.timeout_ms": "whole milliseconds from 1 to 300000",
};
