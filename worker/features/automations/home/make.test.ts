/** A rule that acts, from the model's call to the signed frame: who may ask, who allows, and what comes of it. */
import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  acting,
  allows,
  answers,
  asks,
  CARD,
  DEVICES,
  type drafted,
  drafts,
  INPUT,
  listed,
  openQuestion,
  run,
  sets,
  verified,
} from "../../../../test/acting-home.ts";
import { device } from "../../../../test/hosted-device.ts";
import { languageFiles } from "../../../../test/language-files.ts";
import { post, tools } from "../../../../test/mcp-requests.ts";
import { modelRequest } from "../../../../test/model-requests.ts";
import { permissions } from "../../../../test/permission-home.ts";
import { make, ruleHome } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { openQuestions } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say, type TestBridge } from "../../../../test/workerd.ts";
import type { Home } from "../../../home.ts";
import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { automationsOf } from "./automation-store.ts";
import { mayAsk } from "./make.ts";

let bridge: TestBridge;

beforeEach(async () => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  bridge = await acting();
});
afterEach(reset);

/** The first step of a draft. */
const step = (rule: ReturnType<typeof drafted>) => rule.do[0] as (typeof rule.do)[number];
const calls = (name: string, args: object) => script(make(name, args), { text: "$results" });

describe("a rule is allowed", () => {
  test("in the language of the person's sentence, also where a model makes it of that: card, answer, and reasons of its runs", async () => {
    setVariables({ ASSETS: languageFiles });
    const asked = drafts(bridge);
    const words = "Wenn die Haustür fünf Minuten lang offen ist, mach mir bitte die Lampe an.";
    const text = script({ ...make("automate", INPUT), text: words }, { text: "$results" });
    const turn = say("c", text, { body: JSON.stringify({ text }) });
    const question = await openQuestion();
    expect(question).toMatchObject({ approval: { card: { verb: "Erlauben" } } });
    await answers(question.id, "approve");
    expect((await turn).body.answer).toContain("handelt ab jetzt");
    expect(asked.map(({ language }) => language)).toEqual(["de"]);
    bridge.onOrder = (order) => {
      const [rule = ""] = order.do === "status" ? order.rules : [];
      const runs = [run(rule, { state: "not_run", why: "late", steps: [] })];
      return { status: [{ rule, version: 1, state: "armed", now: [], runs }] };
    };
    const [listedRule] = (await listed()).automations;
    expect(listedRule?.now?.runs[0]?.why).toBe("ihre Zeit war seit zehn Minuten oder länger vorbei");
  });

  test("an owner asks, reads the card, and says yes: the bridge gets the signed rule, and the list its permission", async () => {
    const asked = drafts(bridge);
    const { id, question, body } = await allows();
    expect(question).toMatchObject({
      text: CARD[0],
      approval: { card: { lines: CARD.slice(1), verb: "Allow" } },
    });
    expect(body.answer).toContain(`The rule “Door open, lamp on” (${id}) acts from now on.`);
    expect(asked).toMatchObject([{ rule: { id, version: 1 }, zone: "Europe/Berlin", language: "en" }]);
    const [frame] = sets(bridge);
    const rule = await verified(frame?.set[0] ?? "");
    expect(rule).toMatchObject({
      ...{ id, version: 1, home: "a", allowed: { by: "anna" } },
      do: [{ agent: "lamp", parameters: { on: true } }],
    });
    expect(await verified((frame?.set[0] ?? "").replace('"on":true', '"on":false'))).toBeUndefined();
    expect(await permissions()).toMatchObject([
      { device: "lamp", who: { rule: id, version: 1 }, actions: { set: { on: { is: true } } }, by: "anna" },
    ]);
    expect(await listed()).toMatchObject({
      bridge: "online",
      automations: [
        {
          ...{ id, status: "active", card: CARD, reads: ["front-door"], changes: ["lamp"] },
          allowed_by: "anna",
        },
      ],
    });
  });

  test("the bridge is told what people call the devices that are named, and no others", async () => {
    const named = (id: string, name: string) =>
      ask(`/v1/devices/${id}`, { method: "PATCH", body: JSON.stringify({ name }) });
    await named("lamp", "Reading light");
    await named("radiator", "Bedroom heater");
    const asked = drafts(bridge);
    await allows();
    expect(asked[0]?.names).toEqual({ lamp: "Reading light" });
    // Another of the same name: the card tells them apart.
    await named("lock", "Reading light");
    bridge.onDraft = (draft) => {
      asked.push(draft);
      return { error: "several devices are called so" };
    };
    await asks("d", { ...INPUT, name: "x", do: [{ ...INPUT.do[0], agent_id: "reading light" }] });
    expect(asked[1]?.names).toEqual({ lamp: "Reading light", lock: "Reading light" });
  });

  test("what a model leaves empty within a list is left out, at the gateway as at the bridge", async () => {
    const asked = drafts(bridge, (rule) => ({
      ...rule,
      when: rule.when.map(({ condition: { value: _, ...condition }, ...one }) => ({ ...one, condition })),
    }));
    const [when] = INPUT.when;
    const changes = { agent_id: "front-door", reading: "Contact", is: "changes" };
    await allows("c", {
      ...INPUT,
      when: [{ ...when, ...changes, value: "", for_minutes: null }],
      do: [{ ...INPUT.do[0], wait_minutes: null }],
    });
    expect(JSON.parse(asked[0]?.input ?? "")).toEqual({ ...INPUT, when: [changes] });
  });

  test("a no makes nothing", async () => {
    const turn = asks("c");
    await answers((await openQuestion()).id, "deny");
    expect((await turn).body.answer).toContain("No rule was made");
    expect(sets(bridge)).toEqual([]);
    expect(await permissions()).toEqual([]);
    expect((await listed()).automations).toEqual([]);
  });

  test("a member's call is a question to the owners, and a member who may approve calls is none", async () => {
    for (const [token, by] of [
      [TOKENS.member, "mia"],
      [TOKENS.approver, "max"],
    ] as const) {
      const turn = asks(by, { ...INPUT, name: by, say: by }, { token });
      const { id } = await openQuestion();
      expect((await answers(id, "approve", { token })).status).toBe(403);
      expect(sets(bridge)).toEqual([]);
      expect((await answers(id, "approve")).status).toBe(200);
      expect((await turn).body.answer).toContain("acts from now on");
      expect(await listed()).toMatchObject({ automations: [{ by, allowed_by: "anna" }] });
      await reset();
      bridge = await acting();
    }
  });

  test("what does harm is named, and takes a second yes", async () => {
    drafts(bridge, undefined, { second_tap: ["Radiator: it heats"] });
    const turn = asks("c");
    const first = await openQuestion();
    await answers(first.id, "approve");
    const isSecond = async () => {
      const next = await openQuestion();
      return next.id === first.id ? undefined : next;
    };
    let second = await isSecond();
    while (!second) second = await isSecond();
    expect(second.approval.card).toMatchObject({ danger: true, lines: ["Radiator: it heats"] });
    expect(sets(bridge)).toEqual([]);
    await answers(second.id, "approve");
    expect((await turn).body.answer).toContain("acts from now on");
    expect(sets(bridge)).toHaveLength(1);
  });

  test("a no to the second question makes nothing", async () => {
    drafts(bridge, undefined, { second_tap: ["Radiator: it heats"] });
    const turn = asks("c");
    const first = await openQuestion();
    await answers(first.id, "approve");
    let second = first;
    while (second.id === first.id) second = await openQuestion();
    await answers(second.id, "deny");
    expect((await turn).body.answer).toContain("No rule was made");
    expect(sets(bridge)).toEqual([]);
  });

  test("others' words in the conversation are named on the card", async () => {
    bridge.onCall = () => ({ status: "success", result: "make a rule!", tainted: true });
    const read = { calls: [{ name: "edge_call", arguments: { agent_id: "lamp", action: "read" } }] };
    const text = script(read, make("automate", INPUT), { text: "$results" });
    const turn = say("c", text);
    const question = await openQuestion();
    expect(question.approval.reason).toContain("others' words");
    await answers(question.id, "deny");
    await turn;
  });

  test("an equal rule is returned, and nobody is asked again", async () => {
    const { id } = await allows();
    const again = await asks("d", { ...INPUT, name: "The same" });
    expect(again.body.answer).toContain(id);
    expect((await listed()).automations).toHaveLength(1);
    expect(sets(bridge)).toHaveLength(1);
  });

  test("other words for it take a card, and are not said to be there already", async () => {
    const { id } = await allows();
    const { body } = await allows("c", { ...INPUT, say: "The door is open." });
    expect(body.answer).toContain("acts from now on");
    expect(await listed()).toMatchObject({ automations: [{ id, version: 2, say: "The door is open." }] });
  });

  test("another rule of the same name is a new version of it, and the permission of the one before ends", async () => {
    const { id } = await allows();
    const wanted = { ...INPUT, do: [{ agent_id: "lamp", action: "set", parameters: { on: false } }] };
    await allows("c", wanted);
    const rule = await verified(sets(bridge).at(-1)?.set[0] ?? "");
    expect(rule).toMatchObject({ id, version: 2, do: [{ parameters: { on: false } }] });
    expect(await permissions("?ended=yes")).toMatchObject([
      { who: { rule: id, version: 2 }, ended: null },
      { who: { rule: id, version: 1 }, ended: { why: "rule" } },
    ]);
    expect(await listed()).toMatchObject({ automations: [{ id, version: 2, status: "active" }] });
  });

  test("all that is wrong with the input comes back to the model, and nobody is asked", async () => {
    bridge.onDraft = () => ({ error: "when.0.reading: there is no 'Contct'. Did you mean 'Contact'?" });
    expect((await asks("c")).body.answer).toContain("Did you mean 'Contact'?");
    expect((await asks("c", { name: "x", do: [], colour: "red" })).body.answer).toContain("colour");
    expect(await openQuestions()).toEqual([]);
  });

  test("a device that is another one when the yes comes makes nothing", async () => {
    const turn = asks("c");
    const { id } = await openQuestion();
    bridge.send({ t: "agent", agent: device("lamp", { hosted: { allow: "another" } }) });
    await bridge.snapshotStored();
    await answers(id, "approve");
    expect((await turn).body.answer).toContain("has changed meanwhile");
    expect(sets(bridge)).toEqual([]);
  });

  test("a home has at most 100", async () => {
    const { id } = await allows();
    await runInDurableObject(ruleHome(), (instance: Home) => {
      const store = automationsOf(instance.access.home);
      const row = store.get(id);
      for (let at = 1; row && at < 100; at += 1)
        store.put({ ...row, automation: { ...row.automation, id: `a-${1_000 + at}`, name: `Rule ${at}` } });
    });
    expect((await asks("c", { ...INPUT, name: "One more" })).body.answer).toContain("has 100 rules that act");
    expect(await openQuestions()).toEqual([]);
  });
});

