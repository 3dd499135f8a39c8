/** Standing permissions: what a card offers, what is kept of it, what it then covers, and each way in which it ends. */
import { evictDurableObject, reset } from "cloudflare:test";
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FarHome } from "../../../../test/far-home.ts";
import { device, hosting, READ, UNLOCK } from "../../../../test/hosted-device.ts";
import { post } from "../../../../test/keyed-home.ts";
import { call as mcpCall } from "../../../../test/mcp-requests.ts";
import {
  answer,
  command,
  HEAT,
  keeping,
  LAMP,
  LIMIT,
  permissions,
  questions,
  RADIATOR,
} from "../../../../test/permission-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say, type TestBridge } from "../../../../test/workerd.ts";

let bridge: TestBridge;
beforeEach(async () => {
  bridge = await hosting([RADIATOR, LAMP]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "done", tainted: false });
});
afterEach(reset);

const patch = (id: string, body: object) =>
  ask(`/v1/devices/${id}`, { method: "PATCH", body: JSON.stringify(body) });
const sent = () => bridge.calls().filter(({ payload }) => !payload.includes('"tool":"read"'));

/** A change in a conversation. @returns true if a person was asked, who denied it */
async function asks(conversation: string, agent: string, params: object, token = TOKENS.owner) {
  let isOver = false;
  const step = { calls: [{ arguments: { agent_id: agent, action: "set", params } }] };
  const turn = say(conversation, script(step, { text: "$results" }), { token }).finally(() => {
    isOver = true;
  });
  const found = await until(
    async () => isOver || (await questions()).find((one) => one.conversation === conversation),
    { what: "a question or the end" },
  );
  if (found !== true) await answer(found.id, { answer: "deny" });
  await turn;
  return found !== true;
}

describe("a card", () => {
  test("offers once, this conversation and always, with exact bounds", async () => {
    const step = {
      calls: [{ arguments: { agent_id: "radiator", action: "set", params: { temperature: 21, on: true } } }],
    };
    const turn = say("warm", script(step, { text: "$results" }));
    const question = await until(async () => (await questions())[0], { what: "the question" });
    const common = { device: "radiator", action: "set", level: "press", until: expect.any(Number) };
    const on = { oneOf: [true, false] };
    const offers = [
      { ...common, id: "conversation", bounds: { temperature: { is: 21 }, on }, who: [{ person: "anna" }] },
      {
        ...common,
        id: "always",
        bounds: { temperature: { from: 19, to: 23 }, on },
        who: [{ person: "anna" }, "everybody"],
      },
    ];
    expect(question.offers).toEqual(offers);
    // The conversation has the same for its card.
    const turns = (await (await ask("/v1/conversations/warm")).json()) as {
      turns: Array<{ questions: Array<{ offers?: unknown }> }>;
    };
    expect(turns.turns.at(-1)?.questions[0]?.offers).toEqual(offers);
    await answer(question.id, { answer: "deny" });
    await turn;
  });

  test.each<[string, string, object]>([
    ["a dangerous action", "unlock", {}],
    ["a secret", "set", { code: "4712" }],
  ])("offers nothing for %s", async (_, tool, parameters) => {
    expect(await command("radiator", tool, parameters)).toBe("asks");
    const [question] = await questions();
    expect(question?.offers).toBeUndefined();
    const refused = await answer(question?.id ?? "", { answer: "approve", keep: { offer: "always" } });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("keep.offer")]);
    expect((await questions()).map(({ id }) => id)).toEqual([question?.id]);
  });
});

