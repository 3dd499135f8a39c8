/** A rule that acts on a paired agent's value: the agent is asked what it has, gets the condition when an owner allowed it, and loses it with the rule. */
import { reset } from "cloudflare:test";
import type { Automation } from "@edgecall/core/protocol/automation.ts";
import type { WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acting, allows, asks, drafts, INPUT, sets, verified } from "../../../../test/acting-home.ts";
import { post } from "../../../../test/keyed-home.ts";
import { ruleHome, told } from "../../../../test/rule-clock.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, CPU, type TestBridge } from "../../../../test/workerd.ts";

type Placed = { condition: WatchCondition; acts?: boolean };
type Sent = { command: string; request_id: string; payload: { set?: Placed[]; drop?: string[] } };

const FEATURES = ["tool", "cancel", "ack", "acks", "route", "rules", "truths"];
const READINGS = [
  {
    name: "fridge",
    field: "celsius",
    type: "number",
    unit: "°C",
    now: { value: 4.5, at: 0 },
    every_ms: 60_000,
  },
];
const WARM = {
  ...INPUT,
  name: "Fridge warm, lamp on",
  when: [{ agent_id: "pi", reading: "fridge.celsius", is: "above", value: "8" }],
};

let bridge: TestBridge;
let pi: SignedAgent;
/** The agent's conditions, by their ids. */
let there: Map<string, Placed>;
let answered: Set<string>;

const commands = (command: string): Sent[] =>
  bridge.received
    .flatMap((frame) => (frame.t === "publish" ? [JSON.parse(frame.payload) as Sent] : []))
    .filter((sent) => sent.command === command);

/** The agent answers what it was asked. */
async function answer(): Promise<void> {
  for (const { command, request_id: id, payload } of [...commands("readings"), ...commands("watch_set")]) {
    if (answered.has(id)) continue;
    answered.add(id);
    for (const one of payload.set ?? []) there.set(one.condition.id, one);
    for (const one of payload.drop ?? []) there.delete(one);
    const rules = Object.fromEntries([...there].map(([one, { condition }]) => [one, condition.version]));
    const report = command === "readings" ? { readings: READINGS } : { status: "success", rules };
    bridge.send({ t: "report", id, agent: "pi", payload: await pi.report(id, report) });
  }
}

const state = async (features = FEATURES, rules?: string) =>
  await pi.state({ tools: [CPU], features, rules: rules ?? (await rulesHash([])) });

const isThere = async (count: number) =>
  await until(
    async () => {
      await answer();
      return there.size === count;
    },
    { within: 10_000, every: 20, what: `${count} conditions at the agent` },
  );

/** The agent answers until the turn has ended. */
async function meanwhile<T>(turn: Promise<T>): Promise<T> {
  let isOver = false;
  void turn.finally(() => {
    isOver = true;
  });
  await until(
    async () => {
      await answer();
      return isOver;
    },
    { within: 20_000, every: 20, what: "the turn" },
  );
  return await turn;
}

/** As a bridge drafts it. */
const ofAgent = (rule: Automation): Automation => ({
  ...rule,
  when: rule.when.map(({ condition }) => ({
    ...{ of: "agent", key: pi.publicKey, agent: "pi" },
    condition: {
      ...condition,
      ...{ id: "w-00000000a1", version: rule.version, reading: "fridge", field: "celsius" },
      ...{ type: "number", value: 8 },
    },
  })),
});

beforeEach(async () => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  there = new Map();
  answered = new Set();
  bridge = await acting({ features: ["devices", "kept", "automations", "acks"] });
  pi = await SignedAgent.make("pi");
  await post("/v1/agents/pi/key", { public_key: pi.publicKey, name: "Kitchen" });
  bridge.send({ t: "agent", agent: await state() });
  await until(async () => (await (await ask("/v1/agents")).text()).includes('"pi"'), { what: "the agent" });
  await ask("/v1/agents/pi/accept-text", { method: "POST" });
});
afterEach(reset);

test("the draft has the agent's readings; the agent gets the condition with the allowance, and loses it with the rule", async () => {
  const asked = drafts(bridge, ofAgent);
  const { id } = await meanwhile(allows("c", WARM));
  expect(commands("readings").map(({ payload }) => payload)).toEqual([{ reading: "fridge" }]);
  expect(asked[0]?.readings).toEqual({ pi: READINGS });
  await isThere(1);
  expect([...there.values()]).toMatchObject([
    { acts: true, condition: { id: "w-00000000a1", version: 1, reading: "fridge", field: "celsius" } },
  ]);
  const rule = await verified(sets(bridge).at(-1)?.set[0] ?? "");
  expect(rule?.when).toMatchObject([{ of: "agent", key: pi.publicKey }]);
  // An agent that lost it gets it at its birth; one that has it gets nothing.
  const before = commands("watch_set").length;
  pi.bootId = crypto.randomUUID();
  there.clear();
  bridge.send({ t: "agent", agent: await state() });
  await isThere(1);
  const again = commands("watch_set").length;
  expect(again).toBeGreaterThan(before);
  pi.bootId = crypto.randomUUID();
  const hash = await rulesHash([{ id: "w-00000000a1", version: 1 }]);
  bridge.send({ t: "agent", agent: await state(FEATURES, hash) });
  await ask("/v1/agents");
  expect(commands("watch_set")).toHaveLength(again);
  await ask(`/v1/automations/${id}`, { method: "PATCH", body: JSON.stringify({ status: "paused" }) });
  await isThere(0);
  expect(await rowsOf(ruleHome(), "SELECT id FROM rule")).toEqual([]);
  expect(await told("c")).toEqual([]);
});

test("a revoked key stops the rule", async () => {
  drafts(bridge, ofAgent);
  const { id } = await meanwhile(allows("c", WARM));
  await ask("/v1/agents/pi/key", { method: "DELETE" });
  await until(() => sets(bridge).at(-1)?.drop.includes(id), { what: "the bridge loses the rule" });
});

test("a draft about another agent's key, another value or another reading is none", async () => {
  const other = await SignedAgent.make("other");
  const changed = (of: (one: Automation["when"][number]) => Automation["when"][number]) =>
    drafts(bridge, (rule) => ({ ...ofAgent(rule), when: ofAgent(rule).when.map(of) }));
  const changes: Parameters<typeof changed>[0][] = [
    (one) => ({ ...one, key: other.publicKey }),
    (one) => ({ ...one, of: "hosted" }),
    (one) => ({ ...one, condition: { ...one.condition, field: "humidity" } }),
    (one) => ({ ...one, condition: { ...one.condition, value: 2 } }),
  ];
  for (const [at, change] of changes.entries()) {
    changed(change);
    const { body } = await meanwhile(asks(`c${at}`, WARM));
    expect(body.answer).toContain("something else of it");
  }
  expect(sets(bridge)).toEqual([]);
});

test("an agent that is offline, or older than 0.5, has no value for a rule that acts", async () => {
  drafts(bridge, ofAgent);
  pi.bootId = crypto.randomUUID();
  bridge.send({ t: "agent", agent: await state(FEATURES.filter((one) => one !== "truths")) });
  const { body } = await meanwhile(asks("c", WARM));
  expect(body.answer).toContain("when.0.agent_id: 'pi' is older than 0.5");
  bridge.send({ t: "agent", agent: await pi.state({ online: false, tools: [CPU], features: FEATURES }) });
  const off = await meanwhile(asks("d", WARM));
  expect(off.body.answer).toContain("when.0.agent_id: 'pi' is offline");
});
