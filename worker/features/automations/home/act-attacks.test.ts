/**
 * A rule's step at a paired agent, as an attacker would have it: who has the bridge's token asks for it, and who has the broker writes
 * the agent's answer. Behind each attempt the gateway's answer is awaited, or an honest step of another rule: by then an attempt that
 * counted would have acted too.
 */
import { reset, runInDurableObject } from "cloudflare:test";
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import type { ActOutcome, ActRequest, AutomationStep } from "@edgecall/core/protocol/automation.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { acting, allows, answers, drafts, INPUT, openQuestion } from "../../../../test/acting-home.ts";
import { device, SET } from "../../../../test/hosted-device.ts";
import { post } from "../../../../test/keyed-home.ts";
import { permissions } from "../../../../test/permission-home.ts";
import { at, ruleHome } from "../../../../test/rule-clock.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { stop } from "../../../../test/stopping.ts";
import { TOKENS, testVars } from "../../../../test/tokens.ts";
import { openQuestions } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, TestBridge } from "../../../../test/workerd.ts";
import type { Home } from "../../../home.ts";
import { ledgerOf } from "../../../kernel/home/ledger/ledger.ts";
import { onAct } from "./act.ts";
import { allow } from "./allow.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { stopRule } from "./pause.ts";

const DAY_MS = 86_400_000;
const WATER: ActionAdvert = { ...SET, name: "water", description: "Waters the beds", idempotent: false };
const PUMP = { agent_id: "garden", action: "water", parameters: { on: true } };

let bridge: TestBridge;
let garden: SignedAgent;
/** The attacked rule, and an honest one. */
let victim: string;
let control: string;
let controls = 0;

/** @param steps of the attacked rule */
async function begin(steps: ReadonlyArray<typeof PUMP> = [PUMP]): Promise<void> {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", CHANNELS: "" });
  controls = 0;
  bridge = await acting();
  garden = await SignedAgent.make("garden");
  await post("/v1/agents/garden/key", { public_key: garden.publicKey, name: "Garden" });
  await advertises([WATER]);
  const allowed = await actionVersion(WATER);
  const own = (step: AutomationStep): AutomationStep =>
    step.agent === "garden" ? { ...step, of: "agent", key: garden.publicKey, allow: allowed } : step;
  drafts(bridge, (draft) => ({
    ...draft,
    do: draft.do.map(own),
    an_hour: draft.name === "Control" ? 60 : 12,
  }));
  ({ id: victim } = await allows("c", { ...INPUT, name: "Victim", do: [...steps] }));
  const off = { ...PUMP, parameters: { on: false } };
  ({ id: control } = await allows("d", { ...INPUT, name: "Control", do: [off] }));
}

/** The last one says that the gateway has them. */
async function advertises(tools: readonly ActionAdvert[], more: { online?: boolean } = {}): Promise<void> {
  bridge.send({ t: "agent", agent: await garden.state({ tools: [...tools], ...more }) });
  const last = tools.at(-1)?.name ?? "";
  await until(async () => {
    const { agents } = (await (await ask("/v1/agents")).json()) as {
      agents: Array<{ id: string; online: boolean; actions: string[] }>;
    };
    const one = agents.find(({ id }) => id === "garden");
    return one?.online === (more.online ?? true) && one.actions.includes(last);
  });
}

function act(more: Partial<ActRequest> = {}): string {
  const { rule = victim, version = 1, firing = 1, step = 0 } = more;
  const id = more.id ?? `${rule}:${version}:${firing}:${step}`;
  bridge.send({ t: "act", act: { id, rule, version, firing, step } });
  return id;
}
const acted = (id: string): Promise<ActOutcome> =>
  until(() => bridge.received.find((frame) => frame.t === "acted" && frame.id === id), {
    what: `the outcome of ${id}`,
  }).then((frame) => (frame as unknown as { acted: ActOutcome }).acted);

const commands = () =>
  bridge.calls().map(({ id, payload }) => {
    const { payload: inner } = JSON.parse(payload) as { payload: { parameters: { on: boolean } } };
    return { id, on: inner.parameters.on };
  });
