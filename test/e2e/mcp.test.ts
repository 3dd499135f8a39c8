/** The SDK's own MCP client with a real device behind the gateway, and a real MCP server behind another device. */
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const SERVER = fileURLToPath(new URL("../../pi-agent/testing/mcp-server.ts", import.meta.url));
const EYE = ["append", "picture", "slow", "temperature"];

const stack = useStack({ vars: { MCP_TRUSTED_TOKENS: "anna" } }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "eye", env, top: { tools: { enabled: EYE } } });
  const files = { name: "files", command: [process.execPath, SERVER, "stdio"], reads: ["echo", "picture"] };
  const gone = { name: "gone", command: ["/no/such/server"] };
  const enabled = ["files_echo", "files_picture", "files_fail", "files_die"];
  // SAFETY: TOML tables have no type of their own.
  const top = {
    tools: { enabled },
    mcp: [files, gone],
    policy: { gone_x: "deny", files_fail: "allow" },
  } as Record<string, unknown>;
  await stack.startAgent({ id: "host", top });
  await stack.gateway.online("eye");
  // It is online before its MCP server has told its tools.
  const listed = async () => await (await stack.gateway.fetch("/v1/agents")).text();
  await until(async () => (await listed()).includes("files_echo"), { what: "the tools of the MCP server" });
});

const clients: Client[] = [];
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

async function connect(mode: "legacy" | { pin: string }, token = TOKENS.owner): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${token}` };
  const url = new URL(`${stack.gateway.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  clients.push(client);
  return client;
}

type Result = Awaited<ReturnType<Client["callTool"]>>;
type Block = { type: string; text?: string; data?: string; uri?: string; mimeType?: string };
const blocks = (result: Result) => result.content as Block[];
const text = (result: Result) => blocks(result)[0]?.text ?? "";

async function openCalls(): Promise<unknown[]> {
  return ((await (await stack.gateway.fetch("/v1/status")).json()) as { calls: unknown[] }).calls;
}

