/** What an endpoint refuses until it is asked in the form that it takes: parameters, histories, schemas, and thoughts that have to come back. */
import {
  type Body,
  type Cases,
  callsOnce,
  delta,
  each,
  final,
  finish,
  fn,
  inTurn,
  json,
  type Message,
  newId,
  type Outcome,
  pieces,
  type Reply,
  RUN_ONCE,
  refuse,
  resultsOf,
  say,
  stream,
  strict,
  wanted,
  words,
} from "./replies.ts";

/** It pays at most twice, and nothing where another case paid. */
const PAYS: Outcome = { ...RUN_ONCE, requests: [2, 4] };

const openAi = (message: string, more: object = {}) => ({
  error: { message, type: "invalid_request_error", ...more },
});
const fastApi = (name: string) => ({
  detail: [{ type: "extra_forbidden", loc: ["body", name], msg: "Extra inputs are not permitted", input: 1 }],
});

/** A parameter that is refused, in the words and with the status of endpoints. */
const PARAMETERS: Record<string, readonly [name: string, status: number, body: unknown]> = {
  "e-temp": ["temperature", 400, openAi("Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.", { param: "temperature", code: "unsupported_value" })],
  "e-temp422": ["temperature", 422, { error: { message: "temperature is not supported for reasoning models" } }],
  "e-tempdeprecated": ["temperature", 400, openAi("`temperature` is deprecated for this model.")],
  "e-tempfastapi": ["temperature", 422, fastApi("temperature")],
  "e-mct": ["max_tokens", 400, openAi("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", { param: "max_tokens", code: "unsupported_parameter" })],
  "e-mctonly": ["max_completion_tokens", 400, { error: { message: "max_completion_tokens unknown" } }],
  "e-mistral422so": ["stream_options", 422, { object: "error", message: fastApi("stream_options.include_usage"), type: "invalid_request_error", param: null, code: null }],
  "e-sofastapi": ["stream_options", 422, fastApi("stream_options")],
  "e-so400": ["stream_options", 400, openAi("Unrecognized request argument supplied: stream_options")],
  "e-so500": ["stream_options", 500, { error: { message: "unknown field: stream_options" } }],
}; // biome-ignore format: a table

const assistants = ({ messages }: Body) => messages.filter(({ role }) => role === "assistant");
const results = ({ messages }: Body) => messages.filter(({ role }) => role === "tool");
const callsOf = (message: Message) => message.tool_calls ?? [];
const isPicture = ({ content }: Message) =>
  Array.isArray(content) && content.some((part) => (part as { type: string }).type === "image_url");
const follows = (first: string, second: string, { messages }: Body) =>
  messages.some(({ role }, at) => role === second && messages[at - 1]?.role === first);

/** A history that is refused. */
const HISTORIES: Record<string, readonly [row: string, breach: (body: Body) => boolean, status: number, body: unknown]> = {
  "e-nullcontent": ["L9", (body) => assistants(body).some(({ content }) => content === null), 400, openAi("Invalid 'messages': message content must be a string, got null")],
  "e-nullgo": ["L9", (body) => assistants(body).some(({ content }) => content === null), 400, { error: { message: "invalid message content type: <nil>", type: "invalid_request_error" } }],
  "e-nullvalidation": ["L9", (body) => assistants(body).some(({ content }) => content === null), 422, { detail: [{ type: "string_type", loc: ["body", "messages", 2, "content"], msg: "Input should be a valid string", input: null }] }],
  "e-nulltemplate": ["L9", (body) => assistants(body).some(({ content }) => content === null), 500, { error: { code: 500, message: "can only concatenate str (not \"NoneType\") to str: message.content is null", type: "server_error" } }],
  "e-mistral-id": ["L9", (body) => assistants(body).some((it) => callsOf(it).some(({ id }) => !/^[A-Za-z0-9]{9}$/.test(id))), 400, { object: "error", message: "Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9.", type: "invalid_function_call", code: "3280" }],
  "e-gemini-name": ["L9", (body) => results(body).some(({ name }) => typeof name !== "string"), 400, [{ error: { code: 400, message: "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.", status: "INVALID_ARGUMENT" } }]],
  "e-nosystem": ["L9", ({ messages }) => messages.some(({ role }) => role === "system"), 400, openAi("System role not supported")],
  "e-nosystemgemma": ["L9", ({ messages }) => messages.some(({ role }) => role === "system"), 400, { error: { code: 400, message: "Developer instruction is not enabled for models/gemma-3-27b-it", status: "INVALID_ARGUMENT" } }],
  "e-alternate": ["L9", (body) => follows("user", "user", body), 400, { error: { message: "Conversation roles must alternate user/assistant/user/assistant/...", type: "BadRequestError", code: 400 } }],
}; // biome-ignore format: a table

