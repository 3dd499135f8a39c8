/** Bodies that are almost valid, which a careless parser would accept. */
import fc from "fast-check";

const anything = fc.oneof(fc.string(), fc.constant(null), fc.integer(), fc.jsonValue({ maxDepth: 2 }));
const part = fc.record(
  {
    type: fc.oneof(fc.constantFrom("text", "image_url", "input_text", "input_image", "file"), anything),
    text: anything,
    image_url: fc.oneof(anything, fc.record({ url: fc.oneof(fc.webUrl(), fc.string()) })),
  },
  { requiredKeys: [] },
);
/** Also ids in the gateway's own form. */
const callId = fc.constantFrom("a", "b", `ec__${"0".repeat(12)}`, `ec_${"A".repeat(22)}_${"f".repeat(12)}`);
const ownTool = fc.record(
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
/** Of no turn, in a named conversation and in a chat without a name. */
const itemId = fc.constantFrom(
  ...["msg", "fc"].flatMap((kind) =>
    ["", "A".repeat(22)].map((chat) => `${kind}_${"0".repeat(32)}${chat}_0`),
  ),
);
const message = fc.record(
  {
    role: fc.oneof(fc.constantFrom("user", "assistant", "system", "developer", "tool"), fc.string()),
    content: fc.oneof(anything, fc.array(part, { maxLength: 3 })),
    type: fc.constantFrom("message", "function_call", "function_call_output", "reasoning", "item_reference"),
    id: fc.oneof(anything, itemId),
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
const openaiRecord = fc.record(
  {
    model: anything,
    messages: fc.array(message, { maxLength: 4 }),
    input: fc.oneof(fc.string(), fc.array(message, { maxLength: 4 })),
    n: anything,
    stream: fc.oneof(fc.boolean(), anything),
    user: anything,
    metadata: anything,
    tools: fc.oneof(anything, fc.array(ownTool, { maxLength: 3 })),
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
/**
 * Bodies of chat completions and of responses. Some are real questions and would begin a turn if no other field
 * prevented it.
 */
export const openaiBody: fc.Arbitrary<string> = fc.oneof(
  openaiRecord.map((value) => JSON.stringify(value)),
  fc.json(),
  fc.string(),
);
export const openaiHeader = fc.record({
  name: fc.constantFrom(
    "x-edge-conversation",
    "x-openwebui-chat-id",
    "idempotency-key",
    "x-stainless-retry-count",
  ),
  value: fc.string({ unit: fc.constantFrom(..."ab/.:@{}%-_ ~"), maxLength: 150 }),
});

const VERSION = "io.modelcontextprotocol/protocolVersion";
const mcpMessage = fc.record(
  {
    jsonrpc: fc.oneof(fc.constant("2.0"), fc.jsonValue()),
    id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
    method: fc.oneof(
      fc.constantFrom(
        "initialize",
        "tools/list",
        "tools/call",
        "server/discover",
        "ping",
        "subscriptions/listen",
      ),
      fc.constantFrom(
        "notifications/cancelled",
        "notifications/initialized",
        "logging/setLevel",
        "tasks/get",
      ),
      fc.string(),
    ),
    params: fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          name: fc.oneof(
            fc.constantFrom("edge_call", "edge_list", "edge_result", "pi__cpu", "__proto__"),
            fc.string(),
          ),
          arguments: fc.oneof(
            fc.jsonValue(),
            fc.record({
              agent_id: fc.oneof(fc.constant("nobody"), fc.jsonValue()),
              query: fc.jsonValue(),
              call_id: fc.jsonValue(),
            }),
          ),
          protocolVersion: fc.oneof(fc.constantFrom("2025-06-18", "2026-07-28"), fc.jsonValue()),
          _meta: fc.oneof(
            fc.record({ progressToken: fc.jsonValue(), [VERSION]: fc.constantFrom("2026-07-28", "x") }),
            fc.jsonValue(),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);
export const mcpBody: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: mcpMessage.map((message) => JSON.stringify(message)) },
  { weight: 1, arbitrary: fc.array(mcpMessage, { maxLength: 3 }).map((batch) => JSON.stringify(batch)) },
  { weight: 2, arbitrary: fc.oneof(fc.json(), fc.string()) },
);
export const mcpHeaders = fc.record(
  {
    "mcp-protocol-version": fc.constantFrom("2025-06-18", "2026-07-28", "2024-11-05", "x", ""),
    "mcp-method": fc.constantFrom("tools/call", "tools/list", "x"),
    "mcp-session-id": fc.constantFrom("a", ""),
    "last-event-id": fc.constantFrom("1", "x"),
  },
  { requiredKeys: [] },
);