/** What the attacked rule does. */
const done = () => commands().filter(({ on }) => on);

/** An honest step goes out: what was asked for before has come to its end. */
async function controlActs(): Promise<void> {
  controls += 1;
  const id = act({ rule: control, firing: controls });
  await until(() => commands().some((one) => one.id === id), { what: "the honest step" });
  bridge.send({
    t: "report",
    id,
    agent: "garden",
    payload: await garden.report(id, { status: "success", result: "dry" }),
  });
  await acted(id);
}

async function expectRefused(id = act()): Promise<void> {
  expect(await acted(id)).toMatchObject({ outcome: "not_sent" });
  expect(done()).toEqual([]);
  // Undefined: of an owner that is gone.
  expect((await openQuestions()) ?? []).toEqual([]);
}

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

describe("asked for by who has the bridge's token", () => {
  beforeEach(() => begin());

  test("in the name of what the rule is not", async () => {
    const step = { rule: victim, version: 1, firing: 1, step: 0 };
    const id = `${victim}:1:1:0`;
    const wrong: object[] = [
      // No rule, or another one.
      ...[
        "a-00000000",
        "a-0",
        `${victim}0`,
        victim.toUpperCase(),
        `${victim} `,
        "w-0001",
        "",
        "__proto__",
      ].map((rule) => ({ ...step, rule, id: `${rule}:1:1:0` })),
      ...["constructor", "%", "a-%", "*", null, 1, [victim], { id: victim }].map((rule) => ({
        ...step,
        rule,
        id: `${rule}:1:1:0`,
      })),
      { ...step, rule: control, id },
      { ...step, id: `${control}:1:1:0` },
      // Versions.
      ...[0, 2, 99, -1, 1.5, "1", null].map((version) => ({
        ...step,
        version,
        id: `${victim}:${version}:1:0`,
      })),
      { ...step, version: 2, id },
      // Steps.
      ...[1, 2, 99, -1, 0.5, "0", "__proto__", "length", null].map((at) => ({
        ...step,
        step: at,
        id: `${victim}:1:1:${at}`,
      })),
      { ...step, step: 1, id },
      // Firings, and ids of others.
      ...[0, -1, 1.5, "1", 2 ** 53, null].map((firing) => ({
        ...step,
        firing,
        id: `${victim}:1:${firing}:0`,
      })),
      { ...step, firing: 2, id },
      ...[`${id} `, ` ${id}`, `${id}:0`, `${victim}:01:1:0`, `${victim}:1:1:00`, "", "x".repeat(200)].map(
        (other) => ({ ...step, id: other }),
      ),
    ];
    for (const [n, one] of wrong.entries()) {
      bridge.raw(JSON.stringify({ t: "act", act: one }));
      if (n % 8 === 7) await controlActs();
    }
    await controlActs();
    expect(done()).toEqual([]);
    expect(await openQuestions()).toEqual([]);
    expect(wrong.length).toBeGreaterThanOrEqual(40);
  });

  test("with other parameters, another device or another action: the gateway takes its own", async () => {
    const id = `${victim}:1:1:0`;
    const others = {
      parameters: { on: false },
      params: { on: false },
      agent: "lock",
      agent_id: "lock",
      action: "unlock",
      tool: "unlock",
      caller: { principal: "anna", role: "owner", channel: "console" },
      approved: { by: "anna" },
    };
    bridge.raw(
      JSON.stringify({ t: "act", act: { id, rule: victim, version: 1, firing: 1, step: 0, ...others } }),
    );
    const call = await until(() => bridge.calls()[0], { what: "the call" });
    expect(call).toMatchObject({ id, agent: "garden" });
    expect(JSON.parse(call.payload)).toMatchObject({
      payload: { tool: "water", parameters: { on: true } },
      caller: { principal: `rule:${victim}`, role: "member", channel: "rule" },
    });
  });

  test("again: at once, after its end, and by a home that was evicted; it is the same call", async () => {
    for (let n = 0; n < 5; n += 1) act();
    const id = act();
    await controlActs();
    expect(done()).toEqual([{ id, on: true }]);
    await stop("evict", ruleHome());
    act();
    await controlActs();
    bridge.send({
      t: "report",
      id,
      agent: "garden",
      payload: await garden.report(id, { status: "success", result: "wet" }),
    });
    expect(await acted(id)).toMatchObject({ outcome: "sent" });
    for (const how of [() => {}, () => stop("evict", ruleHome())]) {
      await how();
      bridge.received.splice(0, bridge.received.length, ...bridge.calls());
      act();
      expect(await acted(id)).toMatchObject({ outcome: "sent" });
    }
    expect(done()).toHaveLength(1);
  });

  test("more often than the rule may within an hour, also of a home that forgot what it had in memory", async () => {
    at(Date.now());
    const answered = async (from: number, to: number) => {
      for (let firing = from; firing <= to; firing += 1) {
        const id = act({ firing });
        const isOut = () => bridge.calls().some((call) => call.id === id);
        const isRefused = () => bridge.received.some((frame) => frame.t === "acted" && frame.id === id);
        await until(() => isOut() || isRefused(), { what: id });
        if (!isOut()) continue;
        const payload = await garden.report(id, { status: "success", result: "wet" });
        bridge.send({ t: "report", id, agent: "garden", payload });
        await acted(id);
      }
    };
    await answered(1, 8);
    await stop("evict", ruleHome());
    await answered(9, 24);
    await stop("evict", ruleHome());
    await answered(25, 40);
    // 12 an hour, and the late step of one run more.
    expect(done().map(({ id }) => id)).toEqual(
      Array.from({ length: 13 }, (_, n) => `${victim}:1:${n + 1}:0`),
    );
    expect(await acted(`${victim}:1:40:0`)).toMatchObject({ text: expect.stringContaining("too often") });
  });
});