/** Schemas that some endpoint refuses. @returns the place of the first one */
function inSchemas(body: Body, isRefused: (schema: Record<string, unknown>) => boolean): string | undefined {
  const has = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    (isRefused(value as Record<string, unknown>) || Object.values(value).some(has));
  return body.tools?.find((tool) => has(tool.function.parameters))?.function.name;
}

const SCHEMAS: Record<string, readonly [isRefused: (schema: Record<string, unknown>) => boolean, refused: (tool: string) => Reply]> = {
  "e-grammar": [({ maxLength }) => typeof maxLength === "number" && maxLength > 2_000, () => refuse(400, { error: { code: 400, message: "Failed to initialize samplers: failed to parse grammar", type: "invalid_request_error" } })],
  "e-gemini-type": [({ type }) => Array.isArray(type), (tool) => refuse(400, [{ error: { code: 400, message: `Invalid JSON payload received. Unknown name "type" at 'tools[0].${tool}': Proto field is not repeating, cannot start list.`, status: "INVALID_ARGUMENT" } }])],
  "e-pattern": [({ pattern }) => typeof pattern === "string", (tool) => refuse(400, openAi(`Invalid schema for function '${tool}': 'pattern' is not permitted.`))],
  "e-ref": [({ $ref }) => typeof $ref === "string", (tool) => refuse(400, openAi(`Invalid schema for function '${tool}': $ref is not supported.`))],
}; // biome-ignore format: a table

/** What the first reply carries has to come back with the second request. */
const REPLAYED: Record<string, readonly [first: (call: ReturnType<typeof fn>) => unknown[], isBack: (message: Message) => boolean, body: unknown]> = {
  "e-gemini-sig": [
    (call) => [delta({ role: "assistant", tool_calls: [{ index: 0, id: "function-call-123", type: "function", extra_content: { google: { thought_signature: "CvcQAWgSig" } }, function: call }] })],
    (it) => JSON.stringify(callsOf(it)).includes('"thought_signature":"CvcQAWgSig"'),
    [{ error: { code: 400, message: "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.", status: "INVALID_ARGUMENT" } }],
  ],
  "e-deepseek-rc": [
    (call) => [delta({ role: "assistant", reasoning_content: "I " }), delta({ reasoning_content: "call." }), pieces({ index: 0, id: "call_00_abc", type: "function", function: call })],
    (it) => it.reasoning_content === "I call.",
    openAi("Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls", { param: null, code: "invalid_request_error" }),
  ],
  "e-kimi-rc": [
    (call) => [delta({ role: "assistant", content: "", reasoning_content: "I call." }), pieces({ index: 0, id: "functions.x:0", type: "function", function: call })],
    (it) => it.reasoning_content === "I call." && callsOf(it)[0]?.id === "functions.x:0",
    openAi("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"),
  ],
  "e-details": [
    (call) => [delta({ reasoning_details: [{ type: "reasoning.text", text: "I ", index: 0, format: "anthropic-claude-v1" }] }), delta({ reasoning_details: [{ type: "reasoning.text", text: "call.", index: 0 }] }), delta({ reasoning_details: [{ type: "reasoning.text", signature: "sig", index: 0 }] }), pieces({ index: 0, id: newId(), type: "function", function: call })],
    (it) => JSON.stringify(it.reasoning_details) === JSON.stringify([{ type: "reasoning.text", text: "I call.", index: 0, format: "anthropic-claude-v1", signature: "sig" }]),
    { error: { code: 400, message: "Provider returned error", metadata: { raw: "reasoning_details must be passed back" } } },
  ],
  "e-minimax-think": [
    (call) => [words("<think>I call.</think>\n"), pieces({ index: 0, id: newId(), type: "function", function: call })],
    (it) => String(it.content).startsWith("<think>I call.</think>"),
    openAi("interleaved thinking: the think block of the last turn has to be kept"),
  ],
  "e-mistral-thinking": [
    (call) => [delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "I call." }] }] }), pieces({ index: 0, id: "abcdefgh1", type: "function", function: call })],
    (it) => JSON.stringify(it.content).includes('"thinking"'),
    { detail: "the thinking part is not there any more" },
  ],
}; // biome-ignore format: a table

