import { mkdtempSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOf } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { expect, test } from "vitest";
import { MAX_ITEMS, MAX_LISTS, todo } from "./todo.ts";

const ANNA = { principal: "anna", role: "owner", channel: "api" };
const folder = () => mkdtempSync(join(tmpdir(), "edgecall-todo-"));

/** The tools for a folder, made again for each call as after a restart. */
function lists(stateDir: string) {
  return async (name: string, args: Record<string, unknown>, caller: Record<string, string> = ANNA) => {
    const registry = new ToolRegistry(todo({ stateDir }));
    const { result } = await runTool(registry, { callId: "c", name, args, caller: caller as typeof ANNA });
    return { text: textOf(result), code: result.fault?.code };
  };
}

test("items are added, changed and read, also after a restart", async () => {
  const call = lists(folder());
  expect((await call("todoread", {})).text).toBe("The to-do list is empty.");
  await call("todowrite", { todos: [{ content: "measure" }, { content: "compare", status: "in_progress" }] });
  const { text } = await call("todowrite", {
    todos: [{ id: 1, status: "completed" }, { id: 2, content: "compare all" }, { content: "report" }],
  });
  expect(text).toBe("3 items, 2 open\n1. [x] measure\n2. [~] compare all\n3. [ ] report");
  expect((await call("todoread", {})).text).toBe(text);
});

test("the filter", async () => {
  const call = lists(folder());
  const statuses = ["pending", "in_progress", "completed", "cancelled"];
  await call("todowrite", { todos: statuses.map((status) => ({ content: status, status })) });
  expect((await call("todoread", { filter: "open" })).text).toBe(
    "4 items, 2 open; open: 2\n1. [ ] pending\n2. [~] in_progress",
  );
  expect((await call("todoread", { filter: "cancelled" })).text).toBe(
    "4 items, 2 open; cancelled: 1\n4. [-] cancelled",
  );
  expect((await call("todoread", { filter: "done" })).code).toBe("invalid_params");
});

test("the same items again change nothing, because some models send their whole list, and some calls run twice", async () => {
  const call = lists(folder());
  await call("todowrite", { todos: [{ content: "a" }, { content: "b" }] });
  const { text } = await call("todowrite", {
    todos: [{ content: "a", status: "completed" }, { content: "b" }],
  });
  expect(text).toBe("2 items, 1 open\n1. [x] a\n2. [ ] b");
});

test("each conversation has its own list; without one, each channel of a person has", async () => {
  const call = lists(folder());
  const write = (content: string, caller: Record<string, string>) =>
    call("todowrite", { todos: [{ content }] }, caller);
  await write("first", { ...ANNA, conversation: "1" });
  await write("second", { ...ANNA, conversation: "2" });
  await write("none", ANNA);
  await write("ben's", { ...ANNA, principal: "ben", conversation: "1" });
  expect((await call("todoread", {}, { ...ANNA, conversation: "1" })).text).toBe(
    "1 item, 1 open\n1. [ ] first",
  );
  expect((await call("todoread", {}, ANNA)).text).toBe("1 item, 1 open\n1. [ ] none");
  expect((await call("todoread", {}, { ...ANNA, channel: "telegram" })).text).toBe(
    "The to-do list is empty.",
  );
});

test("simultaneous writes are all kept", async () => {
  const stateDir = folder();
  const registry = new ToolRegistry(todo({ stateDir }));
  const write = (content: string) =>
    runTool(registry, { callId: content, name: "todowrite", args: { todos: [{ content }] }, caller: ANNA });
  await Promise.all(Array.from({ length: 20 }, (_, index) => write(`item ${index}`)));
  expect((await lists(stateDir)("todoread", {})).text).toMatch(/^20 items, 20 open\n/);
});

test("one wrong change cancels the others too", async () => {
  const call = lists(folder());
  await call("todowrite", { todos: [{ content: "a" }] });
  expect(await call("todowrite", { todos: [{ id: 1, status: "completed" }, { id: 7 }] })).toEqual({
    code: "invalid_params",
    text: "Error: Invalid parameters for 'todowrite': there is no item 7; right would be one of: 1.\nNothing was changed.",
  });
  expect((await call("todowrite", { todos: [{ status: "pending" }] })).text).toContain(
    "an item without an id needs content",
  );
  expect((await call("todoread", {})).text).toBe("1 item, 1 open\n1. [ ] a");
});

test("a full list: finished items make room, open ones do not", async () => {
  const call = lists(folder());
  const many = Array.from({ length: MAX_ITEMS }, (_, index) => ({ content: `item ${index}` }));
  await call("todowrite", { todos: many });
  expect((await call("todowrite", { todos: [{ content: "one more" }] })).text).toContain(
    `the list is full: ${MAX_ITEMS} items are open`,
  );
  await call("todowrite", { todos: [{ id: 3, status: "completed" }] });
  const { text } = await call("todowrite", { todos: [{ content: "one more" }] });
  expect(text).toContain(`${MAX_ITEMS + 1}. [ ] one more`);
  expect(text).not.toContain("item 2\n");
});

test("an unreadable list is not overwritten", async () => {
  const stateDir = folder();
  const call = lists(stateDir);
  await call("todowrite", { todos: [{ content: "a" }] });
  const [name = ""] = readdirSync(join(stateDir, "todos"));
  const file = join(stateDir, "todos", name);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, "{");
  expect((await call("todowrite", { todos: [{ content: "b" }] })).code).toBe("io");
  expect((await call("todoread", {})).text).toMatch(/^Error: The to-do list cannot be kept: not JSON/);
});

test("the lists that were unused longest are deleted first", async () => {
  const stateDir = folder();
  const call = lists(stateDir);
  const write = (conversation: number) =>
    call("todowrite", { todos: [{ content: "a" }] }, { ...ANNA, conversation: String(conversation) });
  for (let at = 0; at < MAX_LISTS; at += 1) await write(at);
  for (const name of readdirSync(join(stateDir, "todos")))
    utimesSync(join(stateDir, "todos", name), 2_000, 2_000);
  await write(0);
  const [first = ""] = readdirSync(join(stateDir, "todos")).filter(
    (name) => statSync(join(stateDir, "todos", name)).mtimeMs === 2_000_000,
  );
  utimesSync(join(stateDir, "todos", first), 1_000, 1_000);
  await write(MAX_LISTS);
  const left = readdirSync(join(stateDir, "todos"));
  expect(left).toHaveLength(MAX_LISTS);
  expect(left).not.toContain(first);
});
