import type { WebFetch } from "@edgecall/core/web/fetch-page.ts";

/** Bindings, variables and secrets of the Worker; settings/ gives the variables their meaning and defaults. */
export interface Env {
  HOME: DurableObjectNamespace;
  CONVERSATION: DurableObjectNamespace;
  /** Cloudflare's own models; absent on one machine, and where wrangler.toml has no [ai]. */
  AI?: {
    run(model: string, input: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<unknown>;
  };
  /** The console's files; absent where the gateway was deployed without them. */
  ASSETS?: { fetch(request: Request): Promise<Response> };
  /** The way out, which reaches public addresses only. Absent: as on Cloudflare, where there is no other network to reach. */
  WEB?: { fetch: WebFetch };

  /** Secrets: JSON arrays of token records (auth.ts). */
  API_TOKENS?: string;
  BRIDGE_TOKENS?: string;
  LLM_API_KEY?: string;

  LLM_BASE_URL?: string;
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
  /** Of foreign agents, for a prompt or a command. */
  FOREIGN_TIMEOUT_MS?: string;
  ALLOW_UNSIGNED_AGENTS?: string;
  PUBLIC_URL?: string;
  BROKER_URL?: string;
  AGENTS_KEEP_DAYS?: string;
  MEDIA_KEEP_DAYS?: string;
  MEDIA_KEEP_MB?: string;

  /** The gateway's own tools (settings/gateway-tools.ts). */
  GATEWAY_TOOLS?: string;
  BRAVE_API_KEY?: string;
  BRAVE_BASE_URL?: string;
  CODESEARCH_API_KEY?: string;
  CODESEARCH_BASE_URL?: string;

  /** `/mcp`: up to so many actions are tools of their own; 0 = none. */
  MCP_ACTION_TOOLS?: string;
  /** Names of tokens, or `*`, whose clients read nothing of strangers: the devices' own policy is enough for them. */
  MCP_TRUSTED_TOKENS?: string;
  /** Origins of web pages that may call, separated by commas; this gateway's own may. */
  MCP_ORIGINS?: string;

  /** Secret: a JSON list of connections to chat platforms. */
  CHANNELS?: string;
  /** Secret: what the tokens of connections that were made in the console are encrypted with. */
  CONNECTIONS_KEY?: string;

  /** `myteam.cloudflareaccess.com` */
  ACCESS_TEAM_DOMAIN?: string;
  /** The application's audience tag. */
  ACCESS_AUD?: string;
  /** `anna@example.org=anna, bob@example.org=guest`: the name of a record in API_TOKENS for each. */
  ACCESS_EMAILS?: string;

  /** `off`: nobody is counted. The bindings below have the numbers (wrangler.toml). */
  RATE_LIMITS?: string;
  /** Every request that could show a credential, by the address that it comes from. */
  RATE_ADDRESS?: RateLimit;
  /** Sign-ins, and credentials that were wrong, by address. */
  RATE_GUESSES?: RateLimit;
  /** What a token asks. */
  RATE_TOKENS?: RateLimit;
  /** What one person of a chat app says. */
  RATE_SENDERS?: RateLimit;
  /** Origins of web pages that may read our answers, separated by commas. */
  CORS_ORIGINS?: string;

  RELAY_DAY_TOKENS?: string;
  RELAY_MAX_TOKENS?: string;

  TRANSCRIPTION_MODEL?: string;
  /** Up to and with `/v1`; needed unless the model is Cloudflare's. */
  TRANSCRIPTION_BASE_URL?: string;
  TRANSCRIPTION_API_KEY?: string;

  AUDIT_KEEP_DAYS?: string;
  AUDIT_KEEP_MB?: string;
  AUDIT_URL?: string;
  AUDIT_TOKEN?: string;
  AUDIT_SEND_EVERY_S?: string;
}