describe("asked for when it may not be any more", () => {
  beforeEach(() => begin());
  const change = (body: object) =>
    ask(`/v1/automations/${victim}`, { method: "PATCH", body: JSON.stringify(body) });
  const people = (of: (one: { name: string; role: string; scopes: string[] }) => object | undefined) =>
    JSON.stringify(
      (JSON.parse(testVars.API_TOKENS) as Array<{ name: string; role: string; scopes: string[] }>).flatMap(
        (one) => (one.name === "anna" ? (of(one) ?? []) : one),
      ),
    );

  test.each<[string, () => Promise<unknown> | unknown]>([
    ["a person paused the rule", () => change({ status: "paused" })],
    ["a person ended it", () => ask(`/v1/automations/${victim}`, { method: "DELETE" })],
    [
      "a person ended its permission",
      async () => {
        const rows = (await permissions("?device=garden")) as Array<{ id: string; who: object }>;
        const own = rows.find(({ who }) => "rule" in who && who.rule === victim);
        await ask(`/v1/permissions/${own?.id}`, { method: "DELETE" });
      },
    ],
    ["its time is over", () => at(Date.now() + 91 * DAY_MS)],
    ["whoever made and allowed it is gone", () => setVariables({ API_TOKENS: people(() => undefined) })],
    [
      "whoever allowed it is no owner any more",
      () => setVariables({ API_TOKENS: people((one) => ({ ...one, role: "member" })) }),
    ],
    [
      "whoever allowed it may not approve any more",
      () =>
        setVariables({
          API_TOKENS: people((one) => ({ ...one, scopes: one.scopes.filter((of) => of !== "approve") })),
        }),
    ],
    ["the agent's key was revoked", () => ask("/v1/agents/garden/key", { method: "DELETE" })],
    [
      "another agent has its name",
      async () => {
        await ask("/v1/agents/garden/key", { method: "DELETE" });
        garden = await SignedAgent.make("garden");
        await post("/v1/agents/garden/key", { public_key: garden.publicKey, name: "Garden" });
        await advertises([WATER]);
      },
    ],
    ["the agent is away", () => advertises([WATER], { online: false })],
    ["its action is gone", () => advertises([{ ...WATER, name: "spray" }])],
    ...Object.entries<Partial<ActionAdvert>>({
      "says something else of itself": { description: "Floods the cellar" },
      "takes other values": { parameters: { type: "object", properties: { on: { type: "string" } } } },
      "is dangerous now": { danger: true, danger_why: "it floods" },
      "is a setting now": { setting: true },
      "goes out of the home now": { effect: "network" },
      "runs programs now": { effect: "exec" },
    }).map(([what, more]): [string, () => Promise<void>] => [
      `its action ${what}`,
      async () => {
        await advertises([
          { ...WATER, ...more },
          { ...WATER, name: "then" },
        ]);
      },
    ]),
  ])("%s", async (_, does) => {
    await does();
    await expectRefused();
    await expectRefused(act({ firing: 2 }));
  });

  test("an older version, after the rule was allowed anew", async () => {
    await change({ status: "paused" });
    const { allow: hash } = (await (
      await ask(`/v1/automations/${victim}/card`, { method: "POST" })
    ).json()) as { allow: string };
    expect((await change({ status: "active", allow: hash })).status).toBe(200);
    await expectRefused();
    const id = act({ version: 2 });
    await until(() => done().length === 1, { what: "the version that is allowed acts" });
    expect(done()).toEqual([{ id, on: true }]);
  });

  test("a hosted device with the agent's name, and one with its key, are not the agent", async () => {
    bridge.send({ t: "agent", agent: device("garden", { tools: [WATER] }) });
    bridge.send({
      t: "agent",
      agent: device("garden-2", {
        tools: [WATER],
        hosted: { key: garden.publicKey, allow: await actionVersion(WATER) },
      }),
    });
    const id = act();
    await Promise.race([acted(id), until(() => done().length > 0, { what: "the call" })]);
    // The agent itself may be told, as the rule says; neither of the others is.
    expect(bridge.calls().filter(({ agent }) => agent !== "garden")).toEqual([]);
    for (const { payload } of bridge.calls()) expect(JSON.parse(payload)).toHaveProperty("sig");
    expect(await openQuestions()).toEqual([]);
  });

  test("a rule that is stopped while its step is looked at: afterwards nothing goes out", async () => {
    let [late, known] = [0, 0];
    for (let steps = 0; steps < 80 && known < 5; steps += 1) {
      const id = await runInDurableObject(ruleHome(), async ({ access: { home } }: Home) => {
        const row = automationsOf(home).get(victim) as AutomationRow;
        const { version } = row.automation;
        const request = { id: `${victim}:${version}:1:0`, rule: victim, version, firing: 1, step: 0 };
        const asked = onAct(home, { t: "act", act: request });
        for (let n = 0; n < steps; n += 1) await null;
        const isKnown = ledgerOf(home).get(request.id) !== undefined;
        stopRule(home, automationsOf(home).get(victim) as AutomationRow);
        await asked;
        const { automation, card, input, allowed, maker } = automationsOf(home).get(victim) as AutomationRow;
        const next = { automation: { ...automation, version: version + 1 }, card, input };
        const made = await allow(home, next, { principal: allowed.by, how: "press", question: null }, maker);
        expect(made).toMatchObject({ status: "active" });
        return isKnown ? undefined : request.id;
      });
      if (id === undefined) {
        known += 1;
        continue;
      }
      late += 1;
      await controlActs();
      expect(done().map((one) => one.id)).not.toContain(id);
    }
    expect(late).toBeGreaterThan(0);
    expect(known).toBe(5);
  });
});

