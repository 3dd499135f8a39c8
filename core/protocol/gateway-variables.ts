/** The variables and secrets of the gateway, by name: Cloudflare gives them to the Worker, and the one-machine stack passes them on. */
export const GATEWAY_VARIABLES = [
  /** Secrets: JSON arrays of token records (settings/tokens.ts). */
  "API_TOKENS",
  "BRIDGE_TOKENS",
  "LLM_API_KEY",
  "LLM_BASE_URL",
  "LLM_API",
  "LLM_MODEL",
  "LLM_MODELS",
  "SYSTEM_PROMPT",
  "HISTORY_MAX_TOKENS",
  "HISTORY_KEEP_FIRST",
  "BUDGET_TURN_TOKENS",
  "BUDGET_TURN_MODEL_CALLS",
  "BUDGET_CONVERSATION_TOKENS",
  "BUDGET_CONVERSATION_MODEL_CALLS",
  "BUDGET_DAY_TOKENS",
  "BUDGET_DAY_MODEL_CALLS",
  "PRICES",
  "MAX_TOKENS",
  "TEMPERATURE",
  "MODEL_FIRST_BYTE_MS",
  "MODEL_BETWEEN_BYTES_MS",
  "MODEL_TOTAL_MS",
  "TOOL_LOOP_ENABLED",
  /** `all`, `reads` or `off`: what is answered without a model where there is one. */
  "FAST_PATH",
  "MAX_TOOL_ITERATIONS",
  "TOOL_ERROR_LIMIT",
  "TOOL_REPEAT_LIMIT",
  "MAX_PARALLEL_TOOLS",
  "DEFAULT_TOOL_TIMEOUT_MS",
  /** For a prompt or a command of a foreign agent. */
  "FOREIGN_TIMEOUT_MS",
  "ALLOW_UNSIGNED_AGENTS",
  /** Ids of such agents of which owners are told what they say unasked. */
  "UNASKED_REPORTS",
  "VOICE_WAIT_S",
  "PUBLIC_URL",
  /** Secret of the program on this machine that fetches Telegram's updates. Absent on Cloudflare: there are webhooks. */
  "POLLING_TOKEN",
  "BROKER_URL",
  "AGENTS_KEEP_DAYS",
  "MEDIA_KEEP_DAYS",
  "MEDIA_KEEP_MB",
  /** The gateway's own tools (settings/gateway-tools.ts). */
  "GATEWAY_TOOLS",
  /** Of the home: an IANA name. */
  "TIMEZONE",
  /** `22:00-07:00` */
  "QUIET_HOURS",
  /** Origins of servers for ntfy and Web Push that may be private or without https, separated by commas. */
  "PUSH_SERVERS",
  "BRAVE_API_KEY",
  "BRAVE_BASE_URL",
  "CODESEARCH_API_KEY",
  "CODESEARCH_BASE_URL",
  /** Up to this many actions are tools of their own at `/mcp`; with more, none is. */
  "MCP_ACTION_TOOLS",
  /** Names of tokens, or `*`, whose clients read no texts of strangers: their calls are not tainted. */
  "MCP_TRUSTED_TOKENS",
  /** Origins of web pages that may call `/mcp`, separated by commas. The gateway's own origin always may. */
  "MCP_ORIGINS",
  /** `off`: programs cannot be connected over OAuth. */
  "OAUTH",
  /** Beginnings of redirect addresses with private schemes, beside the known ones, separated by commas. */
  "OAUTH_REDIRECTS",
  /** The collector of traces, and its headers (a secret). Without an address nothing is traced (settings/trace.ts). */
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  /** The part of the traces that is recorded, 0 to 1. */
  "OTEL_TRACES_SAMPLER_ARG",
  /** Secret: a JSON list of connections to chat platforms. */
  "CHANNELS",
  /** Secret: the key that encrypts the tokens of connections made in the console. */
  "CONNECTIONS_KEY",
  /** `myteam.cloudflareaccess.com` */
  "ACCESS_TEAM_DOMAIN",
  /** The application's audience tag. */
  "ACCESS_AUD",
  /** `anna@example.org=anna, bob@example.org=guest`: the name of a record in API_TOKENS for each. */
  "ACCESS_EMAILS",
  /** `off` disables rate limits. wrangler.toml has the numbers of the bindings below. */
  "RATE_LIMITS",
  /** Origins of web pages that may read our answers, separated by commas. */
  "CORS_ORIGINS",
  "RELAY_DAY_TOKENS",
  "RELAY_MAX_TOKENS",
  "TRANSCRIPTION_MODEL",
  /** An address that ends in `/v1`. Cloudflare's models need none. */
  "TRANSCRIPTION_BASE_URL",
  "TRANSCRIPTION_API_KEY",
  "AUDIT_KEEP_DAYS",
  "AUDIT_KEEP_MB",
  "AUDIT_URL",
  "AUDIT_TOKEN",
  "AUDIT_SEND_EVERY_S",
] as const;

export type GatewayVariable = (typeof GATEWAY_VARIABLES)[number];
/** Of a gateway: one that is absent has its default. */
export type Variables = Partial<Record<GatewayVariable, string>>;
