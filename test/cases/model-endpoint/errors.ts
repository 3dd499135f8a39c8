/** Errors that will not pass: the endpoint's own words, the right advice, and few requests. */
import {
  always,
  type Cases,
  each,
  final,
  inTurn,
  once,
  oneCall,
  type Reply,
  RUN_AFTER,
  raw,
  refuse,
  STREAM,
  say,
  sse,
  stream,
  words,
} from "./replies.ts";

/** The reply to each request, what the person reads of it, and the setting or cure that is named. */
const FINAL: Record<string, readonly [reply: Reply, says: readonly string[], advice: string]> = {
  "e-401": [refuse(401, { error: { message: "Incorrect API key provided: sk-***", code: "invalid_api_key" } }), ["Incorrect API key"], "LLM_API_KEY"],
  "e-401detail": [refuse(401, { detail: "Could not validate credentials" }), ["Could not validate credentials"], "LLM_API_KEY"],
  "e-403plain": [refuse(403, "Forbidden: IP not allowed"), ["IP not allowed"], "LLM_API_KEY"],
  "e-cfhtml403": [refuse(403, "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>"), ["Attention Required! | Cloudflare"], "LLM_API_KEY"],
  "e-402or": [refuse(402, { error: { message: "Insufficient credits. Add more using https://openrouter.ai/settings/credits", code: 402 } }), ["Insufficient credits"], "credit"],
  "e-429quota": [refuse(429, { error: { message: "You exceeded your current quota, please check your plan", code: "insufficient_quota" } }), ["exceeded your current quota"], "no credit left"],
  "e-minimax200": [refuse(200, { id: "x", choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } }), ["insufficient balance"], "no credit left"],
  "e-moonshot": [refuse(429, { error: { message: "Your account is suspended, please check your plan: insufficient balance", type: "exceeded_current_quota_error" } }), ["insufficient balance"], "no credit left"],
  "t-429long": [refuse(429, { error: { message: "Rate limit reached (RPD)", code: "rate_limit_exceeded" } }, { "retry-after": "3600" }), ["RPD"], "until its limit begins anew"],
  "t-429all": [refuse(429, { error: { message: "Rate limit exceeded: free-models-per-day", code: 429 } }), ["free-models-per-day"], "until its limit begins anew"],
  "t-429zai": [refuse(429, { error: { code: "1308", message: "Usage limit reached for 5 hour. Your limit will reset at 2026-11-26 20:00:00" } }), ["Usage limit reached"], "until its limit begins anew"],
  "e-404": [refuse(404, { error: { message: "The model `x` does not exist", code: "model_not_found" } }), ["does not exist"], "LLM_MODEL"],
  "e-404plain": [refuse(404, "404 page not found"), ["404 page not found"], "LLM_BASE_URL"],
  "e-404or": [refuse(404, { error: { message: "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing", code: 404 } }), ["support tool use"], "LLM_MODEL"],
  "e-404azure": [refuse(404, { error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." } }), ["API deployment for this resource"], "LLM_BASE_URL"],
  "e-404ollama": [refuse(404, { error: "model 'x' not found, try pulling it first" }), ["try pulling it first"], "LLM_MODEL"],
  "e-404fastapi": [refuse(404, { detail: "Not Found" }), ["Not Found"], "LLM_BASE_URL"],
  "e-405": [refuse(405, { detail: "Method Not Allowed" }), ["Method Not Allowed"], ""],
  "e-objerr200": [refuse(200, { object: "error", message: "The model `x` does not exist.", type: "NotFoundError", code: 404 }), ["does not exist"], "LLM_MODEL"],
  "e-html200": [raw("text/html", "<!DOCTYPE html><title>Sign in to your router</title>"), ["Sign in to your router", "LLM_BASE_URL"], ""],
  "e-text200": [raw("text/plain", "The service is not available in your region"), ["not available in your region"], ""],
  "e-cfgw": [refuse(400, { success: false, result: [], messages: [], error: [{ code: 2008, message: "Invalid provider" }] }), ["Invalid provider"], ""],
  "e-400detail": [refuse(400, { detail: "Unsupported architecture" }), ["Unsupported architecture"], ""],
  "e-400plain": [refuse(400, "bad model"), ["bad model"], ""],
  "e-422all": [refuse(422, { object: "error", message: { detail: [{ type: "less_than_equal", loc: ["body", "max_tokens"], msg: "Input should be less than or equal to 1024", input: 4096 }] }, type: "invalid_request_error" }), ["less than or equal to 1024"], "MAX_TOKENS"],
  "e-notools": [refuse(400, { error: { message: "registry.ollama.ai/library/gemma3:4b does not support tools", type: "api_error", param: null, code: null } }), ["does not support tools"], "LLM_MODEL"],
  "e-vllmauto": [refuse(400, { object: "error", message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', type: "BadRequestError", param: null, code: 400 }), ["--enable-auto-tool-choice"], ""],
  "e-azurefilter": [refuse(400, { error: { message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", type: null, param: "prompt", code: "content_filter", status: 400 } }), ["content management policy"], ""],
  "e-jinja500": [refuse(500, { error: { code: 500, message: "Value is not callable: null at row 58, column 111", type: "server_error" } }), ["Value is not callable"], ""],
  "e-ollamamem": [refuse(500, { error: { message: "model requires more system memory (9.4 GiB) than is available (7.1 GiB)", type: "api_error", param: null, code: null } }), ["more system memory (9.4 GiB)"], ""],
  "e-cuda500": [refuse(500, { detail: "CUDA out of memory. Tried to allocate 2.00 GiB" }), ["CUDA out of memory"], ""],
  "e-orraw": [refuse(400, { error: { code: 400, message: "Provider returned error", metadata: { raw: '{"error":{"message":"tools.0.name: too long"}}', provider_name: "X" } } }), ["Provider returned error", "tools.0.name: too long"], ""],
  "e-geminilist": [refuse(400, [{ error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" } }]), ["API key not valid"], ""],
  "e-rfc9457": [refuse(400, { type: "about:blank", title: "Bad Request", detail: "The deployment is paused", status: 400 }), ["The deployment is paused"], ""],
  "e-aws": [refuse(400, { __type: "ValidationException", Message: "The provided model identifier is invalid." }), ["model identifier is invalid"], ""],
  "e-faultstring": [refuse(403, { fault: { faultstring: "Invalid ApiKey for given resource", detail: { errorcode: "oauth.v2.InvalidApiKeyForGivenResource" } } }), ["Invalid ApiKey"], "LLM_API_KEY"],
  "e-dashscope": [refuse(400, { code: "Arrearage", message: "Access denied, please make sure your account is in good standing.", request_id: "1" }), ["good standing"], ""],
  "e-baidu200": [refuse(200, { error_code: 17, error_msg: "Open api daily request limit reached" }), ["daily request limit"], ""],
  "e-llamasse": [raw("text/event-stream", 'error: {"code":400,"message":"the slot is not available for this model","type":"invalid_request_error"}\n\ndata: [DONE]\n\n'), ["slot is not available"], ""],
  "e-eventdetails": [raw("text/event-stream", 'event: error\ndata: {"code":400,"details":"Requested sample logprobs of 21, which is greater than max allowed: 20"}\n\ndata: [DONE]\n\n'), ["sample logprobs of 21"], ""],
  "e-eventtext": [raw("text/event-stream", "event: error\ndata: The model is not licensed for this region\n\n"), ["not licensed for this region"], ""],
  "e-sseerror": [stream({ error: { message: "Invalid authentication token", type: "authentication_error", code: 401 } }), ["Invalid authentication token"], "LLM_API_KEY"],
  "e-sseobject": [stream({ object: "error", message: "logits processor is not supported", code: 400 }), ["logits processor is not supported"], ""],
  "e-ssedetail": [stream({ detail: "The adapter does not exist" }), ["adapter does not exist"], ""],
  "e-stringerror": [refuse(400, { error: "this build has no chat endpoint" }), ["no chat endpoint"], ""],
}; // biome-ignore format: a table

/** The same, which may pass: it is tried once more, and not five times. */
const DOUBTFUL: Record<string, readonly [reply: Reply, says: readonly string[]]> = {
  "e-cf200": [
    refuse(200, {
      result: null,
      success: false,
      errors: [{ code: 7009, message: "Upstream service unavailable" }],
      messages: [],
    }),
    ["Upstream service unavailable"],
  ],
};

/** More than fits: the setting that helps, with the numbers. */
const TOO_LONG: Record<string, readonly [reply: Reply, says: readonly string[]]> = {
  "e-ctx-openai": [refuse(400, { error: { message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.", type: "invalid_request_error", param: "messages", code: "context_length_exceeded" } }), ["9,001 tokens", "8,192 tokens"]],
  "e-ctx-anthropic": [refuse(400, { error: { type: "invalid_request_error", message: "prompt is too long: 208310 tokens > 200000 maximum" } }), ["208,310 tokens", "200,000 tokens"]],
  "e-ctx-413groq": [refuse(413, { error: { message: "Request too large for model `llama-3.1-8b-instant` in organization on tokens per minute (TPM): Limit 6000, Requested 9413, please reduce your message size and try again.", type: "tokens", code: "rate_limit_exceeded" } }), ["9,413 tokens", "6,000 tokens"]],
  "e-ctx-stream": [stream({ error: { message: "The number of tokens to keep from the initial prompt is greater than the context length.", type: "", code: null } }), ["greater than the context length"]],
  "e-ctx-llamasse": [raw("text/event-stream", 'error: {"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"invalid_request_error"}\n\ndata: [DONE]\n\n'), ["available context size"]],
  "e-lemonade": [raw("text/event-stream", '{"error":{"code":400,"message":"request (19185 tokens) exceeds the available context size (16384 tokens), try increasing it","type":"exceed_context_size_error"}}'), ["19,185 tokens", "16,384 tokens"]],
  "e-ctx-vllm": [refuse(400, { object: "error", message: "This model's maximum context length is 4096 tokens. However, you requested 8300 tokens (4204 in the messages, 4096 in the completion).", type: "BadRequestError", code: 400 }), ["4,096 tokens"]],
  "e-ctx-mistral": [refuse(400, { object: "error", message: "Prompt contains 35612 tokens, too large for model with 32768 maximum context length", type: "invalid_request_error" }), ["32,768 tokens"]],
  "e-ctx-gemini": [refuse(400, [{ error: { code: 400, message: "The input token count (1194531) exceeds the maximum number of tokens allowed (1048576).", status: "INVALID_ARGUMENT" } }]), ["1,048,576 tokens"]],
  "e-ctx-tgi": [refuse(422, { error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 1000 `max_new_tokens`", error_type: "validation" }), ["4,096 tokens"]],
}; // biome-ignore format: a table

const failed = { runs: [], answer: /no answer|could not get an answer/, status: "failed" as const };

export const ERRORS: Cases = {
  ...each(FINAL, ([reply, says, advice]) => ({
    row: "L7",
    play: always(reply),
    outcome: { ...failed, says, advice, requests: [1, 2] as const },
  })),
  ...each(DOUBTFUL, ([reply, says]) => ({
    row: "L7",
    play: always(reply),
    outcome: { ...failed, says, requests: [1, 5] as const },
  })),
  ...each(TOO_LONG, ([reply, says]) => ({
    row: "L13",
    play: always(reply),
    outcome: { ...failed, says, advice: "window", requests: [1, 4] as const },
  })),
  "e-maxtok": {
    row: "L13",
    play: always(
      refuse(400, {
        error: {
          message:
            "max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.",
          type: "invalid_request_error",
          param: "max_tokens",
          code: "invalid_value",
        },
      }),
    ),
    outcome: { ...failed, says: ["2,048 tokens"], advice: "set MAX_TOKENS to 2048", requests: 2 },
  },
  "e-maxtokonce": {
    row: "L13",
    play: ({ body }) =>
      Number(body.max_tokens) > 512
        ? refuse(400, {
            error: { message: "Range of max_tokens should be [1, 512]", code: "invalid_parameter_error" },
          })
        : say("Short."),
    outcome: { runs: [], answer: "Short.", requests: [1, 2] },
  },
  "e-groq": {
    row: "L10",
    play: once(
      refuse(400, {
        error: {
          message:
            "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
          type: "invalid_request_error",
          code: "tool_use_failed",
          failed_generation: '<function=edge_call{"agent_id": "vm"}</function>',
        },
      }),
    ),
    outcome: RUN_AFTER,
  },
  "e-groqvalid": {
    row: "L10",
    play: once(
      refuse(400, {
        error: {
          message:
            "tool call validation failed: attempted to call tool 'json' which was not in request.tools",
          type: "invalid_request_error",
          code: "tool_use_failed",
          failed_generation: "{}",
        },
      }),
    ),
    outcome: RUN_AFTER,
  },
  "e-groqsse": {
    row: "L10",
    play: once(
      stream({
        error: {
          message: "Failed to call a function.",
          type: "invalid_request_error",
          code: "tool_use_failed",
        },
      }),
    ),
    outcome: RUN_AFTER,
  },
  "e-groqall": {
    row: "L10",
    play: always(
      refuse(400, {
        error: {
          message: "Failed to call a function. Please adjust your prompt.",
          code: "tool_use_failed",
          failed_generation: "",
        },
      }),
    ),
    outcome: { ...failed, says: ["Failed to call a function"], requests: 3 },
  },
  "e-llamaparse500": {
    row: "L10",
    play: once(
      refuse(500, {
        error: {
          code: 500,
          message:
            "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error",
          type: "server_error",
        },
      }),
    ),
    outcome: RUN_AFTER,
  },
  "e-llamainput500": {
    row: "L10",
    play: once(
      refuse(500, {
        error: { code: 500, message: "Failed to parse input at pos 0: <tool_call>", type: "server_error" },
      }),
    ),
    outcome: RUN_AFTER,
  },
  "e-ollamaparse": {
    row: "L10",
    play: once(
      refuse(500, {
        error: {
          message: "error parsing tool call: raw='{\"agent_id\": ', err=unexpected end of JSON input",
          type: "api_error",
        },
      }),
    ),
    outcome: RUN_AFTER,
  },
  "e-or-midtext": {
    row: "L7",
    play: inTurn(
      always({
        headers: STREAM,
        body: `: OPENROUTER PROCESSING\n\n${sse(words("The disk "))}${sse({ id: "g", error: { code: "server_error", message: "Provider disconnected unexpectedly" }, choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }] })}`,
      }),
      oneCall,
      final,
    ),
    outcome: RUN_AFTER,
  },
  "e-or-429": {
    row: "L7",
    play: once(
      raw(
        "text/event-stream",
        `: OPENROUTER PROCESSING\n\n${sse({ error: { code: 429, message: "Provider returned error", metadata: { raw: "google/gemma is temporarily rate-limited upstream. Please retry shortly", provider_name: "X" } } })}`,
      ),
    ),
    outcome: RUN_AFTER,
  },
  "e-aftercall": {
    row: "L7",
    play: inTurn(oneCall, always(refuse(400, { error: { message: "the second is refused" } }))),
    outcome: {
      runs: ["1"],
      answer: /no answer|could not get an answer/,
      says: ["the second is refused"],
      status: "failed",
      requests: 2,
    },
  },
};
