/** Bindings, variables and secrets of the Worker; settings/ gives the variables their meaning and defaults. */
export interface Env {
  HOME: DurableObjectNamespace;
  CONVERSATION: DurableObjectNamespace;
  /** Cloudflare's own models. Absent on one machine, or when wrangler.toml has no [ai]. */
  AI?: {
    run(model: string, input: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<unknown>;
  };
  /** The console's files; absent where the gateway was deployed without them. */
  ASSETS?: { fetch(request: Request): Promise<Response> };
  /** Requests to the web, limited to public addresses. Absent on Cloudflare, where no private network can be reached. */
  WEB?: { fetch(url: string, init: RequestInit): Promise<Response> };

  /** What is wrong with the files of the rows, as a list of conditions. Absent on Cloudflare. */
  ROWS?: { fetch(url: string): Promise<Response> };

  /** Replaces the owner's token, and answers with the new one. Absent where this machine does not keep it. */
  OWNER?: { fetch(url: string, init: RequestInit): Promise<Response> };

  /** Secrets: JSON arrays of token records (settings/tokens.ts). */
  API_TOKENS?: string;
  BRIDGE_TOKENS?: string;
  LLM_API_KEY?: string;

  LLM_BASE_URL?: string;
  LLM_API?: string;
  LLM_MODEL?: string;
  LLM_MODELS?: string;
  SYSTEM_PROMPT?: string;
  HISTORY_MAX_TOKENS?: string;
  HISTORY_KEEP_FIRST?: string;
  BUDGET_TURN_TOKENS?: string;
  BUDGET_TURN_MODEL_CALLS?: string;
  BUDGET_CONVERSATION_TOKENS?: string;
  BUDGET_CONVERSATION_MODEL_CALLS?: string;
  BUDGET_DAY_TOKENS?: string;
  BUDGET_DAY_MODEL_CALLS?: string;
  PRICES?: string;
  MAX_TOKENS?: string;
  TEMPERATURE?: string;
  MODEL_FIRST_BYTE_MS?: string;
  MODEL_BETWEEN_BYTES_MS?: string;
  MODEL_TOTAL_MS?: string;
  TOOL_LOOP_ENABLED?: string;
  MAX_TOOL_ITERATIONS?: string;
  TOOL_ERROR_LIMIT?: string;
  TOOL_REPEAT_LIMIT?: string;
  MAX_PARALLEL_TOOLS?: string;
  DEFAULT_TOOL_TIMEOUT_MS?: string;
  /** For a prompt or a command of a foreign agent. */
  FOREIGN_TIMEOUT_MS?: string;
  ALLOW_UNSIGNED_AGENTS?: string;
  /** Ids of such agents of which owners are told what they say unasked. */
  UNASKED_REPORTS?: string;
  VOICE_WAIT_S?: string;
  PUBLIC_URL?: string;
  /** Secret of the program on this machine that fetches Telegram's updates. Absent on Cloudflare: there are webhooks. */
  POLLING_TOKEN?: string;
  BROKER_URL?: string;
  AGENTS_KEEP_DAYS?: string;
  MEDIA_KEEP_DAYS?: string;
  MEDIA_KEEP_MB?: string;

  /** The gateway's own tools (settings/gateway-tools.ts). */
  GATEWAY_TOOLS?: string;
  /** Of the home: an IANA name. */
  TIMEZONE?: string;
  /** `22:00-07:00` */
  QUIET_HOURS?: string;
  /** Origins of servers for ntfy and Web Push that may be private or without https, separated by commas. */
  PUSH_SERVERS?: string;
  BRAVE_API_KEY?: string;
  BRAVE_BASE_URL?: string;
  CODESEARCH_API_KEY?: string;
  CODESEARCH_BASE_URL?: string;

  /** Up to this many actions are tools of their own at `/mcp`; with more, none is. */
  MCP_ACTION_TOOLS?: string;
  /** Names of tokens, or `*`, whose clients read no texts of strangers: their calls are not tainted. */
  MCP_TRUSTED_TOKENS?: string;
  /** Origins of web pages that may call `/mcp`, separated by commas. The gateway's own origin always may. */
  MCP_ORIGINS?: string;

  /** `off`: programs cannot be connected over OAuth. */
  OAUTH?: string;
  /** Beginnings of redirect addresses with private schemes, beside the known ones, separated by commas. */
  OAUTH_REDIRECTS?: string;

  /** The collector of traces, and its headers (a secret). Without an address nothing is traced (settings/trace.ts). */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_HEADERS?: string;
  /** The part of the traces that is recorded, 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG?: string;

  /** Secret: a JSON list of connections to chat platforms. */
  CHANNELS?: string;
  /** Secret: the key that encrypts the tokens of connections made in the console. */
  CONNECTIONS_KEY?: string;

  /** `myteam.cloudflareaccess.com` */
  ACCESS_TEAM_DOMAIN?: string;
  /** The application's audience tag. */
  ACCESS_AUD?: string;
  /** `anna@example.org=anna, bob@example.org=guest`: the name of a record in API_TOKENS for each. */
  ACCESS_EMAILS?: string;

  /** `off` disables rate limits. wrangler.toml has the numbers of the bindings below. */
  RATE_LIMITS?: string;
  /** Counts every request that may carry a credential, by the client's address. */
  RATE_ADDRESS?: RateLimit;
  /** Counts sign-ins and wrong credentials, by address. */
  RATE_GUESSES?: RateLimit;
  /** Counts requests, by token. */
  RATE_TOKENS?: RateLimit;
  /** Counts messages from chat apps, by person. */
  RATE_SENDERS?: RateLimit;
  /** Origins of web pages that may read our answers, separated by commas. */
  CORS_ORIGINS?: string;

  RELAY_DAY_TOKENS?: string;
  RELAY_MAX_TOKENS?: string;

  TRANSCRIPTION_MODEL?: string;
  /** An address that ends in `/v1`. Cloudflare's models need none. */
  TRANSCRIPTION_BASE_URL?: string;
  TRANSCRIPTION_API_KEY?: string;

  AUDIT_KEEP_DAYS?: string;
  AUDIT_KEEP_MB?: string;
  AUDIT_URL?: string;
  AUDIT_TOKEN?: string;
  AUDIT_SEND_EVERY_S?: string;
}
