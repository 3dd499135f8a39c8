/** The tools of the code compared with the designs, with the page that says which agent has what, and with the names that the gateway knows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { aliasesOfOwnTool, isOwnTool } from "@edgecall/core/tools/own-names.ts";
import { afterAll, expect, test } from "vitest";
import { everyTool, settings, state } from "../testing/every-tool.ts";
import { openToolbox } from "./toolbox.ts";

const read = (page: string) => readFileSync(join(import.meta.dirname, "../../docs", page), "utf8");

const { tools: all, close } = await everyTool();
afterAll(close);

test.each([
  ["files", ["read", "write", "edit", "glob", "grep"], [5, 30]],
  ["the web", ["websearch", "webfetch", "codesearch"], [30, 120]],
  ["a shell", ["bash"], [30, 300]],
  ["git", ["git_status", "git_diff", "git_commit", "git_log", "git_branch"], [60, 300]],
  ["others", ["question", "todowrite", "todoread", "skill", "temperature", "cpu", "disk"], [10, 60]],
])("the designs' time and maximum: %s", (_, names, seconds) => {
  const tools = all.filter(({ name }) => names.includes(name));
  expect(tools).toHaveLength(names.length);
  for (const { name, timeoutMs, maxTimeoutMs } of tools)
    expect([name, timeoutMs / 1_000, maxTimeoutMs / 1_000]).toEqual([name, ...seconds]);
});

test.each([
  ["file_read", ["read", "glob", "grep"]],
  ["file_write", ["write", "edit"]],
  ["shell", ["bash"]],
  ["network", ["websearch", "webfetch"]],
  ["git", ["git_status", "git_diff", "git_commit", "git_log", "git_branch"]],
])("the designs' tools of the permission %s", (permission, names) => {
  const tools = all.filter(({ name }) => names.includes(name));
  expect(tools.map((tool) => [tool.name, tool.permission]).sort()).toEqual(
    names.map((name) => [name, permission]).sort(),
  );
});

test("each tool is in the list of which agent has what", () => {
  const page = read("explain/what-may-be-done.md");
  const start = page.indexOf("Which of ours they have at all");
  const list = page.slice(start, page.indexOf("The reverse", start));
  const first = list.split("\n").flatMap((row) => (row.startsWith("| `") ? (row.split("|")[1] ?? "") : []));
  const named = first.flatMap((cell) => cell.match(/[a-z0-9_]+/g) ?? []);
  expect(named.sort()).toEqual(all.map(({ name }) => name).sort());
});

test("the gateway takes no tool's name for a stranger's word", () => {
  expect(all.map(({ name }) => name).filter((name) => !isOwnTool(name))).toEqual([]);
});

test("D3: the gateway knows the other names of their parameters, so that it does not leave those out", async () => {
  for (const { name, aliases = {} } of all) {
    const taken = Object.entries(aliases).flatMap(([alias, of]) => (typeof of === "string" ? [alias] : []));
    expect([name, taken.toSorted()]).toEqual([name, [...aliasesOfOwnTool(name)].toSorted()]);
  }
});

test("docs/reference/tools.md has every tool that an agent offers or misses", async () => {
  const toolbox = await openToolbox(settings, state);
  await toolbox.close();
  const names = [...toolbox.tools, ...toolbox.unavailable].map(({ name }) => name);
  expect(names.length).toBeGreaterThan(30);
  const told = [...read("reference/tools.md").matchAll(/^### `(\w+)`$/gm)].map(([, name = ""]) => name);
  expect(names.filter((name) => !told.includes(name))).toEqual([]);
});
