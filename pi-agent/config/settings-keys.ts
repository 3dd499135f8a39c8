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

/** A key: its allowed values, and their description for error texts. A key without one is described by its type alone. */
export type Key<S extends z.ZodMiniType = z.ZodMiniType> = { schema: S; right?: string | undefined };

const key = <S extends z.ZodMiniType>(schema: S, right?: string) => ({ schema: z.optional(schema), right });
const flag = key(z.boolean(), "true or false");

const TYPE =
  '"monitor", "sensor", "trader", "governance", "desktop" or a name of yours (letters, digits, _ or -)';

const ENGINES = SANDBOX_ENGINES.map((engine) => `"${engine}"`).join(", ");

/** The part of the web that may be reached. The guard refuses some addresses anyway. */
const BOUNDS = {
  domains: key(
    z.array(z.string().check(z.regex(/^(\*\.)?[a-z0-9.-]{1,253}$/))),
    'a list of names, e.g. ["example.com", "*.example.org"]',
  ),
  ports: key(z.array(int(1, 65_535)), "a list of ports, e.g. [80, 443]"),
  allow_addresses: key(
    z.array(z.string().check(z.refine((entry) => readAllowedRanges([entry]).ok))),
    'a list of addresses or ranges, e.g. ["192.168.1.10", "198.18.0.0/15"]',
  ),
} as const;

const NOT_RESERVED = z.refine<string>((id) => !isReservedId(id), RESERVED_ID);

