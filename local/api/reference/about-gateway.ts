/** The purpose of each of the gateway's variables, by the sections of docs/reference/settings.md. Only that page has these sentences. */
import type { GatewayVariable } from "@edgecall/core/protocol/gateway-variables.ts";

/** @property standard the default in words, where the table of variables has none. @property design the name in the designs that edgecall follows */
export type About = { about: string; standard?: string; design?: string };

export const GATEWAY_SECTIONS: Readonly<Record<string, Partial<Record<GatewayVariable, About>>>> = {
  "Tokens and addresses": {
    API_TOKENS: {
      about:
        "JSON list of `{hash, name, home, role, scopes}`. `hash` is the token's SHA-256 in hex, `role` is owner, member or guest, `scopes` are of ask, command, approve, admin, metrics. `npm run tokens` makes two: yours, and a client's that only asks. The console and `edgecall tokens` make further tokens without a deploy.",
    },
    BRIDGE_TOKENS: { about: "JSON list of `{hash, name, home}`." },
    PUBLIC_URL: {
      about: "The gateway's address for devices, bridges and chat apps.",
      standard: "where the bridge reached it; with `HOST`, this machine's address",
    },
    VOICE_WAIT_S: {
      about:
        "Seconds after which the model `edgecall-voice` of [OpenAI's door](../using/openai.md#answers-within-a-time) says what it waits for.",
    },
    POLLING_TOKEN: {
      about:
        "Token of the program beside the Worker that fetches [Telegram's messages](../using/chat-apps.md#telegram).",
      standard: "none; `npm start` makes one",
    },
    BROKER_URL: {
      about:
        "The broker for a new device, `mqtt://host:port`, where neither its code nor the home's own broker says one. It is for every home of the gateway.",
      standard: "none; its own with `npm start`",
    },
    CORS_ORIGINS: {
      about:
        "Origins of other sites whose pages may read answers of `/v1`, `/mcp` and `/ask`, separated by commas. `*` is not accepted ([why](../explain/security.md#web-pages-of-other-sites)).",
    },
    RATE_LIMITS: {
      about: "`off`: requests are not counted ([limits](#how-often-anybody-may-ask)).",
      standard: "`on`; `off` with `npm start`, unless `HOST` opens it",
    },
    ALLOW_UNSIGNED_AGENTS: {
      about:
        "Ids of agents without a key that the gateway serves, or `*` for any agent. With `*` the first description of an EvoClaw agent is accepted ([why](../explain/security.md#who-holds-the-broker)).",
      standard: "none; `*` with `npm start`",
    },
    UNASKED_REPORTS: {
      about:
        "Ids of agents without a key, separated by spaces or commas. The owners are told what these agents say [without being asked](../using/rules.md#which-devices).",
    },
    ACCESS_TEAM_DOMAIN: {
      about:
        "`myteam.cloudflareaccess.com`: sign-in to the console with [Cloudflare Access](../using/console.md#behind-cloudflare-access). Set all three variables or none.",
    },
    ACCESS_AUD: { about: "The audience tag of that application." },
    ACCESS_EMAILS: {
      about:
        "`anna@example.org=anna, bob@example.org=guest`: the name of a record in `API_TOKENS` for each person.",
    },
  },
  "The model": {
    LLM_BASE_URL: {
      about: "An OpenAI-compatible endpoint or Anthropic's, up to and with `/v1` ([endpoints](#endpoints)).",
      standard: "Workers AI, where the Worker has its binding `AI`",
    },
    LLM_API: {
      about: "The form of the requests ([Anthropic's](#anthropics-messages-api)).",
      standard: "by the address",
    },
    LLM_API_KEY: { about: "The key of that endpoint." },
    LLM_MODEL: {
      about: "The model's name at `LLM_BASE_URL`, or one of Workers AI (`@cf/…`).",
      standard: "`@cf/zai-org/glm-4.7-flash` with Workers AI",
      design: "model",
    },
    LLM_MODELS: { about: "[Several models](#several-models), as a JSON list." },
    SYSTEM_PROMPT: {
      about: "The first instructions for the model.",
      standard: "in `worker/kernel/settings/settings.ts`",
    },
    MAX_TOKENS: {
      about: "Tokens of a reply. A small window lowers it, and a model that gives less.",
      design: "`max_tokens` (003)",
    },
    TEMPERATURE: {
      about: "The model's temperature.",
      standard: "0.7; the model's own with `anthropic`",
      design: "`temperature` (003)",
    },
    MODEL_FIRST_BYTE_MS: {
      about: "How long a model may take to its first byte ([slow models](#slow-models)).",
      standard: "30000; 120000 for a private address",
    },
    MODEL_BETWEEN_BYTES_MS: { about: "How long a model may pause between two bytes." },
    MODEL_TOTAL_MS: { about: "How long a whole reply may take." },
    PRICES: {
      about:
        'Prices of models, as JSON by the name in `LLM_MODEL` or `LLM_MODELS`, in USD per million tokens: `{"gpt-5-mini":{"in":0.25,"out":2}}`. With prices the console shows money. Days are then counted, which writes two rows with each model call.',
    },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      about: "The OpenTelemetry collector for [traces](../guides/traces.md). Without it nothing is traced.",
    },
    OTEL_EXPORTER_OTLP_HEADERS: {
      about: "Headers for the collector, `name=value` with commas between them.",
    },
    OTEL_TRACES_SAMPLER_ARG: { about: "The part of the traces that is recorded." },
    TRANSCRIPTION_MODEL: {
      about:
        "The model that turns voice messages of chats into text: one of Cloudflare's (`@cf/openai/whisper-large-v3-turbo`), or one at the address below. Without it the person is asked to write.",
    },
    TRANSCRIPTION_BASE_URL: {
      about: "An endpoint with OpenAI's `/audio/transcriptions`, up to and with `/v1`.",
    },
    TRANSCRIPTION_API_KEY: { about: "The key of that endpoint." },
    RELAY_DAY_TOKENS: {
      about:
        "Tokens of the gateway's model that one device may use per UTC day over the relay, question and answer together. 0 closes the relay.",
    },
    RELAY_MAX_TOKENS: { about: "Tokens of one answer over the relay." },
  },
  "The tool loop": {
    TOOL_LOOP_ENABLED: {
      about: "`false`: one model call without tools.",
      design: "`[orchestrator] tool_loop_enabled`",
    },
    FAST_PATH: {
      about:
        "Which [plain sentences](../using/sentences.md) are answered without a model: `all`, `reads` for questions alone, `off` for none while a model is there.",
    },
    MAX_TOOL_ITERATIONS: {
      about: "Model calls of a turn that are offered tools.",
      design: "`[orchestrator] max_tool_iterations`",
    },
    TOOL_ERROR_LIMIT: {
      about: "Batches in a row in which every call failed, before the model sums up.",
      design: "`[orchestrator] tool_error_limit`",
    },
    TOOL_REPEAT_LIMIT: { about: "How often the very same call may fail in a turn." },
    MAX_PARALLEL_TOOLS: { about: "Calls at once.", design: "`maxParallel` (001, phase 2)" },
    DEFAULT_TOOL_TIMEOUT_MS: {
      about: "The time of an action that advertises none.",
      design: "`[orchestrator] default_tool_timeout_ms`",
    },
    FOREIGN_TIMEOUT_MS: { about: "The time of a prompt or a command to an EvoClaw agent." },
    GATEWAY_TOOLS: {
      about:
        "The gateway's own tools: [`sessions`](../explain/sessions.md), [`rules`](../using/rules.md), [`history`](../using/history.md), and [`webfetch`, `websearch`, `codesearch`](../explain/tools/web.md), which reach no home network. `none`: no tool.",
    },
    TIMEZONE: {
      about:
        "The home's time zone, such as `Europe/Berlin`, until an owner sets one in the console ([times](../using/rules.md#times)).",
    },
    QUIET_HOURS: {
      about: "`22:00-07:00`: what is not critical waits until they end. Owners change them in the console.",
    },
    PUSH_SERVERS: {
      about:
        "Origins of servers of ntfy or Web Push that are private or without https, separated by commas: `http://192.168.1.5:8080` ([phones](../using/rules.md#on-a-phone)).",
    },
    BRAVE_API_KEY: { about: "One or more keys for `websearch`, which are tried in turn." },
    BRAVE_BASE_URL: { about: "Another address of that service.", standard: "Brave's" },
    CODESEARCH_API_KEY: { about: "A key for `codesearch`. Without one it allows few requests." },
    CODESEARCH_BASE_URL: { about: "Another address of that service.", standard: "Context7's" },
    MCP_ACTION_TOOLS: {
      about:
        "Up to this many actions are tools of their own at [`/mcp`](../using/mcp.md). With more, none is.",
    },
    MCP_TRUSTED_TOKENS: {
      about:
        "Names of tokens, or `*`, whose clients read no texts of strangers: their calls are not tainted.",
    },
    MCP_ORIGINS: {
      about:
        "Origins of web pages that may call `/mcp`, separated by commas. The gateway's own origin always may.",
    },
    OAUTH: {
      about:
        "`off`: no program can [sign in](../using/connect.md#settings), and existing connections do not count.",
    },
    OAUTH_REDIRECTS: {
      about:
        "Beginnings of redirect addresses with a scheme of their own, separated by commas: `myapp://callback/`. Cursor's is known.",
    },
  },
  Budgets: {
    BUDGET_TURN_TOKENS: { about: "Tokens of one question.", standard: "no limit" },
    BUDGET_TURN_MODEL_CALLS: { about: "Model calls of one question.", standard: "no limit" },
    BUDGET_CONVERSATION_TOKENS: { about: "Tokens of one conversation.", standard: "no limit" },
    BUDGET_CONVERSATION_MODEL_CALLS: { about: "Model calls of one conversation.", standard: "no limit" },
    BUDGET_DAY_TOKENS: {
      about: "Tokens of the home per UTC day. At 80 % the person is told. At 100 % no model is called.",
      standard: "no limit",
    },
    BUDGET_DAY_MODEL_CALLS: { about: "Model calls of the home per UTC day.", standard: "no limit" },
  },
  "What is kept, and how long": {
    HISTORY_MAX_TOKENS: {
      about:
        "Tokens of one request to a model: instructions, tools, the conversation and its pictures ([more](#how-much-is-sent)). Unset, a local server's window bounds it too.",
    },
    HISTORY_KEEP_FIRST: { about: "Messages at the beginning that are always sent." },
    AGENTS_KEEP_DAYS: {
      about:
        "An agent that was offline for so long is deleted. It returns with its next message, or while its broker has an advert of it.",
    },
    MEDIA_KEEP_DAYS: { about: "Pictures and files of a conversation are deleted after this time." },
    MEDIA_KEEP_MB: { about: "When one conversation has more, the oldest are deleted." },
    AUDIT_KEEP_DAYS: { about: "How long the gateway keeps a line of the record of calls, from its arrival." },
    AUDIT_KEEP_MB: {
      about: "When the record is larger, the agent with the most bytes loses its oldest lines.",
    },
    AUDIT_URL: {
      about:
        "A libSQL server that gets the record too ([how](../guides/watching.md#the-record-for-years)): `libsql://…`, `https://…`, or `http://…` of this machine, without a token in it.",
      design: "Turso cloud DB (001)",
    },
    AUDIT_TOKEN: { about: "The token of that server. It has to be allowed to create tables and add rows." },
    AUDIT_SEND_EVERY_S: { about: "How long lines are gathered before they are sent there." },
  },
  "Chat apps": {
    CHANNELS: {
      about: "JSON list of connections to [chat apps](../using/chat-apps.md), and who may speak over each.",
    },
    CONNECTIONS_KEY: {
      about:
        "Encrypts the tokens of chat apps that were connected in the console, and of topics of ntfy ([where](../using/chat-apps.md#where-tokens-are-kept)). At least 32 characters.",
      standard: "`npm start` and `npm run deploy` make one",
    },
  },
};
