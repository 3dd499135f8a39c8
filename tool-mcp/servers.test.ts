import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MCP_GATEWAY_KEY } from "@edgecall/core/protocol/names.ts";
import { type Tool, Unstorable } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { type RunRequest, runTool } from "@edgecall/core/tools/runner.ts";
import { type McpServerSettings, readMcpServers } from "@edgecall/pi-agent/config/mcp-servers.ts";
import { local } from "@edgecall/pi-agent/env/local.ts";
import { sandboxEngine } from "@edgecall/pi-agent/env/sandbox/sandbox-engine.ts";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { until } from "../test/wait.ts";
import { McpServers } from "./servers.ts";
import { mcpToolName } from "./tool.ts";

const PROGRAM = fileURLToPath(new URL("../pi-agent/testing/mcp-server.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TOKEN = "secret-token-of-the-test";
const CALLER = { principal: "anna", role: "owner", channel: "test" };

const closing: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(...given: object[]) {
  const read = readMcpServers(given.map((one, n) => ({ name: `s${n}`, ...one })));
  if (!read.ok) throw new Error(read.error);
  const cwd = mkdtempSync(join(tmpdir(), "edgecall-mcp-"));
  const place = local({ cwd });
  const engine = sandboxEngine("bubblewrap", { workspace: cwd, readable: [ROOT] });
  await engine.missing();
  let changes = 0;
  const servers = new McpServers(
    read.value as McpServerSettings[],
    {
      exec: (sandbox) =>
        sandbox
          ? engine.lack === undefined
            ? { ok: true, exec: engine.environment.exec }
            : { ok: false, missing: engine.lack }
          : { ok: true, exec: place.exec },
      grants: { network: false, devices: [] },
      timeoutMs: 20_000,
      agentId: "eye",
      gatewayKey: "own-key",
    },
    () => (changes += 1),
  );
  closing.push(() => servers.close());
  await servers.start();
  // An agent starts without a server that is slow; on a busy machine each of them is.
  await until(() => servers.missing().every(({ why }) => !why.endsWith("it is being started")), {
    within: 20_000,
    what: "each server was tried",
  });
  const run = async (name: string, args: object = {}, more: Partial<RunRequest> = {}) => {
    const request = { callId: "c", name, args: { ...args }, caller: CALLER, ...more };
    return (await runTool(new ToolRegistry(servers.tools()), request)).result;
  };
  return { servers, run, cwd, changes: () => changes };
}

/** Starts a server over HTTP in its own process. */
async function overHttp(...more: string[]): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, "http", ...more], { stdio: ["ignore", "pipe", "inherit"] });
  closing.push(async () => {
    child.kill();
    await once(child, "exit");
  });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return `http://127.0.0.1:${port.toString().trim()}/mcp`;
}

const stdio = (...more: string[]) => [process.execPath, PROGRAM, "stdio", ...more];
const named = (tools: readonly Tool[], name: string) => tools.find((tool) => tool.name === name);

describe.each([
  ["a program", async () => ({ command: stdio() })],
  ["a program without the old handshake", async () => ({ command: stdio("modern") })],
  ["an address", async () => ({ url: await overHttp(), token: TOKEN })],
  ["an address without the old handshake", async () => ({ url: await overHttp("modern"), token: TOKEN })],
])("%s", (_, reach) => {
  test("is a set of tools that answer, fail, and return pictures", async () => {
    const { servers, run } = await open(await reach());
    expect(servers.missing()).toEqual([]);
    const echo = named(servers.tools(), "s0_echo");
    expect(echo).toMatchObject({ description: "Say it again.", taints: true, idempotent: false });
    expect(new ToolRegistry([echo as Tool]).definitions()[0]?.function.parameters).toEqual({
      type: "object",
      properties: { text: { type: "string", description: "What to say again" } },
      required: ["text"],
    });
    expect((await run("s0_echo", { text: "hello" })).content).toEqual([{ type: "text", text: "hello" }]);
    expect((await run("s0_echo")).fault).toMatchObject({ code: "invalid_params" });
    expect((await run("s0_fail")).fault).toEqual({ code: "tool_failed", message: "no such thing" });
    expect((await run(mcpToolName("s0", "dotted.name"))).content).toEqual([{ type: "text", text: "dots" }]);
    const brought: Array<[number, string]> = [];
    await run(
      "s0_picture",
      {},
      {
        artifact: async (bytes, mediaType) => {
          brought.push([bytes.length, mediaType]);
          return { type: "text", text: "kept" };
        },
      },
    );
    expect(brought).toEqual([[43, "image/gif"]]);
    const artifact = () =>
      Promise.reject(new Unstorable({ text: "Error: no room", advice: "Ask for less." }));
    expect((await run("s0_picture", {}, { artifact })).content).toEqual([
      { type: "text", text: "[image/gif: Error: no room\nAsk for less.]" },
    ]);
  });

  test("a call that is given up is cancelled there; its progress arrives before", async () => {
    const given = await reach();
    const { run, cwd } = await open({
      ...given,
      ...("command" in given && { env: { CANCELLED_FILE: "cancelled" } }),
    });
    const stop = new AbortController();
    const heard: string[] = [];
    const update = (text: string) => {
      heard.push(text);
      stop.abort(new Error("cancelled"));
    };
    const result = await run("s0_hold", {}, { signal: stop.signal, update });
    expect(result.fault).toMatchObject({ code: "aborted" });
    expect(heard).toEqual(["held\n"]);
    const file = join(cwd, "cancelled");
    if ("command" in given)
      await until(() => existsSync(file) && readFileSync(file, "utf8") === "cancelled\n");
    expect((await run("s0_echo", { text: "still there" })).content).toMatchObject([{ text: "still there" }]);
  });
});