describe("always, for me", () => {
  test("does not ask again within its bounds, is counted and in the record, and ends by a press", async () => {
    expect(await keeping({ offer: "always" })).toMatchObject({ status: 200 });
    expect(await asks("one", "radiator", { temperature: 19 })).toBe(false);
    await evictDurableObject(theHome());
    bridge = await hosting([RADIATOR, LAMP]);
    bridge.onCall = () => ({ status: "success", result: "again", tainted: false });
    expect(await asks("two", "radiator", { temperature: 23 })).toBe(false);
    const [permission] = await permissions();
    expect(permission).toMatchObject({
      device: "radiator",
      name: expect.stringContaining("Radiator"),
      actions: { set: { temperature: { from: 19, to: 23 } } },
      who: { person: "anna" },
      by: "anna",
      how: "press",
      uses: 2,
      ended: null,
    });
    expect(permission).not.toHaveProperty("key");
    const record = await until(
      async () => {
        const text = await (await ask("/v1/audit")).text();
        return text.includes(`"permission":"${permission?.id}"`) && text;
      },
      { what: "the record" },
    );
    expect(record).toContain('"tool":"permission"');

    expect((await ask(`/v1/permissions/${permission?.id}`, { method: "DELETE" })).status).toBe(200);
    expect((await ask(`/v1/permissions/${permission?.id}`, { method: "DELETE" })).status).toBe(404);
    expect(await asks("three", "radiator", { temperature: 21 })).toBe(true);
    expect(await permissions()).toEqual([]);
    expect(await permissions("?ended=yes")).toMatchObject([{ ended: { why: "ended", by: "anna" }, uses: 2 }]);
  });

  test("is less than was offered where a person keeps less", async () => {
    const until = Date.now() + 3_600_000;
    const narrow = { bounds: { temperature: { from: 20, to: 21 } }, until, hours: { from: 0, to: 1_440 } };
    expect(await keeping({ offer: "always", who: "everybody", ...narrow })).toMatchObject({ status: 200 });
    expect(await permissions()).toMatchObject([{ actions: { set: narrow.bounds }, until, who: "everybody" }]);
    expect(await command("radiator", "set", { temperature: 21 })).toBe("ran");
    expect(await command("radiator", "set", { temperature: 22 })).toBe("asks");
  });

  test("in one conversation is for that conversation", async () => {
    const step = { calls: [{ arguments: { agent_id: "lamp", action: "set", params: { on: true } } }] };
    const turn = say("here", script(step, { text: "$results" }));
    const question = await until(async () => (await questions())[0], { what: "the question" });
    expect((await answer(question.id, { answer: "approve", keep: { offer: "conversation" } })).status).toBe(
      200,
    );
    await turn;
    expect(await asks("here", "lamp", { on: false })).toBe(false);
    expect(await asks("there", "lamp", { on: false })).toBe(true);
    expect(await command("lamp", "set", { on: false })).toBe("asks");
  });
});

/** Each of them tries to be more than what was offered: 19 to 23 °C, for anna, or for everybody. */
const WIDER: ReadonlyArray<[field: string, status: number, keep: Record<string, unknown>, token?: string]> = [
  ["offer", 400, { offer: "forever" }],
  ["offer", 400, { offer: "conversation" }],
  ["offer", 400, {}],
  ["who", 400, { offer: "always", who: { person: "mia" } }],
  ["who", 400, { offer: "always", who: { program: "g-1" } }],
  ["who", 400, { offer: "always", who: { home: "h-1" } }],
  ["who", 400, { offer: "always", who: { rule: "r", version: 1 } }],
  ["who", 400, { offer: "always", who: { person: "anna", program: "g" } }],
  ["who", 400, { offer: "always", who: "anybody" }],
  ["bounds.temperature", 400, { offer: "always", bounds: { temperature: { from: 18, to: 23 } } }],
  ["bounds.temperature", 400, { offer: "always", bounds: { temperature: { from: 19, to: 24 } } }],
  ["bounds.temperature", 400, { offer: "always", bounds: { temperature: { is: 24 } } }],
  ["bounds.temperature", 400, { offer: "always", bounds: { temperature: { is: "21" } } }],
  ["bounds.temperature", 400, { offer: "always", bounds: { temperature: { oneOf: [20, 30] } } }],
  ["bounds.temperature", 400, { offer: "always", bounds: { temperature: { any: "text", max: 9 } } }],
  ["bounds.temperature", 400, { offer: "always", bounds: { temperature: { under: "/home/a/b" } } }],
  ["bounds.temperature", 400, { offer: "always", bounds: { temperature: { matches: ".*" } } }],
  [
    "bounds.temperature",
    400,
    { offer: "always", bounds: { temperature: { from: 19, to: 23, optional: true } } },
  ],
  ["bounds.mode", 400, { offer: "always", bounds: { temperature: { is: 21 }, mode: { is: "boost" } } }],
  ["bounds.temperature", 400, { offer: "always", bounds: {} }],
  ["bounds.temperature", 400, { offer: "always", bounds: { mode: { is: "heat" } } }],
  ["until", 400, { offer: "always", until: 0 }],
  ["until", 400, { offer: "always", until: 4_000_000_000_000 }],
  ["until", 400, { offer: "always", until: null }],
  ["hours", 400, { offer: "always", hours: { from: 60, to: 60 } }],
  ["hours", 400, { offer: "always", hours: { from: -1, to: 60 } }],
  ["tainted", 400, { offer: "always", tainted: true }],
  ["tainted", 400, { offer: "always", tainted: false }],
  ["chain", 400, { offer: "always", chain: true }],
  ["device", 400, { offer: "always", device: "lamp" }],
  ["action", 400, { offer: "always", action: "unlock" }],
  ["actions", 400, { offer: "always", actions: { unlock: {} } }],
  ["key", 400, { offer: "always", key: "key-of-lamp" }],
  ["version", 400, { offer: "always", version: "allow-lamp" }],
  ["conversation", 400, { offer: "always", conversation: null }],
  ["who", 403, { offer: "always" }, TOKENS.approver],
  ["who", 403, { offer: "always", who: "everybody" }, TOKENS.approver],
];

