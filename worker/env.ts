import type { Web } from "./conversation/tools/registry.ts";
import type { AccessVariables } from "./frontends/console/access.ts";
import type { PageFiles } from "./frontends/console/page-files.ts";
import type { TranscriptionVariables } from "./models/transcription.ts";
import type { WorkersAi } from "./models/workers-ai.ts";
import type { AuditVariables } from "./settings/audit.ts";
import type { ChannelVariables } from "./settings/channels.ts";
import type { ToolVariables } from "./settings/gateway-tools.ts";
import type { LimitVariables } from "./settings/limits.ts";
import type { McpVariables } from "./settings/mcp.ts";
import type { RelayVariables } from "./settings/relay.ts";

/** Bindings, variables and secrets of the Worker; settings/settings.ts gives the variables their meaning and defaults. */
export interface Env
  extends ToolVariables,
    Web,
    McpVariables,
    ChannelVariables,
    AccessVariables,
    LimitVariables,
    RelayVariables,
    TranscriptionVariables,
    AuditVariables,
    PageFiles {
  HOME: DurableObjectNamespace;
  CONVERSATION: DurableObjectNamespace;
  /** Cloudflare's own models; absent on one machine, and where wrangler.toml has no [ai]. */
  AI?: WorkersAi;

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
}
