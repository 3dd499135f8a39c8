/** Calls that make rules at the same time: while the first one waits for a device, another one comes. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test } from "vitest";
import { device, reading, reported } from "../../../../test/hosted-device.ts";
import { ruleHome } from "../../../../test/rule-clock.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { answerQuestion, openQuestions } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { TestBridge } from "../../../../test/workerd.ts";
import type { HomeToolReply, HomeToolRequest } from "../../../kernel/api/home-tools.ts";

afterEach(reset);
beforeEach(async () => {
  setVariables({ GATEWAY_TOOLS: "rules" });
  const bridge = await TestBridge.dial();
  bridge.onStates = () => [
    reported("freezer", reading("temperature", -18.2, { unit: "°C", at: Date.now() })),
  ];
  await bridge.hello(["devices", "kept", "rules"]);
  await bridge.snapshot([device("freezer", { line: "temperature" })]);
});

async function makes(
  id: string,
  name: "watch" | "remind" | "rules",
  args: HomeToolRequest["args"],
  { principal = "anna", role = "owner" as "owner" | "member", conversation = "a/api/kitchen" } = {},
): Promise<string> {
  const home = ruleHome() as unknown as Record<
    "calls.runTool",
    (request: HomeToolRequest) => Promise<HomeToolReply>
  >;
  const reply = await home["calls.runTool"]({
    id,
    name,
    args,
    viewer: { name: principal, role, scopes: ["ask"] },
    from: { conversation, call: "c", depth: 0 },
    origin: { principal, role, channel: "api" },
    sources: [],
  });
  return "outcome" in reply ? (reply.outcome.text ?? "") : "it waits";
}

const warm = { name: "Warm", agent_id: "freezer", reading: "temperature", is: "above", value: -15 };
const rows = () => rowsOf<{ id: string }>(ruleHome(), "SELECT id FROM rule");

test("the same call a second time before it was answered makes one rule, and both answers name it", async () => {
  const answers = await Promise.all([makes("same", "watch", warm), makes("same", "watch", warm)]);
  const [{ id = "" } = {}, ...more] = await rows();
  expect(more).toEqual([]);
  for (const answer of answers) expect(answer).toContain(`${id}: Watching Freezer`);
});

test("two calls at the same time do not exceed what a person may have", async () => {
  for (let n = 0; n < 19; n += 1) await makes(`r${n}`, "remind", { text: "tea", in_minutes: 60 });
  const warmer = { ...warm, value: -10 };
  const answers = await Promise.all([makes("one", "watch", warm), makes("two", "watch", warmer)]);
  expect(answers.filter((answer) => answer.includes("this person has 20 rules"))).toHaveLength(1);
  expect(await rows()).toHaveLength(20);
});

test("a watch that the person has already is no second one: they are told which it is", async () => {
  await makes("first", "watch", warm);
  const [{ id = "" } = {}] = await rows();
  const again = await makes("again", "watch", { ...warm, name: "warm" });
  expect(again).toContain(
    `${id}: There is this watch already. “Warm”, Freezer: when temperature is above −15 °C`,
  );
  // Also over another conversation of theirs, in which nothing else is told.
  expect(await makes("there", "watch", warm, { conversation: "a/api/hall" })).toContain(id);
  const both = await Promise.all([makes("x", "watch", warm), makes("y", "watch", warm)]);
  for (const answer of both) expect(answer).toContain(id);
  expect(await rows()).toHaveLength(1);
});

test("another limit, severity, name or person makes a watch of its own, and so does one that is paused", async () => {
  const mia = { principal: "mia", role: "member" as const };
  const [id = ""] = (await makes("first", "watch", warm)).split(":");
  await makes("limit", "watch", { ...warm, value: -10 });
  await makes("warning", "watch", { ...warm, severity: "warning" });
  await makes("name", "watch", { ...warm, name: "Freezer" });
  await makes("mia", "watch", warm, mia);
  expect(await rows()).toHaveLength(5);
  expect(await makes("pause", "rules", { do: "pause", id })).toContain("is paused");
  await makes("again", "watch", warm);
  expect(await rows()).toHaveLength(6);
});

test("a list of reminders has briefings too, and one of watches has neither", async () => {
  await makes("first", "watch", warm);
  await makes("tea", "remind", { text: "tea", in_minutes: 60 });
  const brief = { text: "the garden", every: "day", at: "08:00", do: "brief" };
  await makes("brief", "remind", brief);
  const [{ id = "" } = {}] = await openQuestions();
  await answerQuestion(id, "approve");
  await makes("brief", "remind", brief);
  const listed = async (of?: string) =>
    (await makes(`list ${of}`, "rules", { do: "list", ...(of && { of }) })).match(/“[^”]+”/g);
  expect(await listed()).toEqual(["“Warm”", "“tea”", "“the garden”"]);
  expect(await listed("reminder")).toEqual(["“tea”", "“the garden”"]);
  expect(await listed("briefing")).toEqual(["“the garden”"]);
  expect(await listed("watch")).toEqual(["“Warm”"]);
  await makes("cancel", "rules", { do: "cancel", name: "Warm" });
  expect(await makes("none", "rules", { do: "list", of: "watch" })).toBe("There is no such rule.");
});

test("N10: what a new rule tells the model alone is no part of the text that people see", async () => {
  expect(await makes("tea", "remind", { text: "tea", in_minutes: 60 })).toMatch(/tea/);
  expect(await makes("tea", "remind", { text: "tea", in_minutes: 60 })).not.toMatch(/[Tt]he person/);
});
