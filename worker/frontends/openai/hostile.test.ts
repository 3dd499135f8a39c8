import fc from "fast-check";
import { expect, test } from "vitest";
import { post } from "../../../test/openai-requests.ts";
import { ask } from "../../../test/workerd.ts";

/** Bounded, so that the suite stays quick; a failure prints its seed and path. */
const RUNS = 150;
const PATHS = ["/v1/chat/completions", "/v1/responses"];

/** Near to what is right: what a parser that is careless would let through. */
const anything = fc.oneof(fc.string(), fc.constant(null), fc.integer(), fc.jsonValue({ maxDepth: 2 }));
const part = fc.record(
  {
    type: fc.oneof(fc.constantFrom("text", "image_url", "input_text", "input_image", "file"), anything),
    text: anything,
    image_url: fc.oneof(anything, fc.record({ url: fc.oneof(fc.webUrl(), fc.string()) })),
  },
  { requiredKeys: [] },
);
/** Also such as we give out. */
const callId = fc.constantFrom("a", "b", `ec__${"0".repeat(12)}`, `ec_${"A".repeat(22)}_${"f".repeat(12)}`);
const tool = fc.record(
  {
    type: fc.oneof(fc.constantFrom("function", "custom"), anything),
    name: anything,
    parameters: anything,
    function: fc.oneof(
      anything,
      fc.record({ name: fc.oneof(fc.constantFrom("f", "edge_call"), anything), parameters: anything }),
    ),
  },
  { requiredKeys: [] },
);
const message = fc.record(
  {
    role: fc.oneof(fc.constantFrom("user", "assistant", "system", "developer", "tool"), fc.string()),
    content: fc.oneof(anything, fc.array(part, { maxLength: 3 })),
    type: fc.constantFrom("message", "function_call", "function_call_output", "reasoning"),
    tool_calls: fc.oneof(
      anything,
      fc.array(
        fc.record({
          id: fc.oneof(anything, callId),
          function: fc.oneof(anything, fc.record({ name: anything, arguments: anything })),
        }),
        { maxLength: 3 },
      ),
    ),
    tool_call_id: fc.oneof(anything, callId),
    call_id: fc.oneof(anything, callId),
    name: anything,
    arguments: anything,
    output: anything,
  },
  { requiredKeys: [] },
);
const body = fc.record(
  {
    model: anything,
    messages: fc.array(message, { maxLength: 4 }),
    input: fc.oneof(fc.string(), fc.array(message, { maxLength: 4 })),
    n: anything,
    stream: fc.oneof(fc.boolean(), anything),
    user: anything,
    metadata: anything,
    tools: fc.oneof(anything, fc.array(tool, { maxLength: 3 })),
    tool_choice: fc.oneof(
      anything,
      fc.constantFrom("required", "none"),
      fc.record({
        type: fc.constantFrom("function", "allowed_tools"),
        name: anything,
        function: anything,
        tools: anything,
      }),
    ),
    parallel_tool_calls: anything,
    conversation: anything,
    previous_response_id: anything,
    response_format: fc.oneof(
      anything,
      fc.record({ type: fc.constant("json_schema"), json_schema: anything }),
    ),
    text: anything,
  },
  { requiredKeys: [] },
);
const header = fc.string({ unit: fc.constantFrom(..."ab/.:@{}%-_ ~"), maxLength: 150 });

test("any body and any names: never a 5xx, and an error is one of OpenAI's", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PATHS),
      fc.oneof(
        body.map((value) => JSON.stringify(value)),
        fc.json(),
        fc.string(),
      ),
      fc.constantFrom(
        "x-edge-conversation",
        "x-openwebui-chat-id",
        "idempotency-key",
        "x-stainless-retry-count",
      ),
      header,
      async (path, text, name, value) => {
        const response = await post(path, text, { headers: { [name]: value } });
        const answer = await response.text();
        expect(response.status).toBeLessThan(500);
        if (response.status < 400) return;
        expect(JSON.parse(answer)).toMatchObject({
          error: { message: expect.any(String), type: expect.any(String), code: expect.any(String) },
        });
      },
    ),
    { numRuns: RUNS },
  );
});

test("without a token nothing is read", async () => {
  for (const path of PATHS) expect((await post(path, "{", { token: null })).status).toBe(401);
  for (const path of ["/v1/responses/x", "/v1/models", "/v1/models/x"])
    expect((await ask(path, { token: null })).status).toBe(401);
});

test("ids of responses and of pictures that are none", async () => {
  const id = fc.string({
    unit: fc.constantFrom(..."resp_0123456789abcdefXYZ.-~"),
    minLength: 1,
    maxLength: 120,
  });
  await fc.assert(
    fc.asyncProperty(id, id, async (one, mac) => {
      for (const path of [`/v1/responses/x${one}`, `/v1/responses/resp_${one}?stream=true`])
        expect((await ask(path)).status).toBeGreaterThanOrEqual(400);
      const linked = await ask(`/v1/media/x${one}?home=a&until=1799999999&mac=${mac}`, { token: null });
      expect(linked.status).toBe(404);
    }),
    { numRuns: RUNS },
  );
});

test("what is nested without end is refused", async () => {
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  const bodies = [
    `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":${deep}}}}`,
    `{"messages":[{"role":"user","content":${deep}}]}`,
  ];
  for (const one of bodies) expect((await post("/v1/chat/completions", one)).status).toBe(400);
  const metadata = `{"input":"x","metadata":{"a":${deep}},"background":true}`;
  expect((await post("/v1/responses", metadata)).status).toBe(400);
});

test("a route that is not there is one of OpenAI's errors below their addresses", async () => {
  for (const [method, path, status, code] of [
    ["GET", "/v1/chat/completions", 405, "method_not_allowed"],
    ["PUT", "/v1/responses/resp_1/x", 404, "not_found"],
    ["DELETE", "/v1/models/scripted", 405, "method_not_allowed"],
  ] as const) {
    const response = await ask(path, { method });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", code, message: expect.stringContaining(path) },
    });
  }
});