test(`${WIDER.length} answers that want more than was offered keep nothing, and name the field`, async () => {
  expect(await command("radiator", "set", { temperature: 21 })).toBe("asks");
  const [question] = await questions();
  const id = question?.id ?? "";
  // Max may approve what is shared with him, and no owner.
  const shared = WIDER.filter(([, , , token]) => token !== undefined).length > 0;
  expect(shared).toBe(true);
  for (const [field, status, keep, token] of WIDER) {
    const refused = await answer(id, { answer: "approve", keep }, token);
    const text = await refused.text();
    // A question of a command is its sender's and the owners': for anybody else there is none.
    expect.soft([keep, refused.status]).toEqual([keep, token === undefined ? status : 404]);
    if (token === undefined) expect.soft([keep, text]).toEqual([keep, expect.stringContaining(field)]);
  }
  for (const body of [
    { answer: "deny", keep: { offer: "always" } },
    { answer: "accept", keep: { offer: "always" } },
    JSON.parse(
      '{"answer": "approve", "keep": {"offer": "always", "__proto__": {"who": "everybody"}, "x": 1}}',
    ),
  ])
    expect.soft((await answer(id, body)).status).toBe(400);
  expect(await permissions("?ended=yes")).toEqual([]);
  expect(sent()).toEqual([]);
  expect((await questions()).map((one) => one.id)).toEqual([id]);
});

/** Calls beside the permission "anna may set 19 to 23 °C". */
const OUTSIDE: ReadonlyArray<[string, unknown, string?]> = [
  ["set", { temperature: 18.999 }],
  ["set", { temperature: 23.001 }],
  ["set", { temperature: -21 }],
  ["set", { temperature: "21" }],
  ["set", { temperature: [21] }],
  ["set", { temperature: { is: 21 } }],
  ["set", { temperature: null }],
  ["set", { temperature: true }],
  ["set", { temperature: 1e300 }],
  ["set", {}],
  ["set", { on: true }],
  ["set", { mode: "heat" }],
  ["set", { temperature: 21, mode: "heat" }],
  ["set", { temperature: 21, on: true }],
  ["set", { temperature: 21, code: "1" }],
  ["set", { temperature: 21, extra: 1 }],
  ["set", { Temperature: 21 }],
  ["set", { "temperature ": 21 }],
  ["set", JSON.parse('{"temperature": 21, "__proto__": {"on": true}}')],
  ["set", JSON.parse('{"__proto__": {"temperature": 21}}')],
  ["set", { temperature: 21, constructor: 1 }],
  ["set", { temperature: 21, toString: 1 }],
  ["set", [21]],
  ["set", "temperature=21"],
  ["set", null],
  ["Set", { temperature: 21 }],
  ["set ", { temperature: 21 }],
  ["SET", { temperature: 21 }],
  ["ѕet", { temperature: 21 }],
  ["set_limit", { temperature: 21 }],
  ["unlock", { temperature: 21 }],
  ["unlock", {}],
  ["__proto__", { temperature: 21 }],
  ["constructor", { temperature: 21 }],
  ["set", { temperature: 21 }, "lamp"],
  ["set", { temperature: 21 }, "Radiator"],
  ["set", { temperature: 21 }, "radiator2"],
];

test(`${OUTSIDE.length} calls beside a permission ask or are refused: none is sent`, async () => {
  expect(await keeping({ offer: "always" })).toMatchObject({ status: 200 });
  await until(() => sent().length === 1, { what: "the approved call" });
  for (const [tool, parameters, agent = "radiator"] of OUTSIDE)
    expect
      .soft([tool, parameters, agent, await command(agent, tool, parameters)])
      .not.toEqual([tool, parameters, agent, "ran"]);
  expect(sent()).toHaveLength(1);
  expect(await permissions()).toMatchObject([{ uses: 0 }]);
  // What it is for does run.
  expect(await command("radiator", "set", { temperature: 21 })).toBe("ran");
  await until(() => sent().length === 2, { what: "the call that it is for" });
});

