/** Calls that make rules at the same time: while the first one waits for a device, another one comes. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test } from "vitest";
import { device, reading, reported } from "../../../../test/hosted-device.ts";
import { ruleHome } from "../../../../test/rule-clock.ts";
import { rowsOf } from "../../../../test/stopping.ts";
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

async function makes(id: string, name: "watch" | "remind", args: HomeToolRequest["args"]): Promise<string> {
  const home = ruleHome() as unknown as Record<
    "calls.runTool",
    (request: HomeToolRequest) => Promise<HomeToolReply>
  >;
  const reply = await home["calls.runTool"]({
    id,
    name,
    args,
    viewer: { name: "anna", role: "owner", scopes: ["ask"] },
    from: { conversation: "a/api/kitchen", call: "c", depth: 0 },
    origin: { principal: "anna", role: "owner", channel: "api" },
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
  const answers = await Promise.all([makes("one", "watch", warm), makes("two", "watch", warm)]);
  expect(answers.filter((answer) => answer.includes("this person has 20 rules"))).toHaveLength(1);
  expect(await rows()).toHaveLength(20);
});

test("N10: what a new rule tells the model alone is no part of the text that people see", async () => {
  expect(await makes("tea", "remind", { text: "tea", in_minutes: 60 })).toMatch(/tea/);
  expect(await makes("tea", "remind", { text: "tea", in_minutes: 60 })).not.toMatch(/[Tt]he person/);
});
