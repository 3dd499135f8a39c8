/** Steps that the gateway carries out for a rule: what opens a way in asks a person each time, and nothing beside the rule's own steps is done. */
import { reset } from "cloudflare:test";
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import type { ActOutcome, AutomationStep } from "@edgecall/core/protocol/automation.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acting, allows, answers, asks, drafts, INPUT, openQuestion } from "../../../../test/acting-home.ts";
import { device, SET } from "../../../../test/hosted-device.ts";
import { post } from "../../../../test/keyed-home.ts";
import { permissions } from "../../../../test/permission-home.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { openQuestions } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, type TestBridge } from "../../../../test/workerd.ts";

let bridge: TestBridge;
let rule: string;

const UNLOCKS = {
  ...INPUT,
  name: "Fire: unlock",
  do: [
    { agent_id: "lock", action: "unlock" },
    { agent_id: "lamp", action: "set", parameters: { on: true } },
  ],
};

beforeEach(async () => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  bridge = await acting();
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "unlocked", tainted: false });
  ({ id: rule } = await allows("c", UNLOCKS));
});
afterEach(reset);

function act(more: object = {}, step = 0, firing = 1): string {
  const id = `${rule}:1:${firing}:${step}`;
  bridge.send({ t: "act", act: { id, rule, version: 1, firing, step, ...more } });
  return id;
}
const acted = (id: string): Promise<ActOutcome> =>
  until(() => bridge.received.find((frame) => frame.t === "acted" && frame.id === id), {
    what: `the outcome of ${id}`,
  }).then((frame) => (frame as unknown as { acted: ActOutcome }).acted);

test("a way in asks a person, and opens after their yes", async () => {
  const id = act();
  const question = await openQuestion();
  expect(question).toMatchObject({
    agent: "lock",
    approval: {
      reason: expect.stringContaining("the rule “Fire: unlock” asks for it"),
      card: { danger: true },
    },
  });
  expect(bridge.calls()).toEqual([]);
  await answers(question.id, "approve");
  expect(await acted(id)).toEqual({ outcome: "confirmed", text: expect.stringContaining("unlocked") });
  expect(bridge.calls()).toMatchObject([{ id, agent: "lock" }]);
  const { entries } = (await (await ask("/v1/audit?agent=lock")).json()) as { entries: object[] };
  expect(entries).toMatchObject([
    { tool: "unlock", caller: { principal: `rule:${rule}`, channel: "rule" }, approval: { by: "anna" } },
  ]);
});

test("a no, and the outcome once more where the bridge asks again: it is the same call", async () => {
  const id = act();
  await answers((await openQuestion()).id, "deny");
  expect(await acted(id)).toMatchObject({ outcome: "not_sent" });
  bridge.received.length = 0;
  act();
  expect(await acted(id)).toMatchObject({ outcome: "not_sent" });
  expect(await openQuestions()).toEqual([]);
  expect(bridge.calls()).toEqual([]);
});

test("the rule's permission does not open a way in, nor does that of everybody", async () => {
  expect(await permissions()).toHaveLength(2);
  act();
  await openQuestion();
  expect(bridge.calls()).toEqual([]);
});

describe("is not carried out", () => {
  test.each<[string, object, number?]>([
    ["a step that the bridge runs itself", {}, 1],
    ["a step that there is not", {}, 5],
    ["another version", { version: 2 }],
    ["another rule", { rule: "a-00000000" }],
    ["an id of another step", { id: "a-0:1:1:0" }],
    ["an id of another firing", { firing: 2 }],
  ])("%s", async (_, more, step = 0) => {
    const id = (more as { id?: string }).id ?? act(more, step);
    if ("id" in more) act(more, step);
    expect(await acted(id)).toMatchObject({ outcome: "not_sent" });
    expect(await openQuestions()).toEqual([]);
    expect(bridge.calls()).toEqual([]);
  });

  test("a step of a rule that was stopped", async () => {
    await ask(`/v1/automations/${rule}`, { method: "PATCH", body: JSON.stringify({ status: "paused" }) });
    expect(await acted(act())).toMatchObject({ outcome: "not_sent" });
  });

  test("a step of a rule whose device is another one by now", async () => {
    bridge.send({ t: "agent", agent: device("lamp", { hosted: { allow: "another" } }) });
    expect(await acted(act())).toMatchObject({ outcome: "not_sent" });
    expect(await openQuestions()).toEqual([]);
  });

  test("what a rule asks for too often within an hour", async () => {
    for (let firing = 1; firing <= 30; firing += 1) act({}, 0, firing);
    expect(await acted(`${rule}:1:30:0`)).toMatchObject({ text: expect.stringContaining("too often") });
  });
});

test("an action of a paired agent goes as an ordinary call, in the rule's name and under its permission", async () => {
  const advert = { ...SET, name: "water", description: "Waters the beds", idempotent: false };
  const key = await SignedAgent.make("garden");
  await post("/v1/agents/garden/key", { public_key: key.publicKey, name: "Garden" });
  bridge.send({ t: "agent", agent: await key.state({ tools: [advert] }) });
  await until(async () => (await (await ask("/v1/agents")).text()).includes("water"), { what: "the agent" });
  const allowed = await actionVersion(advert);
  const own = (step: AutomationStep): AutomationStep => ({
    ...step,
    of: "agent",
    key: key.publicKey,
    allow: allowed,
  });
  const wanted = {
    ...INPUT,
    name: "Dry: water",
    do: [{ agent_id: "garden", action: "water", parameters: { on: true } }],
  };
  // An end of an agent is nothing that anybody asked for: the gateway would carry it out.
  drafts(bridge, (draft) => ({
    ...draft,
    do: draft.do.map(own),
    end: draft.do.map((step) => ({ ...own(step), parameters: { on: false } })),
  }));
  expect((await asks("d", { ...wanted, over: "off" })).body.answer).toContain("something else of it");
  drafts(bridge, (draft) => ({ ...draft, do: draft.do.map(own) }));
  ({ id: rule } = await allows("d", wanted));
  const [permission] = await permissions("?device=garden");
  expect(permission).toMatchObject({ device: "garden", who: { rule, version: 1 } });
  bridge.onCall = () => undefined;
  const id = act();
  const call = await until(() => bridge.calls().at(-1), { what: "the call" });
  expect(call).toMatchObject({ id, agent: "garden" });
  expect(JSON.parse(call.payload)).toMatchObject({
    payload: { tool: "water", parameters: { on: true } },
    caller: { principal: `rule:${rule}`, channel: "rule" },
  });
  bridge.send({
    t: "report",
    id,
    agent: "garden",
    payload: await key.report(id, { status: "success", result: "wet" }),
  });
  expect(await acted(id)).toEqual({ outcome: "sent", text: expect.stringContaining("wet") });
  expect(await permissions("?device=garden")).toMatchObject([{ uses: 1 }]);
  expect(await openQuestions()).toEqual([]);
});