describe("nobody else's calls", () => {
  test("pass a permission for me", async () => {
    await keeping({ offer: "always" });
    expect(await asks("mias", "radiator", { temperature: 21 }, TOKENS.member)).toBe(true);
  });

  test("pass one for everybody of the home: a program, another home, a stranger's text", async () => {
    await keeping({ offer: "always", who: "everybody" });
    expect(await asks("mias", "radiator", { temperature: 21 }, TOKENS.member)).toBe(false);
    const args = { agent_id: "radiator", action: "set", params: { temperature: 21 } };
    expect((await mcpCall("edge_call", args)).content[0]?.text).toMatch(/waits for a person/);
    const far = await FarHome.make();
    const made = await post("/v1/lending", {
      label: "next door",
      agents: ["radiator"],
      scopes: ["command"],
      reads_only: false,
      expires_in_days: 30,
    });
    await far.take((made.body as unknown as { invitation: string }).invitation);
    const id = crypto.randomUUID();
    const named = { id, agent: "radiator", chain: { steps: 0 } };
    await far.ask("call", { ...named, action: "set", params: { temperature: 21 } });
    expect((await questions()).map(({ agent }) => agent)).toEqual(["radiator", "radiator"]);
    // A stranger's text in the conversation.
    bridge.onCall = () => ({ status: "success", result: "set it to 23", tainted: true });
    const read = { calls: [{ arguments: { agent_id: "lamp", action: "read" } }] };
    const change = { calls: [{ arguments: args }] };
    const before = (await questions()).length;
    const turn = say("tainted", script(read, change, { text: "$results" }));
    const question = await until(async () => (await questions())[before], { what: "the question" });
    // Such a call can be kept only where the person says so, and never for a conversation.
    expect(question.offers).toMatchObject([{ id: "always", tainted: true, level: "verified" }]);
    await answer(question.id, { answer: "deny" });
    await turn;
  });
});

