// @module-tag needs/bubblewrap
// @module-tag needs/ripgrep
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { until } from "../../test/wait.ts";
import { readSettings, type Settings } from "../config/settings.ts";
import { callTool } from "../testing/call.ts";
import { memoryLog, Peer, readyAgent, startBroker, testSettings } from "../testing/home.ts";
import { openToolbox, type Toolbox } from "../toolbox/toolbox.ts";

const TOKEN = "a-token-of-forty-characters-0123456789-x";
const closing: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const folder = () => realpathSync(mkdtempSync(join(tmpdir(), "edgecall-serves-")));

/** The settings of an agent whose preset `remote` works at a port of this machine. */
function remoteSettings(port: number, cwd: string): Settings {
  const own = folder();
  writeFileSync(join(own, "token"), TOKEN);
  const source = `agent_id = "laptop"
[tools]
preset = "remote"
node = "gpu"
[[nodes]]
name = "gpu"
kind = "http"
url = "http://127.0.0.1:${port}"
token_file = "token"
cwd = "${cwd}"`;
  return readSettings(source, { file: join(own, "agent.toml") }).settings;
}

async function toolboxOf(settings: Settings): Promise<Toolbox> {
  const limits = { maxModelCalls: 1, maxFailedBatches: 1, maxParallel: 1 };
  const toolbox = await openToolbox(settings, { llm: undefined, limits, tools: [], guides: [] });
  closing.push(() => toolbox.close());
  return toolbox;
}

const namesOf = ({ tools }: Toolbox) => tools.map(({ name }) => name).sort();

test("an agent serves its workspace, another one works in it by the preset remote, and the first one records it", async () => {
  const broker = await startBroker();
  closing.push(() => broker.stop());
  const peer = await Peer.connect(broker.port);
  closing.push(() => peer.stop());
  const { log, lines } = memoryLog();
  const base = testSettings(broker.port, { folder: folder() });
  const workspace = base.tools.workspace;
  const tokenFile = join(base.stateDir, "..", "tokens");
  writeFileSync(tokenFile, `laptop ${TOKEN}\n`, { mode: 0o600 });
  const serve = {
    host: "127.0.0.1",
    port: await freePort(),
    tokenFile,
    tls: undefined,
    exec: true,
    readOnly: false,
  };
  const gpu = await readyAgent({ ...base, serve }, { log, toolbox: openToolbox });
  closing.push(() => gpu.stop());
  expect(gpu.servePort()).toBe(serve.port);
  expect(lines.map(({ event }) => event)).toContain("serve.listening");

  const toolbox = await toolboxOf(remoteSettings(serve.port, realpathSync(workspace)));
  expect(namesOf(toolbox)).toEqual(["bash", "edit", "find", "grep", "read", "write"]);
  const tool = (name: string) => toolbox.tools.find((one) => one.name === name) as Tool;
  expect(tool("bash").description).toContain("on 'gpu'");
  await callTool(tool("write"), { path: "a.txt", content: "far\n" });
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("far\n");
  expect((await callTool(tool("grep"), { pattern: "f.r" })).text).toBe("a.txt:1: far");
  expect((await callTool(tool("bash"), { command: "pwd" })).text.trim()).toBe(realpathSync(workspace));

  // Long outputs of the agent's own callers are not for others.
  writeFileSync(join(base.stateDir, "spill", "long.txt"), "of somebody else");
  expect((await callTool(tool("read"), { path: join(base.stateDir, "spill/long.txt") })).code).toBe(
    "access_denied",
  );
  const cat = `cat ${join(base.stateDir, "spill/long.txt")}`;
  expect((await callTool(tool("bash"), { command: cat })).text).not.toContain("of somebody else");

  const owner = { principal: "anna", role: "owner", channel: "api" };
  const { payload } = await peer.ask("eye", {
    command: "get_metrics",
    payload: { recent: 100 },
    request_id: "recent",
    caller: owner,
  });
  const calls = payload.recent_calls as Array<{ tool: string; caller: { principal: string } }>;
  expect(calls.map(({ caller }) => caller.principal)).toEqual(calls.map(() => "http:laptop"));
  expect(calls.map((call) => call.tool)).toEqual(expect.arrayContaining(["serve_write", "serve_exec"]));

  await gpu.stop();
  expect(await callTool(tool("write"), { path: "b.txt", content: "x" })).toMatchObject({ code: "io" });
}, 60_000);

test("while the other machine is away its tools are not offered, and none works here instead", async () => {
  const settings = remoteSettings(await freePort(), "/srv/work");
  const toolbox = await toolboxOf(settings);
  expect(namesOf(toolbox)).toEqual([]);
  const why = expect.stringContaining("The connection to 'gpu'");
  expect(toolbox.unavailable).toEqual(
    expect.arrayContaining(["read", "bash", "grep"].map((name) => ({ name, why }))),
  );
}, 60_000);

test("an agent whose tokens are not as they should be does not start; a port that is taken leaves it without", async () => {
  const base = testSettings(1, { folder: folder() });
  mkdirSync(base.stateDir, { recursive: true });
  const tokenFile = join(base.stateDir, "..", "tokens");
  const serve = { host: "127.0.0.1", port: 1, tokenFile, tls: undefined, exec: true, readOnly: false };
  await expect(readyAgent({ ...base, serve }, { log: () => {} })).rejects.toThrow("serve.token_file");
  expect(existsSync(join(base.stateDir, "ledger.jsonl"))).toBe(false);
  writeFileSync(tokenFile, `laptop ${TOKEN}\n`, { mode: 0o600 });
  const broker = await startBroker();
  closing.push(() => broker.stop());
  const { log, lines } = memoryLog();
  const taken = { ...base, mqtt: { ...base.mqtt, url: `mqtt://127.0.0.1:${broker.port}` } };
  const agent = await readyAgent(
    { ...taken, serve: { ...serve, port: broker.port } },
    { log, toolbox: openToolbox },
  );
  closing.push(() => agent.stop());
  await until(() => lines.some(({ event }) => event === "serve.failed"));
  expect(agent.servePort()).toBeUndefined();
}, 60_000);
