/** Requests of OpenAI's clients with one required field invalid. */
import fc from "fast-check";
import { broken, deep, headerText, noJson, not, oddText, oddValue, POLLUTING, pathPart } from "../corpus.ts";
import { openaiBody, openaiHeader } from "../lookalikes.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";
import { TOKENS } from "../world.ts";

const OWNER = bearer(TOKENS.owner);
const user = (content: unknown) => [{ role: "user", content }];
const part = fc.constantFrom<unknown>(
  { type: "file", file: {} },
  { type: "image_url", image_url: { url: "file:///etc/passwd" } },
  { type: "image_url", image_url: { url: "data:image/svg+xml;base64,AAAA" } },
  { type: "image_url", image_url: { url: "data:image/png;base64,!" } },
  { type: "input_audio" },
  { type: "__proto__" },
  {},
);
/** Never a valid message of a person. */
const invalidMessages = fc.oneof(
  not("array", "string"),
  fc.constantFrom<unknown>(
    "",
    " ",
    [],
    [{}],
    [null],
    user(""),
    user(null),
    user([]),
    [{ role: "assistant", content: "x" }],
    [{ role: "system", content: "x" }],
  ),
  fc.array(part, { minLength: 1, maxLength: 3 }).map(user),
  not("string", "array", "null").map(user),
  fc.constantFrom(...POLLUTING).map((role) => [{ role, content: "x" }]),
  fc.constant(user("x".repeat(100_001))),
);
const chat = { model: "edgecall", messages: user("x") };
const response = { model: "edgecall", input: "x" };

/** A client's tools: invalid ones, and one with the name of a gateway tool. */
const badTools = {
  tools: fc.oneof(
    not("array", "null"),
    fc.constantFrom<unknown>(
      [{}],
      [null],
      [{ type: "function", function: { name: "edge_call" } }],
      [{ type: "function", name: "a b" }],
    ),
  ),
  tool_choice: fc.constantFrom<unknown>(
    "perhaps",
    5,
    [],
    {},
    { type: "function", function: { name: "none" } },
  ),
};

const body = fc.oneof(
  fc.tuple(
    fc.constant("/v1/chat/completions"),
    fc.oneof(
      noJson,
      broken(chat, {
        messages: fc.oneof(invalidMessages, not("array")),
        n: fc.constantFrom<unknown>(2, 0, -1, "1", [], true),
        stream: not("boolean", "null"),
        model: not("string", "null"),
        user: not("string", "null"),
        ...badTools,
      }),
      deep.map((value) => json(`{"messages":${value}}`)),
      deep.map((value) => json(`{"messages":[],"tools":${value}}`)),
    ),
  ),
  fc.tuple(
    fc.constant("/v1/responses"),
    fc.oneof(
      noJson,
      broken(response, {
        input: invalidMessages,
        previous_response_id: fc.oneof(
          not("string", "null"),
          oddText.filter((text) => text !== ""),
          fc.constant(`resp_${"0".repeat(40)}eA`),
        ),
        conversation: fc.constantFrom<unknown>(5, true, [], {}, { id: 5 }),
        metadata: not("object", "null"),
        text: not("object", "null"),
        ...badTools,
      }),
      deep.map((value) => json(`{"input":${value}}`)),
    ),
  ),
);
const strange = fc.record(
  {
    "x-stainless-lang": headerText,
    "openai-organization": headerText,
    "x-edge-trace": headerText,
    "content-type": headerText,
    accept: headerText,
  },
  { requiredKeys: [] },
);

const made = fc
  .tuple(fc.stringMatching(/^[0-9a-f]{40}$/), oddText)
  .map(([hex, text]) => `resp_${hex}${Buffer.from(text).toString("base64url")}`);

/** The gateway checks this header last before it begins a turn, so a body with a real question gets no further. */
const NO_TURN = { "idempotency-key": "x".repeat(201) };
const responseId = fc.string({
  unit: fc.constantFrom(..."resp_0123456789abcdefXYZ.-~"),
  minLength: 1,
  maxLength: 120,
});

export const openai: fc.Arbitrary<HostileRequest> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(body, strange)
      .map(([[path, bytes], headers]) =>
        http("openai", path, { headers: { ...headers, ...OWNER }, body: bytes }),
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom("/v1/chat/completions", "/v1/responses"), openaiBody, openaiHeader)
      .map(([path, text, { name, value }]) =>
        http("openai", path, { headers: { [name]: value, ...NO_TURN, ...OWNER }, body: json(text) }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(responseId, fc.boolean())
      .map(([id, streams]) =>
        http("openai", `/v1/responses/${streams ? `resp_${id}?stream=true` : `x${id}`}`, { headers: OWNER }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("/v1/chat/completions", "/v1/responses").map((path) =>
      http("openai", path, {
        headers: { ...OWNER, "x-edge-conversation": "no such/name" },
        body: json({ ...chat, ...response }),
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.oneof(made, pathPart),
        fc.constantFrom("GET", "DELETE", "POST"),
        fc.oneof(
          fc.constant(""),
          oddValue.map(
            (value) =>
              `?stream=true&starting_after=${encodeURIComponent(String(JSON.stringify(value)).toWellFormed())}`,
          ),
        ),
      )
      .map(([id, method, rest]) =>
        http("openai", `/v1/responses/${id}${method === "POST" ? "/cancel" : ""}${rest}`, {
          method,
          headers: OWNER,
          may: "answered",
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: pathPart.map((id) => http("openai", `/v1/models/${id}`, { headers: OWNER, may: "answered" })),
  },
);