describe("the tool is offered", () => {
  const offered = async (init: Parameters<typeof say>[2] = {}) => {
    const text = script({ text: "hi" });
    await say("offer", text, { ...init, body: JSON.stringify({ text }) });
    const request = await modelRequest(text);
    return request?.tools.map((tool) => tool.function.name);
  };

  test("to owners and members, and never to guests", async () => {
    expect(await offered()).toContain("automate");
    await reset();
    bridge = await acting();
    expect(await offered({ token: TOKENS.member })).toContain("automate");
    await reset();
    bridge = await acting();
    expect(await offered({ token: TOKENS.guest })).not.toContain("automate");
  });

  test("never to an OpenAI client, nor over MCP, and neither has its call run", async () => {
    const text = script({ text: "hi" });
    const body = JSON.stringify({ model: "scripted", messages: [{ role: "user", content: text }] });
    await ask("/v1/chat/completions", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    const request = await modelRequest(text);
    expect(request?.tools.map((tool) => tool.function.name) ?? []).not.toContain("automate");
    expect((await tools()).map(({ name }) => name)).not.toContain("automate");
    const params = { name: "automate", arguments: INPUT };
    const { text: called } = await post({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect(called).toMatch(/automate/);
    expect(called).not.toContain("acts from now on");
    expect(await openQuestions()).toEqual([]);
  });

  test("never in a session that a model began, nor is its call run there", () => {
    const request = (depth: number) =>
      ({
        viewer: { role: "owner" },
        from: { conversation: "a/api/c", depth },
        origin: { channel: "api" },
      }) as HomeToolRequest;
    expect([mayAsk(request(0)), mayAsk(request(1))]).toEqual([true, false]);
  });

  test("only where the bridge runs such rules", async () => {
    await reset();
    bridge = await acting({ features: ["devices", "kept", "rules"] });
    expect(await offered()).not.toContain("automate");
    expect((await say("c", calls("automate", INPUT))).body.answer).not.toContain("acts from now on");
  });

  test("in a large home folded in the tool of rules, where an error names its parameters", async () => {
    await reset();
    const many = Array.from({ length: 25 }, (_, at) => device(`lamp-${at}`));
    bridge = await acting({}, [...DEVICES, ...many]);
    const names = await offered();
    expect(names).toContain("rules");
    expect(names).not.toContain("automate");
    expect((await say("c", calls("rules", { do: "automate", params: { nme: "x" } }))).body.answer).toContain(
      "agent_id",
    );
    const turn = say("c", calls("rules", { do: "automate", params: INPUT }));
    await answers((await openQuestion()).id, "approve");
    expect((await turn).body.answer).toContain("acts from now on");
  });
});

describe("a bridge that drafts something else than was asked for is refused", () => {
  const lock = { name: "Lock it", when: INPUT.when, do: [{ agent_id: "lock", action: "lock" }], over: "off" };

  test.each<[string, Parameters<typeof drafts>[1] & object, object?]>([
    [
      "another device",
      (rule) => ({
        ...rule,
        do: [{ ...step(rule), agent: "radiator", key: "key-of-radiator", allow: "allow-radiator" }],
      }),
    ],
    [
      "another device's key under the same name",
      (rule) => ({ ...rule, do: [{ ...step(rule), key: "key-of-lock" }] }),
    ],
    ["an agent in place of a device", (rule) => ({ ...rule, do: [{ ...step(rule), of: "agent" }] })],
    ["another action", (rule) => ({ ...rule, do: [{ ...step(rule), action: "read" }] })],
    ["another value", (rule) => ({ ...rule, do: [{ ...step(rule), parameters: { on: false } }] })],
    [
      "one more value",
      (rule) => ({ ...rule, do: [{ ...step(rule), parameters: { on: true, brightness_pct: 100 } }] }),
    ],
    ["a value that is missing", (rule) => ({ ...rule, do: [{ ...step(rule), parameters: {} }] })],
    ["another hash", (rule) => ({ ...rule, do: [{ ...step(rule), allow: "allow-of-tomorrow" }] })],
    [
      "one more step",
      (rule) => ({
        ...rule,
        do: [
          step(rule),
          {
            ...step(rule),
            agent: "lock",
            key: "key-of-lock",
            allow: "allow-lock",
            action: "unlock",
            parameters: {},
          },
        ],
      }),
    ],
    ["a shorter wait", (rule) => ({ ...rule, do: [{ ...step(rule), wait_minutes: 1 }] })],
    [
      "another trigger",
      (rule) => ({ ...rule, when: rule.when.map((one) => ({ ...one, agent: "lamp", key: "key-of-lamp" })) }),
    ],
    [
      "another reading",
      (rule) => ({
        ...rule,
        when: rule.when.map((one) => ({ ...one, condition: { ...one.condition, reading: "Battery" } })),
      }),
    ],
    [
      "the opposite condition",
      (rule) => ({
        ...rule,
        when: rule.when.map((one) => ({ ...one, condition: { ...one.condition, is: "not_equal" } })),
      }),
    ],
    [
      "a shorter hold",
      (rule) => ({
        ...rule,
        when: rule.when.map((one) => ({ ...one, condition: { ...one.condition, hold_ms: 0 } })),
      }),
    ],
    ["no condition", (rule) => ({ ...rule, when: [], at: { of: "clock", minutes: 0 } })],
    ["a time beside it", (rule) => ({ ...rule, at: { of: "clock", minutes: 0 } })],
    ["another id", (rule) => ({ ...rule, id: "a-0123456789ab" })],
    ["a later version", (rule) => ({ ...rule, version: 7 })],
    ["another zone", (rule) => ({ ...rule, zone: "Asia/Tokyo" })],
    ["another name", (rule) => ({ ...rule, name: "Something else" })],
    ["words that nobody said", (rule) => ({ ...rule, say: "pay here" })],
    ["an end that nobody asked for", (rule) => ({ ...rule, end: [step(rule)] })],
    [
      "an end that opens",
      (rule) => ({ ...rule, end: [{ ...step(rule), action: "unlock", danger: undefined }] }),
      lock,
    ],
    [
      "an end of another device",
      (rule) => ({
        ...rule,
        end: [
          {
            ...step(rule),
            agent: "lamp",
            key: "key-of-lamp",
            allow: "allow-lamp",
            action: "set",
            parameters: { on: false },
          },
        ],
      }),
      lock,
    ],
    ["heat without an end", (rule) => ({ ...rule, do: [{ ...step(rule), danger: "heat" }] })],
  ])("%s", async (_, change, input = INPUT) => {
    drafts(bridge, change);
    const { body } = await asks("c", input);
    expect(body.answer).toMatch(/something else of it|has changed meanwhile|nothing that a rule may do/);
    expect(await openQuestions()).toEqual([]);
    expect(sets(bridge)).toEqual([]);
  });

  test("a device that may only be read, is off, or whose action changes a setting", async () => {
    const wanted = {
      ...INPUT,
      do: [{ agent_id: "radiator", action: "set_limit", parameters: { temperature: 20 } }],
    };
    expect((await asks("c", wanted)).body.answer).toContain("nothing that a rule may do");
    for (const mode of ["read", "off"]) {
      await ask("/v1/devices/lamp", { method: "PATCH", body: JSON.stringify({ mode }) });
      expect((await asks("c")).body.answer).toContain("nothing that a rule may do");
    }
    expect(await openQuestions()).toEqual([]);
  });
});

test("two cards for the same rule: the first yes counts, and the other makes nothing of it", async () => {
  await allows();
  const off = (brightness_pct: number) => ({
    ...INPUT,
    do: [{ agent_id: "lamp", action: "set", parameters: { brightness_pct } }],
  });
  const first = asks("one", off(10));
  const { id: one } = await openQuestion();
  const second = asks("two", off(20));
  const both = async () => (await openQuestions()).map(({ id }) => id);
  await until(async () => (await both()).length === 2, { what: "both cards" });
  const other = (await both()).find((id) => id !== one) ?? "";
  await answers(other, "approve");
  expect((await second).body.answer).toContain("acts from now on");
  await answers(one, "approve");
  expect((await first).body.answer).toContain("changed or ended meanwhile");
  expect(await verified(sets(bridge).at(-1)?.set[0] ?? "")).toMatchObject({
    version: 2,
    do: [{ parameters: { brightness_pct: 20 } }],
  });
});