describe("limits of trust", () => {
  test("a program gets its own variables and none of the agent's", async () => {
    process.env.EDGECALL_TEST_KEY = "key-of-the-agent";
    onTestFinished(() => void delete process.env.EDGECALL_TEST_KEY);
    const { run } = await open({ command: stdio(), env: { ITS_KEY: "key-of-its-own" } });
    const { content } = await run("s0_environment");
    expect(JSON.stringify(content)).toContain("key-of-its-own");
    expect(JSON.stringify(content)).not.toContain("key-of-the-agent");
  });

  test("the owner sets effect and permission, not the server", async () => {
    const { servers } = await open({ command: stdio(), reads: ["echo"], tools: ["echo", "fail"] });
    expect(servers.tools().map(({ name }) => name)).toEqual(["s0_echo", "s0_fail"]);
    expect(named(servers.tools(), "s0_echo")).toMatchObject({ effect: "read", permission: "shell" });
    expect(named(servers.tools(), "s0_fail")).toMatchObject({ effect: "exec", permission: "shell" });
  });

  test("a program in the sandbox works like any other, and sees nothing of this machine", {
    tags: ["needs/bubblewrap"],
  }, async () => {
    const { run } = await open({ command: stdio(), sandbox: true });
    const { content } = await run("s0_environment");
    const { root } = JSON.parse((content[0] as { text: string }).text) as { root: string[] };
    expect(root).toContain("usr");
    expect(root).not.toContain("home");
  });
});

describe("an unreachable server", () => {
  test.each([
    ["no such program", { command: ["/no/such/program"] }, /there is no such program/],
    [
      "a program that ends",
      { command: ["/bin/sh", "-c", "echo nothing to do >&2; exit 3"] },
      /exit code 3: nothing to do/,
    ],
    ["an address that nobody listens on", { url: "http://127.0.0.1:1/mcp" }, /cannot be reached/],
  ])("%s: reported by name, with the reason", async (_, given, why) => {
    const { servers } = await open(given);
    expect(servers.tools()).toEqual([]);
    expect(servers.missing()).toMatchObject([{ name: "s0_*", why: expect.stringMatching(why) }]);
  });

  test("a wrong token is reported", async () => {
    const { servers } = await open({ url: await overHttp(), token: "wrong" });
    expect(servers.missing()[0]?.why).toMatch(/answered 401/);
  });

  test("one that dies during a call leaves its outcome unknown, and is there again for the next", async () => {
    const { run, servers, changes } = await open({ command: stdio() });
    const died = await run("s0_die");
    expect(died.fault?.code).toBe("outcome_unknown");
    expect((await run("s0_echo", { text: "back" })).content).toMatchObject([{ text: "back" }]);
    expect(servers.missing()).toEqual([]);
    expect(changes()).toBe(2);
  });
});

