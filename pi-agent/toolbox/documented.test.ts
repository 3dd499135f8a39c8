/**
 * docs/explain/what-may-be-done.md compared with the code: each tool is in its tables, with its arguments, effect, needs and time limit.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { aliasesOfOwnTool, isOwnTool } from "@edgecall/core/tools/own-names.ts";
import { afterAll, expect, test } from "vitest";
import { everyTool, settings, state } from "../testing/every-tool.ts";
import { openToolbox } from "./toolbox.ts";

/** A formatter pads the columns of a table. */
const DOCUMENT = readFileSync(
  join(import.meta.dirname, "../../docs/explain/what-may-be-done.md"),
  "utf8",
).replaceAll(/ +\|/g, " |");
const HEADER = "| tool | what it does | effect | permission | time-out | needs | runs |";
const COLUMNS = HEADER.split("|").length;

const { tools: all, close } = await everyTool();
afterAll(close);

/** The first and the third to fifth cell, which can be compared. */
function documented(): string[] {
  const tables = DOCUMENT.split(`${HEADER}\n`).slice(1);
  const rows = tables.flatMap((table) => (table.split("\n\n")[0] ?? "").trim().split("\n").slice(1));
  return rows.map((row) => {
    const cells = row.split("|").map((cell) => cell.trim());
    expect(cells, row).toHaveLength(COLUMNS);
    const [, call = "", what, effect, permission, timeout, needs, runs] = cells;
    for (const said of [what, needs]) expect(said, row).not.toBe("");
    expect(runs, row).toMatch(/^(agent|program|sandbox)$/);
    return [call.replaceAll("`", ""), effect, permission, timeout].join(" | ");
  });
}

function inWords(tool: Tool): string {
  const { properties = {}, required = [] } = jsonSchema(tool.input) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const args = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
  const permissions = tool.permissions ?? (tool.permission ? [tool.permission] : ["–"]);
  return [
    `${tool.name}(${args.join(", ")})`,
    tool.taints ? `${tool.effect}, taints` : tool.effect,
    permissions.join(", "),
    `${tool.timeoutMs / 1_000} s / ${tool.maxTimeoutMs / 1_000} s`,
  ].join(" | ");
}

test("docs/explain/what-may-be-done.md has every tool as it is", () => {
  expect(documented().sort()).toEqual(all.map(inWords).sort());
});

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
  const start = DOCUMENT.indexOf("Which of ours they have at all");
  const list = DOCUMENT.slice(start, DOCUMENT.indexOf("The reverse", start));
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

test("it has every tool that an agent offers or misses", async () => {
  const toolbox = await openToolbox(settings, state);
  await toolbox.close();
  const names = [...toolbox.tools, ...toolbox.unavailable].map(({ name }) => name);
  expect(names.length).toBeGreaterThan(30);
  const told = documented().map((row) => row.split("(")[0]);
  expect(names.filter((name) => !told.includes(name))).toEqual([]);
});
