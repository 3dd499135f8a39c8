/**
 * The variables and secrets of the gateway, by name, with their defaults and bounds. Cloudflare gives them to the Worker, and the
 * one-machine stack passes them on. What each is for stands in local/api/reference/about-gateway.ts, which no Worker loads.
 */
import { FOREIGN_TIMEOUT_MAX_MS, FOREIGN_TIMEOUT_MS } from "./names.ts";

type Secret = { secret?: true };
/** `default` of a number is absent where it depends on something else, or where there is no limit without the variable. */
type Numeric = Secret & { kind: "whole" | "number"; default?: number; min: number; max: number };
type Choice = Secret & { kind: "choice"; values: readonly string[]; default?: string };
type Text = Secret & { kind: "text"; default?: string };
export type Variable = Numeric | Choice | Text;

const text = { kind: "text" } as const;
const secret = { kind: "text", secret: true } as const;
const bounded = (min: number, max: number) => ({ kind: "whole", min, max }) as const;
const whole = (standard: number, min: number, max: number) => ({ ...bounded(min, max), default: standard });
const oneOf = <const V extends string>(...values: V[]) => ({ kind: "choice", values }) as const;
/** The first one is the default. */
const choice = <const V extends string>(...values: [V, ...V[]]) => ({
  ...oneOf(...values),
  default: values[0],
});
const budget = bounded(0, 1_000_000_000_000);

export const VARIABLES = {
  // JSON arrays of token records (settings/tokens.ts).
  API_TOKENS: secret,
  BRIDGE_TOKENS: secret,
  LLM_API_KEY: secret,
  LLM_BASE_URL: text,
  LLM_API: oneOf("openai", "anthropic"),
  LLM_MODEL: text,
  LLM_MODELS: text,
  SYSTEM_PROMPT: text,
  HISTORY_MAX_TOKENS: whole(24_000, 500, 10_000_000),
  HISTORY_KEEP_FIRST: whole(2, 0, 100),
  BUDGET_TURN_TOKENS: budget,
  BUDGET_TURN_MODEL_CALLS: budget,
  BUDGET_CONVERSATION_TOKENS: budget,
  BUDGET_CONVERSATION_MODEL_CALLS: budget,
  BUDGET_DAY_TOKENS: budget,
  BUDGET_DAY_MODEL_CALLS: budget,
  PRICES: text,
  MAX_TOKENS: whole(4_096, 1, 1_000_000),
  TEMPERATURE: { kind: "number", min: 0, max: 2 },
  MODEL_FIRST_BYTE_MS: bounded(10, 600_000),
  MODEL_BETWEEN_BYTES_MS: whole(60_000, 10, 600_000),
  MODEL_TOTAL_MS: whole(300_000, 10, 840_000),
  TOOL_LOOP_ENABLED: choice("true", "false", "1", "0"),
  FAST_PATH: choice("all", "reads", "off"),
  MAX_TOOL_ITERATIONS: whole(10, 1, 100),
  TOOL_ERROR_LIMIT: whole(3, 1, 100),
  TOOL_REPEAT_LIMIT: whole(3, 1, 100),
  MAX_PARALLEL_TOOLS: whole(5, 1, 50),
  DEFAULT_TOOL_TIMEOUT_MS: whole(30_000, 100, 3_600_000),
  FOREIGN_TIMEOUT_MS: whole(FOREIGN_TIMEOUT_MS, 1_000, FOREIGN_TIMEOUT_MAX_MS),
  ALLOW_UNSIGNED_AGENTS: text,
  UNASKED_REPORTS: text,
  VOICE_WAIT_S: whole(15, 1, 600),
  PUBLIC_URL: text,
  // Absent on Cloudflare: there are webhooks.
  POLLING_TOKEN: secret,
  BROKER_URL: text,
  AGENTS_KEEP_DAYS: whole(30, 1, 3_650),
  MEDIA_KEEP_DAYS: whole(30, 1, 3_650),
  MEDIA_KEEP_MB: whole(64, 1, 4_096),
  GATEWAY_TOOLS: { kind: "text", default: "sessions rules history" },
  TIMEZONE: { kind: "text", default: "UTC" },
  QUIET_HOURS: { kind: "text", default: "off" },
  PUSH_SERVERS: text,
  BRAVE_API_KEY: secret,
  BRAVE_BASE_URL: text,
  CODESEARCH_API_KEY: secret,
  CODESEARCH_BASE_URL: text,
  // A model still chooses well among so many, which are about 10 KB of a request.
  MCP_ACTION_TOOLS: whole(40, 0, 256),
  MCP_TRUSTED_TOKENS: text,
  MCP_ORIGINS: text,
  OAUTH: choice("on", "off"),
  OAUTH_REDIRECTS: text,
  OTEL_EXPORTER_OTLP_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_HEADERS: secret,
  OTEL_TRACES_SAMPLER_ARG: { kind: "number", default: 1, min: 0, max: 1 },
  CHANNELS: secret,
  CONNECTIONS_KEY: secret,
  ACCESS_TEAM_DOMAIN: text,
  ACCESS_AUD: text,
  ACCESS_EMAILS: text,
  RATE_LIMITS: choice("on", "off"),
  CORS_ORIGINS: text,
  // About a hundred questions of one device a day: enough for people, and a small loss if a device runs wild.
  RELAY_DAY_TOKENS: whole(200_000, 0, 1_000_000_000_000),
  RELAY_MAX_TOKENS: whole(4_096, 1, 1_000_000),
  TRANSCRIPTION_MODEL: text,
  TRANSCRIPTION_BASE_URL: text,
  TRANSCRIPTION_API_KEY: secret,
  AUDIT_KEEP_DAYS: whole(90, 1, 3_650),
  AUDIT_KEEP_MB: whole(50, 1, 4_096),
  AUDIT_URL: text,
  AUDIT_TOKEN: secret,
  AUDIT_SEND_EVERY_S: whole(60, 1, 86_400),
} as const satisfies Readonly<Record<string, Variable>>;

export type GatewayVariable = keyof typeof VARIABLES;
// SAFETY: the keys of the table above.
export const GATEWAY_VARIABLES = Object.keys(VARIABLES) as GatewayVariable[];
/** Of a gateway: one that is absent has its default. */
export type Variables = Partial<Record<GatewayVariable, string>>;