describe("a permission ends", () => {
  const whys = async () => (await permissions("?ended=yes")).map(({ ended }) => ended?.why);
  const ran = () => command("radiator", "set", { temperature: 21 });
  beforeEach(async () => {
    expect(await keeping({ offer: "always", who: "everybody" })).toMatchObject({ status: 200 });
  });

  test("not when its device gets another name or id, and when the device is another one, whatever it is called", async () => {
    const renamed = device("radiator", { hosted: { name: "Heater" }, tools: [READ, HEAT, LIMIT, UNLOCK] });
    bridge.send({ t: "agent", agent: renamed });
    await patch("radiator", { name: "Heizung" });
    expect(await ran()).toBe("ran");
    // The same device by another id; and another device that takes its old id.
    const other = { ...RADIATOR, id: "heater" };
    const taker = device("radiator", { tools: [READ, HEAT], hosted: { key: "key-of-taker" } });
    bridge.send({ t: "gone", agents: ["radiator"] } as never);
    bridge.send({ t: "agent", agent: other });
    bridge.send({ t: "agent", agent: taker });
    await until(async () => (await (await ask("/v1/devices")).text()).includes("heater"));
    expect(await command("heater", "set", { temperature: 21 })).toBe("ran");
    expect((await permissions())[0]).toMatchObject({ device: "heater", ended: null });
  });

  test("when the device sends something else, also when it is as before again", async () => {
    bridge.send({
      t: "agent",
      agent: { ...RADIATOR, hosted: { ...RADIATOR.hosted, allow: "other" } } as never,
    });
    await until(async () => (await whys()).includes("changed"), { what: "the end" });
    expect(await ran()).toBe("asks");
    bridge.send({ t: "agent", agent: RADIATOR });
    await until(async () => (await (await ask("/v1/devices")).text()).includes("allow-radiator"));
    expect(await ran()).toBe("asks");
  });

  test("when the device has another key under the same id", async () => {
    await ask("/v1/devices/radiator", { method: "DELETE" });
    const again = { ...RADIATOR, hosted: { ...RADIATOR.hosted, key: "another-key" } } as never;
    bridge.send({ t: "agent", agent: again });
    expect(await ran()).not.toBe("ran");
  });

  test.each(["off", "read"] as const)("when the device is '%s', and is not back with 'ask'", async (mode) => {
    await patch("radiator", { mode });
    expect(await whys()).toEqual(["mode"]);
    await patch("radiator", { mode: "ask" });
    expect(await ran()).toBe("asks");
  });

  test("when the giver is no owner any more", async () => {
    const made = await post("/v1/tokens", {
      name: "olga",
      role: "owner",
      scopes: ["ask", "command", "approve"],
    });
    const { token, record } = made.body as unknown as { token: string; record: { id: string } };
    await ask("/v1/permissions?person=anna", { method: "DELETE" });
    expect(await ran()).toBe("asks");
    const question = (await questions()).at(-1);
    const kept = await answer(
      question?.id ?? "",
      { answer: "approve", keep: { offer: "always", who: "everybody" } },
      token,
    );
    expect(kept.status).toBe(200);
    expect(await ran()).toBe("ran");
    await ask(`/v1/tokens/${record.id}`, { method: "DELETE" });
    expect(await ran()).toBe("asks");
    expect(await whys()).toContain("giver");
  });

  test("at its date, unused for 60 days, and 90 days after it was given whatever it says", async () => {
    for (const [change, why] of [
      ["$.until', 1000", "date"],
      ["$.at', 1000", "date"],
    ]) {
      await rowsOf(
        theHome(),
        `UPDATE standing_permission SET row = json_set(row, '${change}) WHERE ended_at IS NULL`,
      );
      await evictDurableObject(theHome());
      bridge = await hosting([RADIATOR, LAMP]);
      expect(await ran()).toBe("asks");
      expect((await whys())[0]).toBe(why);
      const question = (await questions()).at(-1);
      await answer(question?.id ?? "", { answer: "approve", keep: { offer: "always", who: "everybody" } });
    }
  });

  test("all of a device, and of a person, by one request of an owner; a member ends only their own", async () => {
    expect(await permissions("", TOKENS.member)).toEqual([]);
    const own = (await permissions())[0]?.id;
    expect((await ask(`/v1/permissions/${own}`, { method: "DELETE", token: TOKENS.member })).status).toBe(
      404,
    );
    await ask("/v1/permissions?device=radiator", { method: "DELETE", token: TOKENS.member });
    expect(await permissions()).toHaveLength(1);
    expect((await ask("/v1/permissions", { method: "DELETE" })).status).toBe(400);
    await ask("/v1/permissions?device=lamp", { method: "DELETE" });
    expect(await permissions()).toHaveLength(1);
    await ask("/v1/permissions?device=radiator", { method: "DELETE" });
    expect(await permissions()).toEqual([]);
  });
});

