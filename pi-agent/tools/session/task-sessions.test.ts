import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Entry } from "@edgecall/core/loop/history.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { afterEach, expect, test } from "vitest";
import { type House, house, rules } from "../../testing/house.ts";
import type { ModelAnswer, ModelRequest } from "../../testing/model.ts";
import { testing } from "../../testing/test-tools.ts";
import { task } from "./task.ts";
import { SESSIONS_MAX, TaskSessions } from "./task-sessions.ts";

const dirs: string[] = [];
const houses: House[] = [];
afterEach(async () => {
  for (const one of houses.splice(0)) await one.stop();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-task-"));
  dirs.push(dir);
  return join(dir, "task-sessions");
}

const anna = { principal: "anna", role: "owner", channel: "api" };
const bob = { principal: "bob", role: "owner", channel: "api" };
const asked = (text: string): Entry => ({ role: "user", text });
const answered = (text: string): Entry => ({ role: "assistant", text, calls: [] });

test("a history is for whoever began it, and one that cannot be read says why", async () => {
  const dir = folder();
  const sessions = new TaskSessions(dir);
  const id = sessions.newId();
  expect(await sessions.read(id, anna)).toBe(`there is no session '${id}'`);
  await sessions.write(id, anna, [asked("one"), answered("1")]);
  expect(await sessions.read(id, anna)).toEqual([asked("one"), answered("1")]);
  expect(await sessions.read(id, bob)).toBe(`there is no session '${id}'`);
  writeFileSync(join(dir, `${id}.json`), "{");
  expect(await sessions.read(id, anna)).toMatch(/not JSON/);
});

test("the oldest tasks of a history go first, then what a large one did; 16 histories are kept", async () => {
  const dir = folder();
  const sessions = new TaskSessions(dir);
  const long = "x".repeat(40_000);
  const id = sessions.newId();
  await sessions.write(id, anna, [asked(long), answered("1"), asked("two"), answered(long)]);
  expect(await sessions.read(id, anna)).toEqual([asked("two"), answered(long)]);
  await sessions.write(id, anna, [asked(long), answered(long)]);
  expect(await sessions.read(id, anna)).toEqual([
    asked(`${long.slice(0, 7_999)}…`),
    answered(`${long.slice(0, 7_999)}…`),
  ]);
  for (let more = 0; more < SESSIONS_MAX; more += 1)
    await sessions.write(sessions.newId(), anna, [asked("x"), answered("y")]);
  expect(readdirSync(dir)).toHaveLength(SESSIONS_MAX);
});

test("a sub-agent goes on with its history, whose words count as anybody's: what is not a read asks", async () => {
  const isSub = (request: ModelRequest) =>
    request.messages[0]?.content?.includes("You are given one task") === true;
  const last = ({ messages }: ModelRequest) => messages.at(-1);
  const play = (request: ModelRequest): ModelAnswer => {
    const { role, content } = last(request) ?? {};
    if (role === "tool") return { text: `told: ${content}` };
    if (isSub(request)) return { calls: [{ name: "append", args: {} }] };
    // The person's words are the session's id.
    return { calls: [{ name: "task", args: { prompt: `append for ${content}`, session: content } }] };
  };
  const one = await house(play);
  houses.push(one);
  const llm = { baseUrl: one.baseUrl, model: "scripted", maxTokens: 100, temperature: 0 };
  const tools: Tool[] = testing({ file: one.marks });
  const limits = { maxModelCalls: 5, maxFailedBatches: 3, maxParallel: 5 };
  tools.push(task({ llm, limits, tools }, { stateDir: dirname(one.marks) }));
  await one.start({ tools, policy: rules({ append: "allow" }) });

  const begun = (await one.result(await one.prompt("new"))) as { content: string };
  expect(begun.content).toMatch(/told: appended /);
  const [, id = ""] = /\[Session ([0-9a-f]{12}): /.exec(begun.content) ?? [];

  const next = await one.prompt(id);
  const { question_id, approval } = await one.question(next);
  expect(approval).toMatchObject({ tool: "append" });
  await one.answer(question_id, "deny", { hash: approval?.hash });
  expect(await one.result(next)).toMatchObject({ tainted: true });
  const [again] = one.requests.filter(
    (request) => isSub(request) && last(request)?.content === `append for ${id}`,
  );
  const history = again?.messages ?? [];
  expect(history.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
  expect([1, 3, 4].map((at) => history[at]?.content)).toEqual([
    "append for new",
    expect.stringMatching(/^appended /),
    expect.stringMatching(/^told: appended /),
  ]);

  const unknown = (await one.result(await one.prompt("0123456789ab"))) as { content: string };
  expect(unknown.content).toContain("The task was not begun: there is no session '0123456789ab'.");
});
