import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import type { Rule } from "../config/policy-rules.ts";
import { memoryLog, Peer, readyAgent, startBroker, testSettings } from "../testing/home.ts";
import { oneTool, put } from "../testing/skill-folder.ts";
import { openToolbox } from "./toolbox.ts";

const closing: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An agent whose settings name the skill's tool `greet`. */
async function agent(more: {
  policy?: Map<string, Rule>;
  enabled?: string[];
  skills?: Record<string, string>;
}) {
  const broker = await startBroker();
  closing.push(() => broker.stop());
  const peer = await Peer.connect(broker.port);
  closing.push(() => peer.stop());
  const settings = testSettings(broker.port);
  const skillsPath = mkdtempSync(join(tmpdir(), "edgecall-gone-"));
  put(skillsPath, more.skills ?? {});
  const tools = {
    ...settings.tools,
    skillsPath,
    sandbox: "none" as const,
    browser: undefined,
    enabled: more.enabled,
  };
  const { log, lines } = memoryLog();
  const policy = more.policy ?? new Map();
  const running = await readyAgent({ ...settings, policy, tools }, { log, toolbox: openToolbox });
  closing.push(() => running.stop());
  const list = async () =>
    (await peer.ask("eye", { command: "tools_list", request_id: crypto.randomUUID() })).payload as {
      tools: Array<{ name: string }>;
      unavailable: Array<{ name: string; why: string }>;
    };
  const call = (tool: string) =>
    peer.ask("eye", { command: "tool", payload: { tool }, request_id: crypto.randomUUID() });
  return { skillsPath, lines, list, call };
}

const GREET = {
  "greet/skill.toml": oneTool("greet", "permissions = []"),
  "greet/bin/dt-greet": "#!/bin/sh\necho hello\n",
};

test("D3 a rule for a missing skill gives a warning and is kept: deny is still deny when the skill returns", async () => {
  const { skillsPath, lines, list, call } = await agent({ policy: new Map([["greet", "deny"]]) });
  expect(lines).toContainEqual({
    level: "warn",
    event: "settings.no_such_tool",
    fields: {
      error: expect.stringMatching(/^policy\.greet: no tool .*; the rule \(deny\) is kept\. Right would be/),
    },
  });
  const why = async () => (await list()).unavailable.filter(({ name }) => name === "greet");
  expect(await why()).toMatchObject([{ why: expect.stringContaining("policy.greet: no tool") }]);
  put(skillsPath, GREET);
  expect((await list()).tools).toContainEqual(expect.objectContaining({ name: "greet" }));
  expect(await why()).toEqual([]);
  expect((await call("greet")).payload).toMatchObject({
    status: "error",
    error_type: "permission_denied",
  });
});

test("D3 an enabled skill with an error in its skill.toml gives a warning with the cause, and is offered once it is repaired", async () => {
  const { skillsPath, lines, list, call } = await agent({
    enabled: ["memory", "greet"],
    skills: { ...GREET, "greet/skill.toml": '[[tools]\nname = "greet"' },
  });
  const warned = () => lines.find(({ event }) => event === "settings.no_such_tool")?.fields.error;
  expect(warned()).toMatch(/^tools\.enabled: no tool .* could not be read: 'greet' \(skill\.toml: not TOML/);
  expect((await list()).tools.map(({ name }) => name)).toEqual(["memory"]);
  put(skillsPath, GREET);
  await until(async () => (await list()).tools.some(({ name }) => name === "greet"));
  expect((await call("greet")).payload).toMatchObject({
    status: "success",
    result: expect.stringContaining("hello"),
  });
});

test("D3 a name that no tool ever had is reported too, and the agent starts", async () => {
  const { lines, list } = await agent({ enabled: ["disk", "fly"] });
  expect((await list()).tools.map(({ name }) => name)).toEqual(["disk"]);
  expect((await list()).unavailable.find(({ name }) => name === "fly")?.why).toContain(
    "tools.enabled: no tool",
  );
  expect(lines.filter(({ event }) => event === "settings.no_such_tool")).toHaveLength(1);
});