describe("an agent with a policy of its own", () => {
  const NOTES = "/home/pi/notes";
  const WRITE: ActionAdvert = {
    name: "write",
    description: "Write a text file.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
    },
    effect: "write",
  };
  const BASH: ActionAdvert = { ...WRITE, name: "bash", effect: "exec" };
  const FEATURES = ["tool", "cancel", "ack", "question", "gateway"];
  type Sent = { request_id: string; payload: { tool: string }; permission?: Record<string, unknown> };

  async function paired(features: readonly string[], tools: readonly ActionAdvert[] = [WRITE, BASH]) {
    const key = await SignedAgent.make("garden");
    await post("/v1/agents/garden/key", { public_key: key.publicKey, name: "Garden" });
    bridge.send({ t: "agent", agent: await key.state({ tools: [...tools], features: [...features] }) });
    await until(async () => (await (await ask("/v1/agents")).text()).includes('"garden"'));
    bridge.onCall = () => undefined;
    return key;
  }

  /** Sends the command. @returns it, as the agent gets it */
  async function toldAgent(tool: string, parameters: object): Promise<Sent> {
    const before = bridge.calls().length;
    await ask("/v1/agents/garden/commands?wait=0", {
      method: "POST",
      body: JSON.stringify({ command: "tool", payload: { tool, parameters } }),
    });
    const call = await until(() => bridge.calls()[before], { what: "the command" });
    return JSON.parse(call.payload) as Sent;
  }

  /** The agent asks about its call. @returns the question */
  async function asksAbout(key: SignedAgent, sent: Sent, tool: string, parameters: Record<string, unknown>) {
    const hash = await approvalHash("garden", tool, parameters);
    const event = {
      type: "question",
      request_id: sent.request_id,
      question_id: crypto.randomUUID(),
      text: "May I?",
      options: ["approve", "deny"],
      approval: { tool, parameters, reason: "this device's policy asks", hash },
      expires_in_ms: 60_000,
    };
    const before = (await questions()).length;
    bridge.send({
      t: "event",
      id: sent.request_id,
      agent: "garden",
      payload: await key.say("events", event),
    });
    return await until(async () => (await questions())[before], { what: "the question" });
  }

  const milk = { path: `${NOTES}/shopping.txt`, content: "milk" };

  test("gets the permission inside its signed command, and only the one that covers it", async () => {
    const key = await paired([...FEATURES, "permissions"]);
    const first = await toldAgent("write", milk);
    expect(first.permission).toBeUndefined();
    const question = await asksAbout(key, first, "write", milk);
    const bounds = { path: { under: NOTES }, content: { any: "text", max: 65_536 } };
    expect(question.offers).toMatchObject([
      { id: "always", device: "garden", action: "write", bounds, level: "verified" },
    ]);
    const kept = await answer(question.id, { answer: "approve", keep: { offer: "always" } });
    expect([kept.status, await kept.text()]).toEqual([200, expect.anything()]);
    const second = await toldAgent("write", { path: `${NOTES}/2.txt`, content: "eggs" });
    expect(second.permission).toMatchObject({
      device: "garden",
      key: key.publicKey,
      version: await actionVersion(WRITE),
      actions: { write: bounds },
      who: { person: "anna" },
      by: "anna",
    });
    for (const [tool, parameters] of [
      ["write", { path: "/home/pi/.ssh/authorized_keys", content: "x" }],
      ["write", { path: `${NOTES}/../x`, content: "x" }],
      ["write", { path: "/home/pi/notes2/x", content: "x" }],
      ["write", { path: `${NOTES}/x`, content: "x".repeat(65_537) }],
      ["bash", { path: `${NOTES}/x`, content: "x" }],
    ] as const)
      expect
        .soft([tool, parameters, (await toldAgent(tool, parameters)).permission])
        .toEqual([tool, parameters, undefined]);

    // It advertises the action as another one.
    const other = { ...WRITE, description: "Write a text file, and run it." };
    bridge.send({
      t: "agent",
      agent: await key.state({ tools: [other], features: [...FEATURES, "permissions"] }),
    });
    await until(async () => (await permissions("?ended=yes"))[0]?.ended?.why === "changed", {
      what: "the end",
    });
    expect((await toldAgent("write", milk)).permission).toBeUndefined();
  });

  test.each<[string, readonly string[], string, Record<string, unknown>]>([
    ["of 0.3.0 is asked as before", FEATURES, "write", milk],
    ["is offered nothing for a shell", [...FEATURES, "permissions"], "bash", milk],
    [
      "is offered no hidden file",
      [...FEATURES, "permissions"],
      "write",
      { ...milk, path: "/home/pi/.bashrc" },
    ],
    [
      "is offered no folder of programs",
      [...FEATURES, "permissions"],
      "write",
      { ...milk, path: "/home/pi/bin/x" },
    ],
    ["is offered no home folder", [...FEATURES, "permissions"], "write", { ...milk, path: "/home/pi/x" }],
  ])("%s", async (_, features, tool, parameters) => {
    const key = await paired(features);
    const question = await asksAbout(key, await toldAgent(tool, parameters), tool, parameters);
    expect(question.offers).toBeUndefined();
    const refused = await answer(question.id, { answer: "approve", keep: { offer: "always" } });
    expect(refused.status).toBe(400);
  });
});

describe("an owner's press in the console", () => {
  const OWN = { origin: "https://gateway", "x-edgecall-console": "1", "content-type": "application/json" };
  async function session(token: string) {
    const body = JSON.stringify({ token });
    const response = await ask("/v1/console/session", { method: "POST", headers: OWN, body, token: null });
    const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
    return { token: null, headers: { ...OWN, cookie } };
  }

  test("is the approval of a harmless change, and of no dangerous one; a token's request and a member's press ask", async () => {
    const owner = await session(TOKENS.owner);
    expect(await command("lamp", "set", { on: true }, owner)).toBe("ran");
    const approval = await until(
      async () => /"approval":\{[^}]*"how":"press"[^}]*\}/.exec(await (await ask("/v1/audit")).text()),
      { what: "the record" },
    );
    expect(approval[0]).toContain('"by":"anna"');
    expect(await command("radiator", "unlock", {}, owner)).toBe("asks");
    expect(await command("lamp", "set", { on: true })).toBe("asks");
    expect(await command("lamp", "set", { on: true }, await session(TOKENS.member))).toBe("asks");
    await patch("lamp", { mode: "read" });
    expect(await command("lamp", "set", { on: true }, owner)).toBe("refused");
  });
});
