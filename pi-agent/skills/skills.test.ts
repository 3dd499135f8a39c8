import { rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, textOf, textResult } from "@edgecall/core/tools/contract.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { oneTool, put, skillFolder } from "../testing/skill-folder.ts";
import type { SkillSet } from "./load-skills.ts";
import { Skills, withSkills } from "./skills.ts";

const says = (words: string) => `#!/bin/sh\necho ${words}\n`;
const names = (set: SkillSet) => set.tools.map(({ tool }) => tool.name);
const ends: Array<() => void> = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

test("the set is kept until a file changes; then there is a new one, and the listeners are told", async () => {
  const options = skillFolder({ "a/skill.toml": oneTool("a"), "a/bin/dt-a": says("a") });
  const skills = await Skills.open(options);
  const heard: string[][] = [];
  const end = skills.onChange((set) => heard.push(names(set)));
  const first = skills.current;
  expect(await skills.look()).toBe(first);
  expect(heard).toEqual([]);

  put(options.path, { "b/skill.toml": oneTool("b"), "b/bin/dt-b": says("b") });
  expect(names(await skills.look())).toEqual(["a", "b"]);
  put(options.path, { "a/skill.toml": oneTool("a", "timeout_ms = 7777") });
  expect((await skills.look()).tools[0]?.tool.timeoutMs).toBe(7_777);
  rmSync(join(options.path, "b/bin/dt-b"));
  expect((await skills.look()).skipped).toEqual([expect.objectContaining({ tool: "b" })]);
  put(options.path, { "b/bin/dt-b": says("b") });
  expect((await skills.look()).skipped).toEqual([]);
  put(options.path, { "a/SKILL.md": "---\ndescription: d\n---\nx" });
  expect((await skills.look()).guides).toHaveLength(1);
  rmSync(options.path, { recursive: true });
  expect(names(await skills.look())).toEqual([]);
  expect(heard).toEqual([["a", "b"], ["a", "b"], ["a"], ["a", "b"], ["a", "b"], []]);
  expect(names(first)).toEqual(["a"]);

  end();
  put(options.path, { "a/skill.toml": oneTool("a"), "a/bin/dt-a": says("a") });
  expect(names(await skills.look())).toEqual(["a"]);
  expect(heard).toHaveLength(6);
});

test("a changed file with the old length and the old time is noticed", async () => {
  const options = skillFolder({ "a/skill.toml": oneTool("a"), "a/bin/dt-a": says("a") });
  const file = join(options.path, "a/skill.toml");
  utimesSync(file, 1_000, 1_000);
  const skills = await Skills.open(options);
  put(options.path, { "a/skill.toml": oneTool("a").replace("Does a", "Does b") });
  utimesSync(file, 1_000, 1_000);
  expect((await skills.look()).tools[0]?.tool.description).toBe("Does b");
});

test("it notices changes by itself when it watches", async () => {
  const options = skillFolder();
  const skills = await Skills.open({ ...options, path: join(options.path, "later") });
  ends.push(skills.watch(20));
  put(join(options.path, "later"), { "a/skill.toml": oneTool("a"), "a/bin/dt-a": says("a") });
  await until(() => names(skills.current).length === 1);
});

test("the agent's own tools have priority; older versions can be called, and are not offered", async () => {
  const { set } = await open({
    "one/skill.toml": `${oneTool("greet", "", "1.0.0")}${oneTool("read", "", "9.0.0")}`,
    "one/bin/dt-greet": says("old"),
    "one/bin/dt-read": says("not me"),
    "two/skill.toml": oneTool("greet", "", "2.0.0"),
    "two/bin/dt-greet": says("new"),
  });
  const read = defineTool({
    name: "read",
    description: "The agent's own.",
    input: z.strictObject({}),
    effect: "read",
    idempotent: true,
    timeoutMs: 1_000,
    maxTimeoutMs: 1_000,
    execute: async () => textResult("mine"),
  });
  const { registry, skipped } = withSkills([read], set);
  expect(skipped).toEqual([{ skill: "one", tool: "read", reason: "the agent has a 'read' of its own" }]);
  expect(registry.list()).toEqual(["greet", "read"]);
  expect(registry.definitions().map((it) => it.function.name)).toEqual(["greet", "read"]);
  expect(registry.count()).toBe(2);

  const caller = { principal: "test", role: "owner", channel: "test" };
  const call = async (name: string) =>
    textOf((await runTool(registry, { callId: "c", name, args: {}, caller })).result).trim();
  expect(await call("read")).toBe("mine");
  expect(await call("greet")).toBe("new");
  expect(await call("greet@2.0.0")).toBe("new");
  expect(await call("greet@1.0.0")).toBe("old");
  expect(await call("read@9.0.0")).toContain("Tool 'read@9.0.0' not found. Available tools: greet, read.");
  expect(registry.register(read).get("greet@1.0.0")).toBeDefined();
});

async function open(files: Record<string, string>) {
  const skills = await Skills.open(skillFolder(files));
  return { set: skills.current };
}