describe("a person's late yes", () => {
  beforeEach(() => begin([{ agent_id: "lock", action: "unlock", parameters: {} as { on: boolean } }]));

  test.each<[string, () => Promise<Response>]>([
    [
      "to a rule that was paused meanwhile",
      () => ask(`/v1/automations/${victim}`, { method: "PATCH", body: JSON.stringify({ status: "paused" }) }),
    ],
    ["to one that was ended", () => ask(`/v1/automations/${victim}`, { method: "DELETE" })],
  ])("%s, opens nothing", async (_, does) => {
    const id = act();
    const question = await openQuestion();
    expect((await does()).ok).toBe(true);
    await answers(question.id, "approve");
    act();
    expect(await acted(id)).toMatchObject({ outcome: "not_sent" });
    await controlActs();
    expect(bridge.calls().filter(({ agent }) => agent === "lock")).toEqual([]);
    expect(await openQuestions()).toEqual([]);
  });
});

describe("a question that is made while its rule is stopped", () => {
  beforeEach(() => begin([{ agent_id: "lock", action: "unlock", parameters: {} as { on: boolean } }]));

  test("opens nothing with a yes", async () => {
    const id = act();
    // The gateway asks for the lock's readings, which the question shows.
    await until(() => bridge.received.some(({ t }) => t === "states"), {
      what: "the readings are asked for",
    });
    await ask(`/v1/automations/${victim}`, { method: "PATCH", body: JSON.stringify({ status: "paused" }) });
    const question = await until(async () => (await openQuestions())[0] as { id: string } | undefined);
    await answers(question.id, "approve");
    expect(await acted(id)).toMatchObject({ outcome: "not_sent", text: expect.stringContaining("stopped") });
    expect(bridge.calls()).toEqual([]);
  });
});