describe("a gateway of ours", () => {
  /** A gateway that serves the home with this key. @returns its address, and the names of its clients */
  async function gateway(key: string | undefined, names: readonly string[] = ["edge_call"]) {
    const clients: unknown[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
      if (method === "initialize") clients.push(params.clientInfo.name);
      const hello = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "edgecall", version: "1" },
        ...(key !== undefined && { _meta: { [MCP_GATEWAY_KEY]: key } }),
      };
      const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));
      const result = method === "initialize" ? hello : { tools };
      response.statusCode = id === undefined ? 202 : 200;
      response.setHeader("content-type", "application/json");
      response.end(id === undefined ? "" : JSON.stringify({ jsonrpc: "2.0", id, result }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, clients };
  }

  test("the agent's own one is not used, in words; another home's knows which agent asks", async () => {
    const own = await gateway("own-key");
    const other = await gateway("other-key");
    const { servers } = await open({ url: own.url, token: TOKEN }, { url: other.url, token: TOKEN });
    expect(servers.tools().map(({ name }) => name)).toEqual(["s1_edge_call"]);
    expect(servers.missing()).toMatchObject([{ name: "s0_*", why: expect.stringContaining("own gateway") }]);
    expect(other.clients).toEqual(["edgecall agent eye"]);
  });

  test("one that another server passes on is refused, in words; what the owner names beside it is used", async () => {
    // As Home Assistant's own server does it, once it is signed in to a gateway.
    const names = ["intent__HassTurnOn", "edge_call", "edge_list", "vm__bash"];
    const { url } = await gateway(undefined, names);
    const named = await gateway(undefined, ["intent__HassTurnOn", "mcp_01k__edge_list"]);
    const { servers } = await open(
      { url, token: TOKEN },
      { url, token: TOKEN, tools: ["intent__HassTurnOn"] },
      { url: named.url, token: TOKEN },
    );
    expect(servers.tools().map(({ name }) => name)).toEqual(["s1_intent__HassTurnOn"]);
    expect(servers.missing()).toMatchObject([
      { name: "s0_*", why: expect.stringMatching(/edgecall gateway \(edge_call\).*Assist/) },
      { name: "s2_*", why: expect.stringContaining("mcp_01k__edge_list") },
    ]);
  });
});

describe("settings", () => {
  const ok = { name: "files", command: ["x"] };
  test.each([
    [{ command: ["x"] }, "mcp.0.name: "],
    [{ ...ok, name: "a_b" }, "mcp.0.name: expected 1 to 20 letters, digits or -"],
    [{ name: "x" }, "mcp.0.command: missing; right would be"],
    [{ ...ok, url: "http://x" }, "mcp.0.url: give either url or command"],
    [{ ...ok, token: "t" }, "mcp.0.token: only for url"],
    [{ name: "x", url: "ftp://x" }, "mcp.0.url: expected an http(s) address"],
    [{ name: "x", url: "http://x", sandbox: true }, "mcp.0.sandbox: only for command"],
    [{ ...ok, env: { LD_PRELOAD: "x" } }, "mcp.0.env: The environment variable 'LD_PRELOAD'"],
    [{ ...ok, effect: "reed" }, "mcp.0.effect: "],
    [{ ...ok, comand: [] }, "mcp.0."],
  ])("%o", (given, error) => {
    const read = readMcpServers([given]);
    expect(read.ok ? "" : read.error).toContain(error);
  });

  test("of a server that does not confirm, a success is only sent; what it reads and refuses is said as it is", async () => {
    const { run } = await open({ command: stdio(), confirms: false, reads: ["environment"] });
    expect((await run("s0_echo", { text: "done" })).content).toEqual([
      {
        type: "text",
        text: "Sent to 's0', not confirmed: its success does not say that anything was done. Read the state before you say that it was done: s0_environment.",
      },
      { type: "text", text: "done" },
    ]);
    expect((await run("s0_environment")).content).toHaveLength(1);
    expect((await run("s0_fail")).fault).toMatchObject({ message: "no such thing" });
  });

  test("two servers with one name", () => {
    expect(readMcpServers([ok, ok])).toMatchObject({
      ok: false,
      error: expect.stringContaining("mcp.1.name"),
    });
  });

  test("names of tools become names of actions", () => {
    for (const tool of ["a", "a.b", "x".repeat(200), "ä/ö"])
      expect(mcpToolName("files", tool)).toMatch(/^files_[A-Za-z0-9_-]{1,58}$/);
    expect(mcpToolName("files", "a.b")).not.toBe(mcpToolName("files", "a/b"));
  });
});
