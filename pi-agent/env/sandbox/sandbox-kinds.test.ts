/** An agent with skills that name their own kind of sandbox. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Settings } from "../../config/settings.ts";
import { testSettings } from "../../testing/home.ts";
import { oneTool, put } from "../../testing/skill-folder.ts";
import { openToolbox, type Toolbox } from "../../toolbox/toolbox.ts";

let toolbox: Toolbox;
afterEach(async () => await toolbox.close());

async function skillsOf(kind: string, sandbox: "none" | "bubblewrap" | "firejail") {
  const settings = testSettings(1);
  const skillsPath = mkdtempSync(join(tmpdir(), "edgecall-kinds-"));
  put(skillsPath, {
    "greet/skill.toml": oneTool("greet", `permissions = []\nsandboxing = "${kind}"`),
    "greet/bin/dt-greet": "#!/bin/sh\necho hello\n",
  });
  const state = { llm: undefined, limits: settings.limits, tools: [], guides: [] };
  const tools = { ...settings.tools, skillsPath, sandbox, browser: undefined };
  toolbox = await openToolbox({ ...settings, tools }, state);
  const { tools: offered, skipped } = toolbox.skills.current;
  return { offered: offered.map(({ tool }) => tool.name), why: skipped.map(({ reason }) => reason).join() };
}

test("D13 a skill's own kind of sandbox is tried at the start, in addition to the agent's", {
  tags: ["needs/bubblewrap"],
}, async () => {
  expect(await skillsOf("bubblewrap", "none")).toEqual({ offered: ["greet"], why: "" });
});

test("D13 a kind that does not work here disables only what needs it, with the reason", {
  tags: ["needs/bubblewrap", "needs/firejail", "needs/root"],
}, async () => {
  const { offered, why } = await skillsOf("firejail", "bubblewrap");
  expect(offered).toEqual([]);
  expect(why).toMatch(/firejail is not available on this agent; it has: bubblewrap .*as an ordinary user/);
  expect(toolbox.tools.map(({ name }) => name)).toContain("bash");
});

test("D13 an agent whose own kind does not work has no shell, and uses no other kind instead", {
  tags: ["needs/bubblewrap", "needs/firejail", "needs/root"],
}, async () => {
  await skillsOf("firejail", "firejail");
  expect(toolbox.tools.map(({ name }) => name)).not.toContain("bash");
  expect(toolbox.unavailable).toContainEqual({
    name: "bash",
    why: expect.stringMatching(/ordinary user.*install firejail/),
  });
});

async function withEngines(engines: Partial<Settings["tools"]["engines"]>) {
  const settings = testSettings(1);
  const state = { llm: undefined, limits: settings.limits, tools: [], guides: [] };
  const tools = {
    ...settings.tools,
    engines: { bash: undefined, git: undefined, ...engines },
    browser: undefined,
  };
  toolbox = await openToolbox({ ...settings, tools }, state);
  return (name: string) => toolbox.tools.find((tool) => tool.name === name);
}

test("[tools.engines] gives bash and git other sandboxes than the rest", {
  tags: ["needs/bubblewrap", "needs/ripgrep"],
}, async () => {
  const tool = await withEngines({ bash: "none" });
  expect(tool("bash")).toBeDefined();
  expect(tool("bash")?.sandbox).toBeUndefined();
  expect(tool("bash")?.description).not.toContain("sandbox");
  expect(tool("grep")?.sandbox).toBe(true);
  expect(tool("git_status")?.sandbox).toBe(true);
});

test("a sandbox of [tools.engines] that does not start takes only its own tools, with the reason", {
  tags: ["needs/bubblewrap", "needs/firejail", "needs/root"],
}, async () => {
  const tool = await withEngines({ git: "firejail" });
  expect(tool("git_status")).toBeUndefined();
  expect(tool("bash")?.sandbox).toBe(true);
  expect(toolbox.unavailable).toContainEqual({
    name: "git_status",
    why: expect.stringMatching(/ordinary user.*install firejail/),
  });
});