/** Every key of agent.toml, by section. The empty name is the top level. */
export const SECTIONS = {
  "": {
    agent_id: {
      schema: z.string().check(z.regex(AGENT_ID), NOT_RESERVED),
      right: '1 to 64 letters, digits, _ or -, e.g. agent_id = "alex-eye"',
    },
    agent_type: key(z.string().check(z.regex(AGENT_ID)), TYPE),
    capabilities: key(
      z.string().check(z.regex(/^(?=.*\S)[^\r\n]{1,4000}$/)),
      "one line of text, at most 4000 characters",
    ),
    group: key(
      z.string().check(z.regex(AGENT_ID), NOT_RESERVED),
      '1 to 64 letters, digits, _ or -, e.g. group = "lathes"',
    ),
    state_dir: key(text),
    root: key(text),
    allow_shutdown: flag,
    clock: key(z.enum(["auto", "synced", "unsynced"]), '"auto", "synced" or "unsynced"'),
  },
  mqtt: {
    url: key(
      z.string().check(z.regex(/^(mqtts?|tcp|ssl|tls):\/\/[^\s/]+/)),
      '"mqtt://host:1883", or "mqtts://host:8883" with TLS',
    ),
    broker: key(text, 'the broker\'s host name, e.g. broker = "192.168.1.10"'),
    port: key(int(1, 65_535), "a port from 1 to 65535"),
    keep_alive_secs: key(int(5, 3_600), "whole seconds from 5 to 3600"),
    username: key(z.string()),
    password: key(z.string()),
    tls: flag,
    ca: key(text),
    topic_prefix: key(
      z.string().check(z.regex(/^[^+#\s]{1,128}$/)),
      'text without +, # or spaces, e.g. "evoclaw"',
    ),
  },
  trace: {
    endpoint: key(text),
    headers: key(z.string()),
  },
  gateway: {
    public_key: key(PublicKey, "the gateway's key, 43 characters, as `GET /v1/keys` returns it"),
  },
  llm: {
    base_url: key(
      z.string().check(z.regex(/^https?:\/\/\S+/)),
      'an http(s) address up to and with /v1, e.g. "http://127.0.0.1:11434/v1"',
    ),
    api: key(z.enum(APIS), '"openai" or "anthropic"'),
    api_key: key(z.string()),
    model: key(text),
    relay: key(z.boolean(), "true or false; true: base_url is the gateway's, https://…/v1/relay/HOME"),
    max_tokens: key(int(1, 1_000_000), "a whole number from 1"),
    temperature: key(z.number().check(z.minimum(0), z.maximum(2)), "a number from 0 to 2"),
    first_byte_timeout_s: key(int(1, FIRST_BYTE_MAX_S), `whole seconds from 1 to ${FIRST_BYTE_MAX_S}`),
  },
  agent: {
    type: key(z.string().check(z.regex(AGENT_ID)), TYPE),
    max_tool_iterations: key(int(1, 100), "a whole number from 1 to 100"),
    tool_error_limit: key(int(1, 100), "a whole number from 1 to 100"),
    max_parallel_tools: key(int(1, 32), "a whole number from 1 to 32"),
    max_prompts: key(int(1, 64), "a whole number from 1 to 64"),
    approval_secs: key(int(1, QUESTION_MAX_MS / 1_000), "whole seconds from 1 to 604800 (a week)"),
    system_prompt: key(z.string()),
    capabilities: key(
      z.array(z.enum(PERMISSIONS)),
      `a list of permissions, some of: ${PERMISSIONS.join(", ")}`,
    ),
  },
  tools: {
    enabled: key(z.array(text), 'a list of tool names, e.g. ["temperature", "disk"]'),
    preset: key(z.enum(PRESET_NAMES), PRESET_NAMES.map((name) => `"${name}"`).join(", ")),
    node: key(z.string().check(z.regex(NODE_NAME)), "a name of [[nodes]]"),
    timeout_ms: key(int(1, 300_000), "whole milliseconds from 1 to 300000"),
    workspace: key(text),
    readable: key(
      z.array(z.string().check(z.regex(/^\//))),
      'a list of absolute paths, e.g. ["/etc/hostname"]',
    ),
    max_read_bytes: key(int(1_024, 16 * 1024 * 1024), "whole bytes from 1024 to 16777216"),
    max_read_lines: key(int(1, 100_000), "a whole number from 1 to 100000"),
    bash_timeout_ms: key(int(1, 300_000), "whole milliseconds from 1 to 300000"),
    max_write_mb: key(int(1, 1_048_576), "whole megabytes from 1 to 1048576"),
    min_free_mb: key(int(0, 1_048_576), "whole megabytes from 0 (none are kept free) to 1048576"),
    sandboxing: key(z.enum(SANDBOX_ENGINES), ENGINES),
    unsandboxed: key(z.array(text), 'a list of tools of skills that run without a sandbox, e.g. ["set_fan"]'),
    skills_path: key(text, 'a folder, e.g. "~/.evoclaw/skills"'),
  },
  "tools.paths": {
    bin: key(text),
  },
  "tools.engines": {
    bash: key(z.enum(SANDBOX_ENGINES), ENGINES),
    git: key(z.enum(SANDBOX_ENGINES), ENGINES),
  },
  "tools.grants": {
    network: flag,
    devices: key(
      z.array(z.string().check(z.regex(/^\/dev\/[A-Za-z0-9_./-]+$/))),
      'a list of devices, e.g. ["/dev/gpiochip0"]',
    ),
  },
  metrics: {
    port: key(int(0, 65_535), "a port from 1 to 65535, or 0 for none"),
    host: key(text, 'an address of this device, e.g. "127.0.0.1", or "0.0.0.0" for all of them'),
  },
  history: {
    readings: key(
      z.array(z.string().check(z.minLength(1), z.maxLength(128))).check(z.maxLength(32)),
      'a list of at most 32 tools that only read, e.g. ["temperature", "disk"]',
    ),
  },
  serve: {
    enabled: flag,
    host: key(text, 'an address of this device, e.g. "127.0.0.1", or "0.0.0.0" for all of them'),
    port: key(int(1, 65_535), "a port from 1 to 65535"),
    token_file: key(text, 'a file of tokens, e.g. "serve-tokens"'),
    exec: flag,
    read_only: flag,
    tls_cert: key(text, 'a PEM file, e.g. "cert.pem"'),
    tls_key: key(text, 'a PEM file, e.g. "key.pem"'),
  },
  gpio: {
    pins: key(z.array(int(0, 1_023)), "a list of GPIO numbers, e.g. [17, 27]"),
    chips: key(
      z.array(z.string().check(z.regex(/^gpiochip\d{1,3}$/))),
      'a list of chips, e.g. ["gpiochip2"]',
    ),
  },
  "tools.browser": {
    enabled: flag,
    program: key(z.string().check(z.regex(/^\//)), 'an absolute path, e.g. "/usr/bin/chromium"'),
    ...BOUNDS,
  },
  "tools.nodes": {
    known_hosts: key(text, 'a file as ssh has it, e.g. "~/.ssh/known_hosts"'),
  },
  "tools.web": {
    enabled: flag,
    ...BOUNDS,
    brave_api_key: key(z.union([text, z.array(text)]), "a key of Brave's search, or a list of them"),
    brave_base_url: key(z.string().check(z.regex(/^https?:\/\/\S+/)), "an http(s) address"),
    codesearch_api_key: key(text, "a key of the documentation search"),
    codesearch_base_url: key(z.string().check(z.regex(/^https?:\/\/\S+/)), "an http(s) address"),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Key>>>>;
export type Section = keyof typeof SECTIONS;