describe.each([
  ["2025", "legacy" as const],
  ["2026-07-28", { pin: "2026-07-28" }],
])("a client of %s", (_, mode) => {
  test("lists the devices' actions, and calls them by name and by edge_call", async () => {
    const client = await connect(mode);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual([
      ...["edge_list", "edge_call", "edge_result"],
      ...EYE.map((action) => `eye__${action}`),
      ...["host__files_die", "host__files_echo", "host__files_fail", "host__files_picture"],
    ]);
    const temperature = tools.find(({ name }) => name === "eye__temperature");
    expect(temperature?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(text(await client.callTool({ name: "eye__temperature", arguments: {} }))).toMatch(/48\.3|°C/);
    const call = { agent_id: "eye", action: "temperature" };
    expect(text(await client.callTool({ name: "edge_call", arguments: call }))).toMatch(/°C/);
    const listed = await client.callTool({ name: "edge_list", arguments: {} });
    expect(JSON.parse(text(listed))).toMatchObject({
      agents: [{ agent_id: "eye", online: true }, { agent_id: "host" }],
    });
  });

  test("gets pictures as pictures, from the report and over HTTPS, and files as links", async () => {
    const client = await connect(mode);
    for (const bytes of [20_000, 1_000_000]) {
      const [, image] = blocks(await client.callTool({ name: "eye__picture", arguments: { bytes } }));
      expect(image).toMatchObject({ type: "image", mimeType: "image/jpeg" });
      expect(Buffer.from(image?.data ?? "", "base64")).toHaveLength(bytes);
    }
    const file = { name: "eye__picture", arguments: { bytes: 5_000, media_type: "text/csv" } };
    const link = blocks(await client.callTool(file)).find(({ type }) => type === "resource_link");
    expect(link).toMatchObject({ mimeType: "text/csv" });
    const download = await stack.gateway.fetch(new URL(link?.uri ?? "").pathname);
    expect((await download.arrayBuffer()).byteLength).toBe(5_000);
  });

  test("D1: finds what devices sent as resources, page by page, and reads it; templates and prompts are none", async () => {
    const client = await connect(mode);
    expect(client.getServerCapabilities()).toMatchObject({ resources: {} });
    const csv = { bytes: 5_000, media_type: "text/csv" };
    await client.callTool({ name: "eye__picture", arguments: { bytes: 20_000 } });
    const sent = blocks(await client.callTool({ name: "eye__picture", arguments: csv }));
    const link = sent.find(({ type }) => type === "resource_link");
    const found = async () => {
      const { resources } = await client.listResources();
      const isThere = resources.some(({ uri }) => uri === link?.uri);
      return isThere && resources.some(({ mimeType }) => mimeType === "image/jpeg") ? resources : undefined;
    };
    const resources = await until(found, { what: "the list of resources" });
    const file = resources.find(({ uri }) => uri === link?.uri);
    expect(file).toMatchObject({
      mimeType: "text/csv",
      size: 5_000,
      name: expect.stringMatching(/^eye picture /),
    });
    for (const { uri, mimeType, size } of resources) {
      const { contents } = await client.readResource({ uri });
      const [content] = contents as Array<{ blob?: string; text?: string; mimeType?: string }>;
      expect(content?.mimeType).toBe(mimeType);
      const bytes =
        content?.text === undefined ? Buffer.from(content?.blob ?? "", "base64") : Buffer.from(content.text);
      expect(bytes).toHaveLength(size ?? 0);
    }
    await expect(client.readResource({ uri: `${link?.uri}x` })).rejects.toThrow(/not found/);
    expect(await client.listResourceTemplates()).toMatchObject({ resourceTemplates: [] });
    const guest = await connect(mode, TOKENS.guest);
    expect((await guest.listResources()).resources).toEqual([]);
    await expect(guest.readResource({ uri: link?.uri ?? "" })).rejects.toThrow(/not found/);
  });

  test("D3: arguments that another program added are ignored, and the result says so", async () => {
    const client = await connect(mode);
    const added = { toolCallId: "call_1", sessionId: "s", chatInput: "how warm?" };
    const answer = await client.callTool({ name: "eye__temperature", arguments: added });
    expect(text(answer)).toMatch(/°C/);
    expect(answer.isError).toBeFalsy();
    expect(blocks(answer)[1]?.text).toContain('"toolCallId", "sessionId", "chatInput"; ignored.');
    const wrong = await client.callTool({ name: "eye__slow", arguments: { ms: "soon", ...added } });
    expect(wrong.isError).toBe(true);
    expect(text(wrong)).toContain("ms");
  });

  test("receives progress, and cancels", async () => {
    const client = await connect(mode);
    const messages: Array<string | undefined> = [];
    const slow = { name: "eye__slow", arguments: { ms: 400, chunks: 4 } };
    await client.callTool(slow, { onprogress: ({ message }) => messages.push(message) });
    expect(messages.join("")).toContain("chunk 1");
    if (mode === "legacy") return;
    const stop = new AbortController();
    const long = { name: "eye__slow", arguments: { ms: 50_000, chunks: 100 } };
    const given = client.callTool(long, { signal: stop.signal, onprogress: () => stop.abort() });
    await expect(given).rejects.toThrow();
    await until(async () => (await openCalls()).length === 0, { what: "the device was told to stop" });
  });
});

describe("a call that is not a read", () => {
  test("waits for a person, who approves elsewhere; then it has run once", async () => {
    const client = await connect("legacy");
    const asked = await client.callTool({ name: "eye__append", arguments: { text: "x" } });
    expect(text(asked)).toContain("Nothing has run yet");
    const id = /\/v1\/questions\/([0-9a-f-]{36})/.exec(text(asked))?.[1] ?? "";
    const look = {
      name: "edge_result",
      arguments: { agent_id: "eye", call_id: asked._meta?.["edgecall/call_id"] },
    };
    // A client's tools have no way to approve, whatever its token allows elsewhere.
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("edge_answer");
    const waiting = client.callTool(look);
    expect(text(await waiting)).toContain(id);
    expect(await stack.gateway.answer(id, "approve")).toBe(200);
    expect(text(await client.callTool(look))).toMatch(/^appended /);
  });

  test("whose client shows its person the question, and hangs up while it holds the second try, is cancelled", async () => {
    const send = (more: object, signal?: AbortSignal) =>
      fetch(`${stack.gateway.url}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${TOKENS.owner}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "eye__append",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "eye__append",
            arguments: { text: "y" },
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
            },
            ...more,
          },
        }),
        ...(signal && { signal }),
      });
    const asked = await (await send({})).text();
    const requestState = /"requestState":"([^"]+)"/.exec(asked)?.[1];
    expect(asked).toContain("input_required");
    const stop = new AbortController();
    // It is held: its stream has begun, and nobody has answered.
    const inputResponses = { answer: { action: "accept" } };
    const again = await send({ requestState, inputResponses }, stop.signal);
    expect(again.headers.get("content-type")).toBe("text/event-stream");
    expect(await openCalls()).toHaveLength(1);
    stop.abort();
    await expect(again.text()).rejects.toThrow();
    await until(async () => (await openCalls()).length === 0, { what: "the call is cancelled" });
  });

  test("is refused by a person, and reports that", async () => {
    const client = await connect("legacy");
    const asked = await client.callTool({
      name: "edge_call",
      arguments: { agent_id: "eye", action: "append" },
    });
    const id = /\/v1\/questions\/([0-9a-f-]{36})/.exec(text(asked))?.[1] ?? "";
    await stack.gateway.answer(id, "deny");
    const look = { agent_id: "eye", call_id: asked._meta?.["edgecall/call_id"] };
    const denied = await client.callTool({ name: "edge_result", arguments: look });
    expect(denied.isError).toBe(true);
    expect(text(denied)).toContain("Nothing was run");
  });
});

describe("an agent with MCP servers", () => {
  test("answers with the servers' tools and pictures", async () => {
    const client = await connect("legacy");
    expect(text(await client.callTool({ name: "host__files_echo", arguments: { text: "hello" } }))).toBe(
      "hello",
    );
    const [image] = blocks(await client.callTool({ name: "host__files_picture", arguments: {} })).filter(
      ({ type }) => type === "image",
    );
    expect(image?.mimeType).toBe("image/gif");
    const wrong = await client.callTool({ name: "host__files_echo", arguments: {} });
    expect(wrong.isError).toBe(true);
    expect(text(wrong)).toContain("missing 'text'");
  });

  test("reports the server that is missing, and why", async () => {
    const { body } = await stack.gateway.command("host", "tools_list");
    expect(body.payload?.unavailable).toContainEqual({
      name: "gone_*",
      why: expect.stringContaining("there is no such program"),
    });
  });

  test("asks before a tool that the owner did not mark as a read, and records it", async () => {
    const client = await connect("legacy");
    // The owner trusts this client's conversations and this tool, so only the device decides.
    const allowed = await client.callTool({ name: "host__files_fail", arguments: {} });
    expect(text(allowed)).toBe("Error: no such thing");
    const asked = await client.callTool({ name: "host__files_die", arguments: {} });
    expect(text(asked)).toContain("Nothing has run yet");
    // A device sends its audit log when it comes online, and now and then.
    await stack.restartBroker();
    const recorded = async () => {
      const { entries } = (await (await stack.gateway.fetch("/v1/audit?tool=files_echo")).json()) as {
        entries: Array<{ result: string }>;
      };
      return entries.length > 0 && entries;
    };
    const entries = await until(recorded, { within: 20_000, what: "the record" });
    expect(entries).toContainEqual(expect.objectContaining({ agent_id: "host", result: "success" }));
  });
});
