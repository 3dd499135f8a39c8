import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { AgentSettingsError, readSettings } from "../config/settings.ts";
import { memoryLog, Peer, readyAgent, startBroker } from "../testing/home.ts";
import { openToolbox } from "./toolbox.ts";

const PROGRAM = fileURLToPath(new URL("../testing/mcp-server.ts", import.meta.url));
const closing: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function settingsOf(mcp: string, more = "") {
  const broker = await startBroker();
  closing.push(() => broker.stop());
  const peer = await Peer.connect(broker.port);
  closing.push(() => peer.stop());
  const file = join(mkdtempSync(join(tmpdir(), "edgecall-mcp-")), "agent.toml");
  const source = `agent_id = "eye"\n[mqtt]\nurl = "mqtt://127.0.0.1:${broker.port}"\n${more}\n[[mcp]]\n${mcp}`;
  return { settings: readSettings(source, { file }).settings, peer };
}

test("a server that appears later is advertised then; the agent does not wait for it", async () => {
  const flag = join(mkdtempSync(join(tmpdir(), "edgecall-mcp-")), "there");
  const command = JSON.stringify([
    "/bin/sh",
    "-c",
    `test -e ${flag} && exec ${process.execPath} ${PROGRAM} stdio`,
  ]);
  const { settings, peer } = await settingsOf(
    `name = "late"\ncommand = ${command}`,
    '[tools]\nenabled = ["late_echo"]',
  );
  const { log } = memoryLog();
  const agent = await readyAgent(settings, { log, toolbox: openToolbox });
  closing.push(() => agent.stop());
  const list = async () => {
    const { payload } = await peer.ask("eye", {
      command: "tools_list",
      payload: {},
      request_id: crypto.randomUUID(),
    });
    return payload as {
      tools: Array<{ name: string; evoclaw?: object }>;
      unavailable: Array<{ name: string; why: string }>;
    };
  };
  const before = await list();
  expect(before.tools).toEqual([]);
  expect(before.unavailable).toContainEqual({
    name: "late_*",
    why: "the MCP server 'late': it ended with exit code 1",
  });
  writeFileSync(flag, "");
  // Each attempt waits twice as long as the one before it, and there were some before the flag.
  await until(async () => (await list()).tools.length > 0, { within: 45_000, what: "its tools" });
  const after = await list();
  expect(after.tools.map(({ name }) => name)).toEqual(["late_echo"]);
  expect(after.tools[0]?.evoclaw).toMatchObject({
    binary: "mcp",
    sandbox: false,
    skill: "mcp:late",
    version: "",
  });
  expect(after.unavailable).toContainEqual({
    name: "late_die",
    why: "enabled in [tools] of agent.toml does not name it",
  });
}, 60_000);

test("a wrong key stops the start, with what would be right", async () => {
  await expect(settingsOf('name = "x"\nurl = "file:///etc"')).rejects.toThrow(AgentSettingsError);
  await expect(settingsOf('name = "x"\nurl = "file:///etc"')).rejects.toThrow(
    "mcp.0.url: expected an http(s) address",
  );
});
