import { expect, test } from "vitest";
import { parseTooLong, type TooLong } from "./too-long.ts";

const input = (limit?: number, sent?: number, own?: number): TooLong => ({
  kind: "input",
  ...(limit !== undefined && { limit }),
  ...(sent !== undefined && { sent }),
  ...(own !== undefined && { input: own }),
});
const output = (limit?: number, sent?: number): TooLong => ({ ...input(limit, sent), kind: "output" });

/** As endpoints say it: their documentation, their source, and reports of people. */
const SAID: Array<[endpoint: string, words: string, expected: TooLong]> = [
  [
    "OpenAI",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
    input(8192, 9001),
  ],
  [
    "OpenAI, with tools",
    "This model's maximum context length is 8,192 tokens. However, your messages resulted in 9,001 tokens (8,500 in the messages, 501 in the functions). Please reduce the length of the messages or functions.",
    input(8192, 9001, 8500),
  ],
  [
    "OpenAI, DeepSeek, with the reply",
    "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    input(65536, 70000, 66000),
  ],
  [
    "OpenAI, responses",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    input(),
  ],
  [
    "OpenAI, configured",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300001 tokens. Please reduce the length of the messages.",
    input(272000, 300001),
  ],
  [
    "OpenAI, 429",
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.",
    input(30000, 45000),
  ],
  ["Anthropic", "prompt is too long: 208310 tokens > 200000 maximum", input(200000, 208310)],
  [
    "Anthropic, with the reply",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    input(200000, 210000, 190000),
  ],
  ["Anthropic, 413", "Request exceeds the maximum size", input()],
  [
    "Groq, 413",
    "Request too large for model `llama-3.1-8b-instant` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9413, please reduce your message size and try again.",
    input(6000, 9413),
  ],
  ["Groq", "Please reduce the length of the messages or completion.", input()],
  [
    "Cerebras",
    "Please reduce the length of the messages or completion. Current length is 9001 while limit is 8192",
    input(8192, 9001),
  ],
  [
    "llama.cpp",
    "request (19185 tokens) exceeds the available context size (16384 tokens), try increasing it",
    input(16384, 19185),
  ],
  [
    "llama.cpp, before",
    "the request exceeds the available context size. try increasing the context size or enable context shift",
    input(),
  ],
  [
    "LM Studio",
    "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input",
    input(),
  ],
  [
    "LM Studio, with numbers",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
    input(4096, 5000),
  ],
  ["LM Studio, engine", "Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)", input(4096, 5000)],
  [
    "vLLM",
    "This model's maximum context length is 8192 tokens. However, your request has 9001 input tokens. Please reduce the length of the input messages.",
    input(8192, 9001, 9001),
  ],
  [
    "vLLM, with the reply",
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 512 input tokens (4096 > 4096 - 512).",
    input(4096, undefined, 512),
  ],
  [
    "vLLM, before",
    "The decoder prompt (length 9001) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    input(8192, 9001),
  ],
  [
    "SGLang",
    "The input (9001 tokens) is longer than the model's context length (8192 tokens).",
    input(8192, 9001),
  ],
  [
    "SGLang, with the reply",
    "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9001 tokens: 5001 tokens from the input messages and 4000 tokens for the completion.",
    input(8192, 9001, 5001),
  ],
  [
    "Gemini",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    input(1048576, 1200000, 1200000),
  ],
  [
    "Vertex",
    "Unable to submit request because the input token count is 40000 but model only supports up to 32768. Reduce the input token count and try again.",
    input(32768, 40000, 40000),
  ],
  [
    "Mistral",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    input(32768, 40000),
  ],
  ["Bedrock", "Input is too long for requested model.", input()],
  [
    "xAI, Bedrock",
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    input(131072, 150000),
  ],
  [
    "Cohere",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt, or switching to a model with longer context limits.",
    input(4081, 5000),
  ],
  [
    "OpenRouter",
    'This endpoint\'s maximum context length is 8192 tokens. However, you requested about 9001 tokens (8000 of text input, 1001 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
    input(8192, 9001, 8000),
  ],
  ["Ollama", "the input length exceeds the context length", input()],
  ["Ollama, cloud", "prompt too long; exceeded max context length by 512 tokens", input()],
  [
    "Together, TGI",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9001 `inputs` tokens and 512 `max_new_tokens`",
    input(8193, 9001, 9001),
  ],
  ["Fireworks", "The prompt is too long: 9001, model maximum context length: 8191", input(8191, 9001)],
  [
    "Workers AI",
    "AiError: 5021: The estimated number of input and maximum output tokens (9001) exceeded this model context window limit (7968).",
    input(7968, 9001),
  ],
  [
    "Moonshot",
    "Invalid request: Your request exceeded model token limit: 8192 (requested: 9001)",
    input(8192, 9001),
  ],
  ["Z.ai", "Prompt exceeds max length", input()],
  ["DashScope", "Range of input length should be [1, 30720]", input(30720)],
  ["MiniMax", "invalid params, context window exceeds limit (2013)", input()],
  ["Copilot", "prompt token count of 130000 exceeds the limit of 128000", input(128000, 130000)],
  ["TabbyAPI", "Prompt length 9001 is greater than max_seq_len 8192", input(8192, 9001)],
  ["a proxy", "Request Entity Too Large", input()],
  [
    "LiteLLM",
    "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    input(8192, 9001),
  ],
  [
    "OpenAI's reply",
    "max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.",
    output(2048, 4096),
  ],
  [
    "Anthropic's reply",
    "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
    output(8192, 9000),
  ],
  ["DeepSeek's reply", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", output(8192)],
  [
    "Groq's reply",
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
    output(8192),
  ],
  [
    "Cohere's reply",
    "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 5000.",
    output(4096, 5000),
  ],
  [
    "Gemini's reply",
    "Unable to submit request because it has a maxOutputTokens value of 70000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.",
    output(65536, 70000),
  ],
  ["FastAPI's reply", "body.max_tokens: Input should be less than or equal to 1024", output(1024)],
  ["DashScope's reply", "Range of max_tokens should be [1, 8192]", output(8192)],
  [
    "Bedrock's reply",
    "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
    output(4096),
  ],
  [
    "OpenRouter's credit",
    "This request requires more credits, or fewer max_tokens. You requested up to 4096 tokens, but can only afford 1200. To increase, visit the settings page and upgrade to a paid account",
    output(1200, 4096),
  ],
  ["general words", "Requested tokens (9001) exceed context window of 8192", input(8192, 9001)],
  ["general words", "Token limit exceeded: 9001 > 8192", input(8192, 9001)],
  ["general words", "prompt has 9001 tokens, but the maximum is 8192", input(8192, 9001)],
  ["general words", "Your message is too long. Maximum 8192 tokens.", input(8192)],
  ["general words", "The conversation is too long for this model", input()],
  ["general words", "the prompt does not fit into the context", input()],
  ["general words", "Request body too large for gpt-4o-mini model. Max size: 8000 tokens.", input(8000)],
  [
    "general words of a reply",
    "The requested max_tokens 4096 is above the model's limit 2048",
    output(2048, 4096),
  ],
  ["general words of a reply", "max_new_tokens must be smaller than 2048", output(2048)],
];

test.each(SAID)("L13: %s: %s", (_endpoint, words, expected) => {
  expect(parseTooLong(words)).toEqual(expected);
  // As the client's errors quote it.
  expect(parseTooLong(`the model endpoint answered 400: ${words}`)).toEqual(expected);
});

test.each([
  "Incorrect API key provided: sk-1234. You can find your API key at https://platform.openai.com/account/api-keys.",
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  "max_tokens must be at least 1, got 0.",
  "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
  "`max_tokens` must be greater than `thinking.budget_tokens`.",
  "max_tokens: Extra inputs are not permitted",
  "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 1500. Please try again in 1s.",
  "Rate limit reached for model `llama-3.3-70b` on tokens per day (TPD): Limit 100000, Used 99000, Requested 2000. Please try again in 14m24s.",
  "Too many requests, please slow down",
  "You exceeded your current quota, please check your plan and billing details.",
  "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 64 instead.",
  "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.",
  "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
  "At least one of the image dimensions exceed max allowed size: 8000 pixels",
  "The model `gpt-9` does not exist or you do not have access to it.",
  "Invalid schema for function 'read': maxLength 2001 exceeds the maximum of 2000",
  "invalid token",
  "The token has expired",
  "the model's reply is longer than 500,000 characters, and none of it was kept; a lower MAX_TOKENS bounds it",
  "the model m reached MAX_TOKENS before it said anything",
  "temperature: Input should be less than or equal to 1",
  "Too many tools: at most 64 are supported",
  "the model endpoint at 127.0.0.1:11434 sent nothing for 120 s (MODEL_FIRST_BYTE_MS says how long to wait)",
  "Missing required parameter: 'max_tokens'.",
  "",
])("L13: another fault: %s", (words) => {
  expect(parseTooLong(words)).toBeUndefined();
});
