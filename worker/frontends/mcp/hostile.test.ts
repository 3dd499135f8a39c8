import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { call, post, tools } from "../../../test/mcp-requests.ts";
import { agent, CPU, TestBridge } from "../../../test/workerd.ts";

// The first request loads the Worker, module by module: without a bundle that takes longer than a test may.
beforeAll(async () => void (await tools()), 30_000);

/** Bounded, so that the suite stays quick; a failure prints its seed and path. */
const RUNS = 300;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const VERSION = "io.modelcontextprotocol/protocolVersion";
const lookalike = fc.record(
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
const body = fc.oneof(
  { weight: 6, arbitrary: lookalike.map((message) => JSON.stringify(message)) },
  { weight: 1, arbitrary: fc.array(lookalike, { maxLength: 3 }).map((batch) => JSON.stringify(batch)) },
  { weight: 2, arbitrary: fc.oneof(fc.json(), fc.string()) },
);
const headers = fc.record(
  {
    "mcp-protocol-version": fc.constantFrom("2025-06-18", "2026-07-28", "2024-11-05", "x", ""),
    "mcp-method": fc.constantFrom("tools/call", "tools/list", "x"),
    "mcp-session-id": fc.constantFrom("a", ""),
    "last-event-id": fc.constantFrom("1", "x"),
  },
  { requiredKeys: [] },
);

test("any message: an answer or a refusal, never a 5xx, and no device hears of it", async () => {
  const bridge = await TestBridge.connect([agent("pi", { online: false, tools: [CPU] })]);
  await fc.assert(
    fc.asyncProperty(body, headers, async (text, extra) => {
      const { status, text: said } = await post(text, { headers: extra });
      expect(status, said).toBeGreaterThanOrEqual(200);
      expect(status, said).toBeLessThan(500);
      expect(said).not.toMatch(/\bat .*\.(m?js|ts):\d+/);
    }),
    { numRuns: RUNS },
  );
  expect(bridge.calls()).toEqual([]);
});

test("any advert: the list of tools stays one that clients take", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom(..."aZ0_-"), minLength: 1, maxLength: 64 }),
      fc.string({ unit: "binary", maxLength: 500 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      async (name, description, parameters) => {
        await bridge.snapshot([agent("pi", { tools: [CPU, { name, description, parameters }] })]);
        const listed = await tools();
        expect(listed.length).toBeGreaterThanOrEqual(4);
        expect(new Set(listed.map((tool) => tool.name)).size).toBe(listed.length);
        for (const tool of listed) {
          expect(tool.name).toMatch(NAME);
          expect(tool.inputSchema.type).toBe("object");
          if (!tool.name.startsWith("edge_")) expect(tool.description).not.toMatch(/[\n\r\u2028]/);
        }
        expect((await call("edge_list", { agent_id: "pi" })).isError).toBeUndefined();
      },
    ),
    { numRuns: 60 },
  );
});