describe("who has the broker writes the agent's answer", () => {
  beforeEach(() => begin());

  test("without its signature, with another one, or an old one: the step has no answer until the agent's own", async () => {
    const id = act();
    await until(() => done().length === 1, { what: "the call" });
    const thief = await SignedAgent.make("garden");
    const other = await SignedAgent.make("pi");
    const said = { status: "success", result: "forged" };
    const plain = (more: object = {}) =>
      JSON.stringify({
        agent_id: "garden",
        agent_type: "monitor",
        report_type: "result",
        timestamp: 1,
        payload: { ...said, request_id: id },
        ...more,
      });
    const own = await garden.report("another", said);
    const forged = [
      plain(),
      plain({ signature: "" }),
      plain({ signature: "A".repeat(86) }),
      plain({ boot_id: garden.bootId, n: 10_000 }),
      await thief.report(id, said),
      await other.report(id, said),
      own.replace("another", id),
      own,
      `${own}x`,
      await garden.say("events", { payload: { ...said, request_id: id } }),
      await garden.say("presence", { payload: { ...said, request_id: id } }),
      "",
      "{}",
      "null",
      JSON.stringify({ id, acted: { outcome: "confirmed", text: "forged" } }),
    ];
    for (const payload of forged) bridge.send({ t: "report", id, agent: "garden", payload });
    // Of other agents, and as other frames.
    for (const agent of ["pi", "lamp", "lock", "front-door"])
      bridge.send({ t: "report", id, agent, payload: plain({ agent_id: agent }) });
    for (const payload of forged.slice(0, 6)) bridge.send({ t: "event", id, agent: "garden", payload });
    bridge.raw(JSON.stringify({ t: "acted", id, acted: { outcome: "confirmed", text: "forged" } }));
    await controlActs();
    const answer = bridge.received.find((frame) => frame.t === "acted" && frame.id === id);
    expect(JSON.stringify(answer ?? {})).not.toContain("forged");
    const payload = await garden.report(id, { status: "success", result: "wet" });
    bridge.send({ t: "report", id, agent: "garden", payload });
    expect(await acted(id)).toEqual({ outcome: "sent", text: expect.stringContaining("wet") });
    expect(done()).toHaveLength(1);
  });

  test("a revoked bridge, and that of another home, ask for nothing", async () => {
    const other = await TestBridge.dial(TOKENS.otherBridge);
    await other.hello(["devices", "kept", "automations"]);
    other.send({ t: "snapshot", agents: [], last: true });
    await other.snapshotStored(TOKENS.otherBridge);
    const request = { id: `${victim}:1:1:0`, rule: victim, version: 1, firing: 1, step: 0 };
    other.send({ t: "act", act: request });
    await until(() => other.received.some((frame) => frame.t === "acted"), { what: "the answer" });
    expect(other.calls()).toEqual([]);
    other.close();
    await controlActs();
    expect(done()).toEqual([]);
    setVariables({ BRIDGE_TOKENS: "[]" });
    await expect(TestBridge.dial()).rejects.toThrow(/40[13]/);
  });
});
