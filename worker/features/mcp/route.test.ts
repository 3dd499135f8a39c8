import { GATEWAY_TOOLS, MCP_GATEWAY_KEY } from "@edgecall/core/protocol/names.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { post, rpc, tools } from "../../../test/mcp-requests.ts";
import { theHome } from "../../../test/states.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { agent, ask, CPU, SIREN, TestBridge } from "../../../test/workerd.ts";

// The first request loads the Worker module by module, which takes longer without a bundle than a test may.
beforeAll(async () => void (await tools()), 30_000);

const initialize = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};
const modern = (method: string, params: object = {}) => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
  return post({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }, { headers });
};

describe("access", () => {
  test("no token, a token that may not ask, a page of another origin", async () => {
    expect((await rpc("tools/list", {}, { token: null })).status).toBe(401);
    expect((await rpc("tools/list", {}, { token: TOKENS.bridge })).status).toBe(401);
    const stranger = await rpc("tools/list", {}, { headers: { origin: "https://evil.example" } });
    expect(stranger.status).toBe(403);
    expect(stranger.text).toContain("MCP_ORIGINS");
    expect((await rpc("tools/list", {}, { headers: { origin: "https://gateway" } })).status).toBe(200);
  });

  test("a caller that may only ask sees no actions, and cannot call one", async () => {
    await TestBridge.connect([agent("pi", { tools: [CPU, SIREN] })]);
    const mine = (await tools()).map(({ name }) => name);
    expect(mine).toEqual(["edge_list", "edge_call", "edge_result", "pi__cpu", "pi__siren"]);
    const guests = await tools({ token: TOKENS.guest });
    expect(guests.map(({ name }) => name)).toEqual(["edge_list", "edge_call", "edge_result"]);
    // By these an agent sees that another server passes its own gateway on.
    expect(guests.map(({ name }) => name)).toEqual(expect.arrayContaining([...GATEWAY_TOOLS]));
    expect(guests[1]?.inputSchema.properties).not.toHaveProperty("action");
    const byName = await rpc("tools/call", { name: "pi__cpu" }, { token: TOKENS.guest });
    expect(byName.error?.code).toBe(-32_602);
    const action = { name: "edge_call", arguments: { agent_id: "pi", action: "cpu" } };
    const refused = await rpc("tools/call", action, { token: TOKENS.guest });
    expect(refused.result).toMatchObject({ isError: true });
    expect(refused.result?.content[0]?.text).toContain("lacks the scope 'command'");
  });

  test("another home's agents are invisible", async () => {
    await TestBridge.connect([agent("pi")]);
    const others = await tools({ token: TOKENS.otherHome });
    expect(others.map(({ name }) => name)).toEqual(["edge_list", "edge_call", "edge_result"]);
    const call = { name: "edge_call", arguments: { agent_id: "pi", action: "cpu" } };
    const { result } = await rpc("tools/call", call, { token: TOKENS.otherHome });
    expect(result?.content[0]?.text).toContain("Agent 'pi' not found");
  });
});

describe("the protocol", () => {
  test("a client of 2025 connects, without a session", async () => {
    const { status, messages } = await post({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: initialize,
    });
    expect(status).toBe(200);
    expect(messages[0]?.result).toMatchObject({
      protocolVersion: "2025-06-18",
      serverInfo: { name: "edgecall" },
      // By it an agent knows its own gateway.
      _meta: { [MCP_GATEWAY_KEY]: await theHome()["agents.publicKey"]() },
    });
    const begun = await post({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect([begun.status, begun.text]).toEqual([202, ""]);
    for (const method of ["GET", "DELETE"]) expect((await ask("/mcp", { method })).status).toBe(405);
  });

  test("a client of 2026-07-28 discovers and lists", async () => {
    const discovered = await modern("server/discover");
    expect(discovered.messages[0]?.result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    const listed = await modern("tools/list");
    expect(listed.status).toBe(200);
    expect(listed.messages[0]?.result).toMatchObject({ cacheScope: "private", ttlMs: 30_000 });
  });

  test("no stream stays open for changes", async () => {
    const { messages, text } = await modern("subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    expect(messages[0]?.error?.message, text).toMatch(/limit/i);
  });

  test.each([
    ["not JSON", "{", 400, -32_700],
    ["no UTF-8 text", '"\\ud800', 400, -32_700],
    ["a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }], 400, -32_600],
    ["an empty batch", [], 400, -32_600],
    ["no message", "null", 400, -32_600],
    ["a message of nothing", {}, 400, undefined],
    ["a method that is none", { jsonrpc: "2.0", id: 1, method: "logging/setLevel" }, 200, -32_601],
    [
      "a tool that is none",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x" } },
      200,
      -32_602,
    ],
    ["a call of nothing", { jsonrpc: "2.0", id: 1, method: "tools/call", params: {} }, 200, -32_602],
  ])("%s is refused", async (_, message, status, code) => {
    const answer = await post(message);
    expect(answer.status, answer.text).toBe(status);
    expect(answer.messages[0]?.error).toBeDefined();
    if (code !== undefined) expect(answer.messages[0]?.error?.code).toBe(code);
  });

  test("an unknown version, a body that is too large, a type that is not JSON", async () => {
    const headers = { "mcp-protocol-version": "1999-01-01" };
    expect((await rpc("tools/list", {}, { headers })).status).toBe(400);
    expect((await rpc("tools/list", { x: "y".repeat(300_000) })).status).toBe(413);
    expect((await post("{}", { headers: { "content-type": "text/plain" } })).status).toBe(415);
  });
});