/** A picture that comes with a question: refused, and answered without it. */
export const PICTURE_REFUSALS: Readonly<Record<string, Reply>> = {
  "openrouter": refuse(404, { error: { message: "No endpoints found that support image input", code: 404 } }),
  "llamacpp": refuse(500, { error: { code: 500, message: "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", type: "server_error" } }),
  "groq": refuse(400, openAi("'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : value must be a string)]")),
  "mistral": refuse(422, { object: "error", message: "Image content is not supported for this model", type: "invalid_request_error" }),
  "deepseek": refuse(400, openAi("Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 500")),
  "vllm": refuse(400, { object: "error", message: "At most 0 image(s) may be provided in one request.", type: "BadRequestError", code: 400 }),
  "ollama": refuse(500, { error: { message: "this model is missing data required for image input", type: "api_error" } }),
  "openai": refuse(400, openAi("Invalid content type. image_url is only supported by certain models.", { code: "invalid_request_error" })),
}; // biome-ignore format: a table

export const FORMS: Cases = {
  ...each(PARAMETERS, ([name, status, body]) => ({
    row: "L8",
    play: strict((asked) => asked[name] !== undefined && refuse(status, body)),
    outcome: PAYS,
  })),
  ...each(HISTORIES, ([row, isBreach, status, body]) => ({
    row,
    play: strict((asked) => isBreach(asked) && refuse(status, body)),
    outcome: PAYS,
  })),
  ...each(SCHEMAS, ([isRefused, refused]) => ({
    row: "L2",
    play: strict((asked) => {
      const tool = inSchemas(asked, isRefused);
      return tool !== undefined && refused(tool);
    }),
    outcome: RUN_ONCE,
  })),
  ...each(REPLAYED, ([first, isBack, body]) => ({
    row: "L1",
    play: inTurn(
      (asked) => stream(...first(fn(wanted(asked))), finish("tool_calls")),
      (asked) => {
        const last = assistants(asked.body).at(-1);
        return last && isBack(last) ? final(asked) : refuse(400, body);
      },
    ),
    outcome: RUN_ONCE,
  })),
  // Cerebras and Groq take `reasoning`, and refuse what they do not know.
  "e-extraforbidden": {
    row: "L1",
    play: inTurn(
      (asked) =>
        stream(
          delta({ reasoning: "I call." }),
          pieces({ index: 0, id: newId(), type: "function", function: fn(wanted(asked)) }),
          finish("tool_calls"),
        ),
      strict(
        (body) =>
          assistants(body).some((it) => "reasoning" in it) &&
          refuse(400, openAi("property 'messages.2.assistant.reasoning' is unsupported")),
        final,
      ),
    ),
    outcome: PAYS,
  },
  "e-onecall": {
    row: "L9",
    play: (asked) => {
      if (assistants(asked.body).some((it) => callsOf(it).length > 1))
        return refuse(400, openAi("This model only supports single tool-calls at once!"));
      if (resultsOf(asked.body) !== "") return final(asked);
      return stream(
        ...["1", "2"].map((n, index) =>
          pieces({ index, id: newId(), type: "function", function: fn(wanted(asked, n)) }),
        ),
        finish("tool_calls"),
      );
    },
    outcome: { runs: ["1", "2"], answer: "FINAL(did 1 | did 2)", requests: [2, 3] },
  },
  // A limit of steps has a note after the results, which is a person's message.
  "e-mistral-order": {
    row: "L9",
    play: (asked) => {
      if (follows("tool", "user", asked.body))
        return refuse(400, {
          object: "error",
          message: "Unexpected role 'user' after role 'tool'",
          type: "invalid_request_message_order",
          param: null,
          code: "3230",
        });
      if (!asked.body.tools?.length) return final(asked);
      const call = wanted(asked, String(asked.at));
      return stream(
        pieces({
          index: 0,
          id: newId().slice(-9),
          type: "function",
          function: { name: call.name, arguments: json(call) },
        }),
        finish("tool_calls"),
      );
    },
    outcome: {
      runs: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
      answer: /^FINAL\(did 0 \| .* \| did 9\)$/,
      requests: [11, 12],
    },
  },
  "e-picturesnever": {
    row: "L3",
    play: strict(
      ({ messages }) =>
        messages.some(isPicture) && refuse(404, openAi("No endpoints found that support image input")),
      callsOnce,
    ),
    outcome: RUN_ONCE,
  },
};

/** Answers a question, and refuses the pictures of its history. */
export const PICTURES: Cases = Object.fromEntries(
  Object.entries(PICTURE_REFUSALS).map(([name, refused]) => [
    `e-img${name}`,
    {
      row: "L3",
      play: strict(
        ({ messages }) => messages.some(isPicture) && refused,
        () => say("no picture seen"),
      ),
      outcome: { runs: [], answer: "no picture seen", requests: [1, 2] },
    },
  ]),
);
