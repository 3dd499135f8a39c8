/** A call that takes longer than an MCP client waits: claude.ai ends one after about 60 s, Claude Desktop after 4 min. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { byClock } from "../clock.ts";
import { TOKENS } from "../tokens.ts";
import { useStack } from "./stack.ts";

/** Longer than the gateway waits without progress, and shorter than the tool may take. */
const CALL_MS = byClock(57_000, 9_000);
/** The SDK's client gives up after 60 s. */
const GIVES_UP_MS = byClock(60_000, 8_000);
/** As Claude Code waits: since the last progress. */
const HEARS_WITHIN_MS = byClock(20_000, 8_000);
const PATIENT = { timeout: 150_000 };

const stack = useStack({ vars: { MCP_TRUSTED_TOKENS: "anna" } }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env, top: { tools: { enabled: ["slow"] } } });
  await stack.gateway.online("pi");
});

async function connect(): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  const headers = { authorization: `Bearer ${TOKENS.owner}` };
  const url = new URL(`${stack.gateway.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

const SLOW = { name: "pi__slow", arguments: { ms: CALL_MS } };
const text = (result: object) => (result as { content: { text: string }[] }).content[0]?.text ?? "";

describe.concurrent("a call that takes longer than a client waits:", () => {
  test(
    "without progress the answer comes before the client gives up, and says that it runs on; its result is found later",
    PATIENT,
    async () => {
      const client = await connect();
      const answer = await client.callTool(SLOW, { timeout: GIVES_UP_MS });
      expect(answer._meta?.["edgecall/status"]).toBe("running");
      const look = { agent_id: "pi", call_id: answer._meta?.["edgecall/call_id"] };
      const result = await client.callTool({ name: "edge_result", arguments: look });
      expect(text(result)).toContain(`1 chunks in ${CALL_MS} ms`);
      await client.close();
    },
  );

  test("a client that wants progress hears it each time, and gets the result", PATIENT, async () => {
    const client = await connect();
    const heard: (string | undefined)[] = [];
    const result = await client.callTool(SLOW, {
      onprogress: ({ message }) => heard.push(message),
      timeout: HEARS_WITHIN_MS,
      resetTimeoutOnProgress: true,
    });
    expect(text(result)).toContain(`1 chunks in ${CALL_MS} ms`);
    expect(heard.filter((message) => message?.startsWith("still at it")).length).toBeGreaterThan(3);
    await client.close();
  });
});
