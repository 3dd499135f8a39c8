/** Invalid JSON-RPC of many kinds, and calls of tools that do not exist. */
import fc from "fast-check";
import { deep, headerText, noJson, oddText, oddValue, POLLUTING } from "../corpus.ts";
import { mcpBody, mcpHeaders } from "../lookalikes.ts";
import { bearer, type HostileRequest, type HttpRequest, http, json } from "../request.ts";
import { TOKENS } from "../world.ts";

const HEADERS = {
  ...bearer(TOKENS.owner),
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};
const post = (body: Buffer, more: Partial<HttpRequest> = {}) =>
  http("mcp", "/mcp", { headers: HEADERS, body, may: "answered", ...more });

const METHODS = [
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "server/discover",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "prompts/list",
  "sampling/createMessage",
  "notifications/initialized",
  "notifications/cancelled",
  "subscriptions/listen",
  "completion/complete",
  "logging/setLevel",
];
const rpc = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant("2.0") }, { weight: 1, arbitrary: oddValue }),
    id: fc.oneof(fc.integer(), fc.string({ maxLength: 20 }), oddValue),
    method: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...METHODS, ...POLLUTING) },
      { weight: 1, arbitrary: oddValue },
    ),
    params: fc.oneof(
      oddValue,
      fc.record(
        {
          protocolVersion: fc.oneof(fc.constantFrom("2025-06-18", "2026-07-28"), oddValue),
          capabilities: oddValue,
          clientInfo: oddValue,
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          name: fc.oneof(fc.constantFrom("edge_list", "edge_result", "nobody__read", ...POLLUTING), oddText),
          arguments: oddValue,
          cursor: oddValue,
          uri: oddValue,
          _meta: oddValue,
        },
        { requiredKeys: [] },
      ),
    ),
    result: oddValue,
    error: oddValue,
  },
  { requiredKeys: [] },
);
/** Calls for an unknown agent: refused with an error text, whatever their other parameters are. */
const call = fc
  .record(
    {
      agent_id: fc.oneof(fc.constantFrom("nobody", "a".repeat(65)), oddValue),
      query: oddValue,
      action: oddValue,
      params: oddValue,
      more: oddValue,
    },
    { requiredKeys: [] },
  )
  .map((args) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "edge_call", arguments: args },
  }));

export const mcp: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(rpc, call).map((message) => post(json(message))) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(mcpBody, mcpHeaders)
      .map(([text, headers]) => post(json(text), { headers: { ...HEADERS, ...headers } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.oneof(rpc, oddValue), { maxLength: 4 })
      .map((batch) => post(json(JSON.stringify(batch)), { may: "refused" })),
  },
  { weight: 1, arbitrary: noJson.map((body) => post(body, { may: "refused" })) },
  { weight: 1, arbitrary: oddValue.map((value) => post(json(JSON.stringify(value)))) },
  {
    weight: 1,
    arbitrary: deep.map((value) =>
      post(
        json(
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edge_call","arguments":{"agent_id":"nobody","action":"x","params":{"a":${value}}}}}`,
        ),
      ),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .record(
        {
          "content-type": headerText,
          accept: headerText,
          "mcp-session-id": headerText,
          "mcp-protocol-version": headerText,
          origin: headerText,
          "edgecall-wait": headerText,
        },
        { requiredKeys: [] },
      )
      .chain((headers) => rpc.map((message) => post(json(message), { headers: { ...HEADERS, ...headers } }))),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("GET", "DELETE", "PUT", "PATCH")
      .map((method) => post(json("{}"), { method, body: method === "GET" ? undefined : json("{}") })),
  },
);
