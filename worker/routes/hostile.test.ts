import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { script } from "../../test/scripted-model.ts";
import { until } from "../../test/wait.ts";
import { agent, ask, say, TestBridge } from "../../test/workerd.ts";
import { edgeCallDefinition } from "../api/edge-call.ts";
import { oneLine } from "../api/roster.ts";
import { outcomeOf } from "../home/calls/outcome.ts";

/** Bounded, so that the suite stays quick; a failure prints its seed and path. */
const RUNS = 200;

describe("what a stranger sends", () => {
  test("any body, on any route: an error with words, never a 5xx, never a turn", async () => {
    const routes = [
      "/v1/conversations/fuzz/messages",
      "/v1/agents/pi/commands",
      "/ask",
      "/v1/conversations/fuzz/turns/x/cancel",
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...routes),
        fc.oneof(fc.json(), fc.string(), fc.constant("")),
        async (path, body) => {
          // "/ask" takes any text as a question: only what is none is sent there.
          const response = await ask(path, {
            method: "POST",
            body: path === "/ask" ? " ".repeat(body.length) : body,
          });
          expect(response.status).toBeGreaterThanOrEqual(400);
          expect(response.status).toBeLessThan(500);
          expect(await response.json()).toMatchObject({
            error: { code: expect.any(String), message: expect.any(String) },
          });
        },
      ),
      { numRuns: RUNS },
    );
    expect((await ask("/v1/conversations/fuzz")).status).toBe(404);
  });

  test("any token is refused before an object is woken", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom(..."aZ09-._~+/= "), maxLength: 300 }),
        async (token) => {
          const response = await ask("/v1/agents", {
            token: null,
            headers: { authorization: `Bearer ${token}` },
          });
          expect(response.status).toBe(401);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test("a command so deep that passing it on would fall, and MCP's, are refused", async () => {
    const deep = "[".repeat(60_000) + "]".repeat(60_000);
    const headers = { "content-type": "application/json" };
    for (const [path, body] of [
      ["/v1/agents/pi/commands", `{"command":"tool","payload":{"a":${deep}}}`],
      ["/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":${deep}}}`],
    ] as const) {
      const response = await ask(path, { method: "POST", headers, body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringContaining("in one another") },
      });
    }
  });

  test("a body that breaks off is the client's fault", async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error("hung up")),
    });
    const response = await ask("/v1/conversations/fuzz/messages", { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_body" } });
  });

  test("any frame of a bridge: the home goes on", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = () => ({ status: "success", tool: "cpu", result: "load 0.5" });
    const frame = fc.oneof(
      fc.json(),
      fc.string(),
      fc.record({
        t: fc.constantFrom("hello", "snapshot", "agent", "gone", "taken", "refused", "event", "report"),
        id: fc.option(fc.string()),
        agent: fc.anything(),
        payload: fc.option(fc.json()),
        code: fc.option(fc.constantFrom("expired", "x")),
        message: fc.option(fc.string()),
        agents: fc.anything(),
        last: fc.boolean(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(frame, async (value) => {
        bridge.raw(typeof value === "string" ? value : JSON.stringify(value));
      }),
      { numRuns: RUNS },
    );
    bridge.send({ t: "snapshot", agents: [agent("pi")], last: true });
    await until(
      async () => ((await (await ask("/v1/agents/pi")).json()) as { online?: boolean }).online === true,
    );
    const { body } = await say(
      "after-fuzz",
      script({ calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] }, { text: "$results" }),
    );
    expect(body.answer).toBe("load 0.5");
  });
});

describe("properties", () => {
  test("any report's payload becomes a bounded outcome", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.anything()),
        fc.constantFrom("result", "error", "other" as const),
        (payload, type) => {
          const outcome = outcomeOf(
            { type: type as "result", requestId: "r", payload: JSON.parse(JSON.stringify(payload)) },
            1,
            { agent: "pi", advert: undefined },
          );
          expect(typeof outcome.text).toBe("string");
          expect(new TextEncoder().encode(outcome.text).length).toBeLessThan(52_000);
          if (outcome.status === "error") expect(outcome.errorType).toBeDefined();
        },
      ),
    );
  });

  test("an advert stays on one line, whatever is in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 100 }), (text, max) => {
        const line = oneLine(text, max);
        expect(line.length).toBeLessThanOrEqual(max);
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }),
    );
  });

  test("an agent's line in the tool's description is one line, and its action names are at most 200 characters", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/), { maxLength: 50 }), (actions) => {
        const pi = {
          id: "pi",
          online: true,
          reason: undefined,
          lastSeen: 1,
          line: "x",
          actions,
          queues: [],
          hasModel: true,
          foreign: false,
        };
        const description =
          edgeCallDefinition({ bridgeOnline: true, agents: [pi] })?.function.description ?? "";
        expect(description.split("\n")).toHaveLength(2);
        const names = /\[actions: (.*?)(, …)?\]$/.exec(description)?.[1] ?? "";
        expect(names.length).toBeLessThanOrEqual(200);
      }),
    );
  });
});
