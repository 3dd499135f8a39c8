/** Watches whose values are elsewhere: at the bridge, for hosted devices, and at agents. The other ends are played. */
import { evictDurableObject, reset } from "cloudflare:test";
import type { RuleChange } from "@edgecall/core/protocol/rules.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { device, reading, reported } from "../../../../test/hosted-device.ts";
import { passed, post } from "../../../../test/keyed-home.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { rowsOf, stop } from "../../../../test/stopping.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import type { RuleList } from "../contract.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  at(T0);
});

const warm = (agent_id: string, more: object = {}) =>
  make("watch", {
    name: "Freezer too warm",
    agent_id,
    reading: "temperature",
    is: "above",
    value: -15,
    ...more,
  });
const ruleOf = async () => (await rowsOf<{ id: string }>(ruleHome(), "SELECT id FROM rule"))[0]?.id ?? "";
const shownIn = (body: unknown) => (body as { rules?: Array<{ text: string }> }).rules?.[0]?.text;
const framesOf = <T extends string>(bridge: TestBridge, t: T) =>
  bridge.received.filter((frame) => frame.t === t);

const firing = (rule: string, seq: number, more: Partial<RuleChange> = {}): RuleChange => ({
  rule,
  version: 1,
  seq,
  state: "firing",
  occurrence: seq,
  at: Date.now(),
  since: Date.now() - MINUTE,
  value: -11.4,
  unit: "°C",
  ...more,
});

describe("a hosted device", () => {
  const freezer = () => device("freezer", { line: "temperature" });

  async function hosting(rules?: string, features = ["devices", "kept", "rules"]): Promise<TestBridge> {
    const bridge = await TestBridge.dial();
    bridge.onStates = () => [
      reported("freezer", reading("temperature", -18.2, { unit: "°C", at: Date.now() })),
    ];
    await bridge.hello(features, rules);
    await bridge.snapshot([freezer()]);
    return bridge;
  }

  test("is watched by the bridge, told once for each firing, and its end is told", async () => {
    const bridge = await hosting();
    expect(bridge.received.find(({ t }) => t === "welcome")).toMatchObject({ rules: true });
    const { body } = await say("kitchen", script(warm("freezer"), { text: "ok" }));
    expect(shownIn(body)).toMatch(/^Watching Freezer.*temperature is above −15 °C.*Now: −18\.2 °C\./);
    const [frame] = framesOf(bridge, "rules");
    const id = await ruleOf();
    expect(frame).toMatchObject({
      set: [
        {
          device: "key-of-freezer",
          condition: { id, reading: "temperature", value: -15 },
          known: { seq: 0 },
        },
      ],
      drop: [],
    });
    expect(JSON.stringify(frame)).not.toContain("Freezer too warm");

    const change = firing(id, 1);
    for (const _ of "again") bridge.send({ t: "changes", changes: [change] });
    await passed(bridge);
    await until(() => framesOf(bridge, "changed").length === 5, { what: "all are acknowledged" });
    expect(framesOf(bridge, "changed")[0]).toEqual({ t: "changed", upto: { [id]: 1 } });
    await until(async () => (await told("kitchen")).length > 0, { what: "the message" });
    expect(await told("kitchen")).toEqual([
      "🔔 Freezer too warm: −11.4 °C at 09:00 (limit −15 °C for 1 min). Freezer.",
    ]);
    expect(((await (await ask("/v1/rules")).json()) as RuleList).rules).toMatchObject([
      { state: "firing", since: T0 - MINUTE, history: [{ value: -11.4, text: "−11.4 °C" }] },
    ]);

    at(T0 + 49 * MINUTE);
    const end = {
      state: "idle" as const,
      occurrence: 1,
      since: T0 - MINUTE,
      until: T0 + 48 * MINUTE,
      value: -16,
    };
    bridge.send({ t: "changes", changes: [firing(id, 2, end)] });
    await until(async () => (await told("kitchen")).length > 1, { what: "the end" });
    expect((await told("kitchen"))[1]).toBe(
      "✓ Freezer too warm: over at 09:48, −16 °C. It lasted 49 min. Freezer.",
    );
  });

  test("that can be changed from here: a watch without a time that it has to last says that this is not told", async () => {
    await hosting();
    const note = "A change that is made from here is not told.";
    const { body } = await say("kitchen", script(warm("freezer", { for_minutes: 0 }), { text: "ok" }));
    expect(shownIn(body)).toContain(note);
    const lasting = await say("kitchen", script(warm("freezer", { name: "Later" }), { text: "ok" }));
    expect(shownIn(lasting.body)).not.toContain(note);
    const { rules } = (await (await ask("/v1/rules")).json()) as RuleList;
    expect(rules.map(({ name, note: said }) => [name, said])).toEqual([
      ["Freezer too warm", note],
      ["Later", undefined],
    ]);
  });

  test("whose rules the bridge has already brings no frame at a reconnect; other rules bring all", async () => {
    const bridge = await hosting();
    await say("kitchen", script(warm("freezer"), { text: "ok" }));
    const id = await ruleOf();
    bridge.close();
    await evictDurableObject(ruleHome());
    const same = await hosting(await rulesHash([{ id, version: 1 }]));
    await passed(same);
    expect(framesOf(same, "rules")).toEqual([]);
    same.close();
    const empty = await hosting(await rulesHash([]));
    await passed(empty);
    expect(framesOf(empty, "rules")).toMatchObject([{ all: true, set: [{ condition: { id } }] }]);
  });

  test("is not watched by a bridge that keeps no rules: none is made, and one of before says so", async () => {
    const first = await hosting();
    await say("kitchen", script(warm("freezer"), { text: "ok" }));
    first.close();
    await hosting(undefined, ["devices", "kept"]);
    const { body } = await say("kitchen", script(warm("freezer"), { text: "$results" }));
    expect(body.answer).toContain("has no folder for its files (BRIDGE_STATE)");
    expect(await rowsOf(ruleHome(), "SELECT id FROM rule")).toHaveLength(1);
    expect(await (await ask("/v1/rules")).json()).toMatchObject({
      rules: [{ silent: expect.stringContaining("BRIDGE_STATE") }],
    });
  });

  test("is not watched any more when its rule is paused or cancelled, and again when it is resumed", async () => {
    const bridge = await hosting();
    await say("kitchen", script(warm("freezer"), { text: "ok" }));
    const id = await ruleOf();
    for (const what of ["pause", "resume", "cancel"])
      await say("kitchen", script(make("rules", { do: what, id }), { text: "ok" }));
    expect(framesOf(bridge, "rules")).toMatchObject([
      { set: [{ condition: { id } }], drop: [] },
      { set: [], drop: [id] },
      { set: [{ condition: { id } }], drop: [] },
      { set: [], drop: [id] },
    ]);
    // A change that was under way is acknowledged, and says nothing.
    bridge.send({ t: "changes", changes: [firing(id, 1)] });
    await passed(bridge);
    expect(await told("kitchen")).toEqual([]);
    expect(framesOf(bridge, "changed")).toHaveLength(1);
  });

  test("is begun anew by the bridge when its rule was paused while it fired", async () => {
    const bridge = await hosting();
    await say("kitchen", script(warm("freezer"), { text: "ok" }));
    const id = await ruleOf();
    bridge.send({ t: "changes", changes: [firing(id, 1)] });
    await until(async () => (await told("kitchen")).length > 0, { what: "the message" });
    for (const what of ["pause", "resume"])
      await say("kitchen", script(make("rules", { do: what, id }), { text: "ok" }));
    const [, , again] = framesOf(bridge, "rules");
    expect(again).toMatchObject({ set: [{ known: { occurrence: 1 } }] });
    expect(JSON.stringify(again)).not.toContain('"open"');
  });

  test("is begun anew also by a bridge that was away meanwhile; what fired in the pause is not told", async () => {
    const before = await hosting();
    await say("kitchen", script(warm("freezer"), { text: "ok" }));
    const id = await ruleOf();
    before.close();
    for (const what of ["pause", "resume"])
      await say("kitchen", script(make("rules", { do: what, id }), { text: "ok" }));
    const bridge = await hosting(await rulesHash([{ id, version: 1 }]));
    await passed(bridge);
    const [frame] = framesOf(bridge, "rules") as Array<{ set?: Array<{ known?: { seq: number } }> }>;
    expect(frame).toMatchObject({ all: true, set: [{ condition: { version: 3 } }] });
    bridge.send({ t: "changes", changes: [firing(id, 1)] });
    await passed(bridge);
    expect(await told("kitchen")).toEqual([]);
    const seq = (frame?.set?.[0]?.known?.seq ?? 0) + 1;
    bridge.send({ t: "changes", changes: [firing(id, seq, { version: 3 })] });
    await until(async () => (await told("kitchen")).length > 0, { what: "the message" });
  });

  test("that fired before its watch became one for once: a message that it has no value does not end the watch", async () => {
    const bridge = await hosting();
    await say("kitchen", script(warm("freezer"), { text: "ok" }));
    const id = await ruleOf();
    const says = async (minute: number, seq: number, more: Partial<RuleChange> = {}) => {
      at(T0 + minute * MINUTE);
      bridge.send({ t: "changes", changes: [firing(id, seq, more)] });
      await until(async () => (await told("kitchen")).length === seq, { what: `message ${seq}` });
    };
    await says(0, 1);
    const body = JSON.stringify({ repeat: "once" });
    expect((await ask(`/v1/rules/${id}`, { method: "PATCH", body })).status).toBe(200);
    await says(2, 2, { version: 2, state: "unknown", occurrence: 1 });
    expect(await ruleOf()).toBe(id);
    await says(4, 3, { version: 2 });
    expect((await told("kitchen"))[2]).toContain("🔔 Freezer too warm: −11.4 °C");
    expect(await ruleOf()).toBe("");
  });

  test("a change of which the clock is ahead, or was never set, is told with the time of now", async () => {
    const bridge = await hosting();
    await say("kitchen", script(warm("freezer", { repeat: "until_ack" }), { text: "ok" }));
    const id = await ruleOf();
    bridge.send({ t: "changes", changes: [firing(id, 1, { at: 5_000, since: 1_000 })] });
    await passed(bridge);
    await until(async () => (await told("kitchen")).length > 0, { what: "the message" });
    expect((await told("kitchen"))[0]).toContain("−11.4 °C at 09:00");
  });

  test("the bridge is gone for 5 min: one message for all watches of a conversation, and one when it is back", async () => {
    const bridge = await hosting();
    const more = warm("freezer", { name: "Still warmer", value: -5, severity: "info" });
    await say("kitchen", script(warm("freezer"), more, { text: "ok" }));
    bridge.close();
    await until(
      async () => (await rowsOf(ruleHome(), "SELECT 1 FROM bridge WHERE gone_at IS NOT NULL")).length,
      {
        what: "it is gone",
      },
    );
    await passUntil(T0 + 4 * MINUTE);
    expect(await told("kitchen")).toEqual([]);
    await passUntil(T0 + 6 * MINUTE);
    const gone = "⚠ The home's bridge is offline since 09:00; 2 watches cannot be checked meanwhile.";
    expect(await told("kitchen")).toEqual([gone]);
    await evictDurableObject(ruleHome());
    await passUntil(T0 + 20 * MINUTE);
    expect(await told("kitchen")).toEqual([gone]);
    await hosting();
    await until(async () => (await told("kitchen")).length > 1, { what: "it is back" });
    expect((await told("kitchen"))[1]).toBe("✓ The home's bridge is online again since 09:20.");
  });
});

describe("a line that dies without a close", () => {
  const gone = "⚠ The home's bridge is offline since 09:00; 2 watches cannot be checked meanwhile.";

  async function watching(...watches: object[]): Promise<TestBridge> {
    const bridge = await TestBridge.dial();
    bridge.onStates = () => [reported("freezer", reading("temperature", -18.2, { unit: "°C", at: T0 }))];
    await bridge.hello(["devices", "kept", "rules", "keepalive"]);
    await bridge.snapshot([device("freezer", { line: "temperature" })]);
    await say("kitchen", script(...watches.map((watch) => warm("freezer", watch)), { text: "ok" }));
    await passed(bridge);
    // The alarm that the bridge's hello had set.
    await passUntil(T0 + MINUTE / 4);
    return bridge;
  }

  test("is found within 5 min where a watch is critical", async () => {
    await watching({}, { name: "Still warmer", value: -5 });
    const body = JSON.stringify({ severity: "critical" });
    expect((await ask(`/v1/rules/${await ruleOf()}`, { method: "PATCH", body })).status).toBe(200);
    expect(await passUntil(T0 + 4.5 * MINUTE)).toBe(0);
    await passUntil(T0 + 5.5 * MINUTE);
    expect(await told("kitchen")).toEqual([gone]);
  });

  test("and a watch of the bridge counts from its last sign of life", async () => {
    const watch = {
      name: "Bridge gone",
      agent_id: "bridge",
      reading: "presence",
      is: "offline",
      value: undefined,
    };
    await watching({ ...watch, for_minutes: 4 });
    await passUntil(T0 + 5.5 * MINUTE);
    expect(await told("kitchen")).toEqual(["🔔 Bridge gone: offline since 09:00. The home's bridge."]);
  });

  test("costs nothing otherwise, and is found by whatever comes next", async () => {
    await watching({}, { name: "Still warmer", value: -5 });
    expect(await passUntil(T0 + 30 * MINUTE)).toBe(0);
    expect(await told("kitchen")).toEqual([]);
    await say("other", script(make("remind", { text: "tea", in_minutes: 1 }), { text: "ok" }));
    await passUntil(T0 + 31 * MINUTE);
    expect(await told("kitchen")).toEqual([gone]);
  });
});

describe("an agent", () => {
  const FEATURES = ["tool", "cancel", "ack", "acks", "route", "rules"];

  async function paired(rules: string): Promise<{ pi: SignedAgent; bridge: TestBridge }> {
    const pi = await SignedAgent.make("pi");
    await post("/v1/agents/pi/key", { public_key: pi.publicKey, name: "Shed" });
    const bridge = await TestBridge.dial();
    await bridge.hello(["kept", "acks"]);
    bridge.send({
      t: "snapshot",
      agents: [await pi.state({ tools: [CPU], features: FEATURES, rules })],
      last: true,
    });
    await bridge.snapshotStored();
    await ask("/v1/agents/pi/accept-text", { method: "POST" });
    return { pi, bridge };
  }

  type Sent = { command: string; request_id: string; payload: Record<string, unknown> };
  const commands = (bridge: TestBridge, command: string): Sent[] =>
    bridge.received
      .flatMap((frame) => (frame.t === "publish" ? [JSON.parse(frame.payload) as Sent] : []))
      .filter((sent) => sent.command === command);

  /** The agent answers the next such command. */
  async function answers(
    { pi, bridge }: { pi: SignedAgent; bridge: TestBridge },
    command: string,
    payload: (sent: Sent) => Record<string, unknown>,
  ): Promise<Sent> {
    const before = commands(bridge, command).length;
    const sent = await until(() => commands(bridge, command)[before], { what: command });
    const report = await pi.report(sent.request_id, payload(sent));
    bridge.send({ t: "report", id: sent.request_id, agent: "pi", payload: report });
    return sent;
  }

  const READINGS = [
    { name: "temperature", type: "number", unit: "°C", now: { value: -18.2, at: T0 }, every_ms: 60_000 },
  ];
  const all = (sent: Sent) => {
    const set = sent.payload.set as Array<{ condition: { id: string; version: number } }>;
    return { status: "success", rules: Object.fromEntries(set.map(({ condition: c }) => [c.id, c.version])) };
  };
  const event = (pi: SignedAgent, change: RuleChange, more: object = {}) =>
    pi.say("events", { type: "event", request_id: `${change.rule}:${change.seq}`, change, ...more });

  async function watching() {
    const line = await paired(await rulesHash([]));
    const asked = answers(line, "readings", () => ({ readings: READINGS }));
    const set = answers(line, "watch_set", all);
    const { body } = await say("shed", script(warm("pi"), { text: "ok" }));
    return { ...line, asked: await asked, set: await set, body, id: await ruleOf() };
  }

  test("says what it has, watches by itself, and its changes are stored before they are acknowledged", async () => {
    const { pi, bridge, asked, set, body, id } = await watching();
    expect(asked.payload).toEqual({ reading: "temperature" });
    expect(set.payload).toMatchObject({ set: [{ condition: { id, value: -15 }, known: { seq: 0 } }] });
    expect(shownIn(body)).toContain("Now: −18.2 °C. Checked by the device every 1 min.");

    const change = firing(id, 1);
    for (const _ of "twice") {
      const payload = await event(pi, change);
      bridge.send({ t: "event", id: `${id}:1`, agent: "pi", payload });
    }
    const acked = () => framesOf(bridge, "acks").some((frame) => JSON.stringify(frame).includes(`${id}:1`));
    await until(acked, { what: "the ack" });
    await until(async () => (await told("shed")).length > 0, { what: "the message" });
    expect(await told("shed")).toEqual([
      "🔔 Freezer too warm: −11.4 °C at 09:00 (limit −15 °C for 1 min). pi.",
    ]);
    expect(await rowsOf(ruleHome(), "SELECT rule FROM firing")).toHaveLength(1);
  });

  test("looks as often as the person wants, which the confirmation says", async () => {
    const line = await paired(await rulesHash([]));
    const asked = answers(line, "readings", () => ({ readings: READINGS }));
    const set = answers(line, "watch_set", all);
    const { body } = await say("shed", script(warm("pi", { check_seconds: 10 }), { text: "ok" }));
    await asked;
    expect((await set).payload).toMatchObject({ set: [{ check_s: 10 }] });
    expect(shownIn(body)).toContain("Checked by the device every 10 s.");
  });

  test("another agent's word about its rule counts for nothing, and neither does an unsigned one", async () => {
    const { bridge, id } = await watching();
    const other = await SignedAgent.make("other");
    await post("/v1/agents/other/key", { public_key: other.publicKey, name: "Other" });
    bridge.send({ t: "event", id: `${id}:1`, agent: "other", payload: await event(other, firing(id, 1)) });
    const forged = JSON.stringify({ type: "event", request_id: `${id}:1`, change: firing(id, 1) });
    bridge.send({ t: "event", id: `${id}:1`, agent: "pi", payload: forged });
    await passed(bridge);
    expect(await rowsOf(ruleHome(), "SELECT rule FROM firing")).toEqual([]);
    expect(await told("shed")).toEqual([]);
  });

  test("that lost its rules gets them at its birth, with what was told; one that has them gets nothing", async () => {
    const { pi, bridge, id } = await watching();
    bridge.send({ t: "event", id: `${id}:1`, agent: "pi", payload: await event(pi, firing(id, 1)) });
    await until(async () => (await told("shed")).length > 0, { what: "the message" });
    const before = commands(bridge, "watch_set").length;
    const born = async (rules: string) => {
      pi.bootId = crypto.randomUUID();
      bridge.send({ t: "agent", agent: await pi.state({ tools: [CPU], features: FEATURES, rules }) });
      await passed(bridge);
    };
    await born(await rulesHash([{ id, version: 1 }]));
    expect(commands(bridge, "watch_set")).toHaveLength(before);
    const set = answers({ pi, bridge }, "watch_set", all);
    await born(await rulesHash([]));
    expect((await set).payload).toMatchObject({
      set: [{ condition: { id }, known: { seq: 1, occurrence: 1, open: { at: T0 } } }],
    });
  });

  test("that fired before its limit was changed is told with the value of then, and without the limit of now", async () => {
    const line = await watching();
    const { pi, bridge, id } = line;
    const set = answers(line, "watch_set", all);
    const change = { method: "PATCH", body: JSON.stringify({ value: -10 }) };
    expect((await ask(`/v1/rules/${id}`, change)).status).toBe(200);
    await set;
    bridge.send({ t: "event", id: `${id}:1`, agent: "pi", payload: await event(pi, firing(id, 1)) });
    await until(async () => (await told("shed")).length > 0, { what: "the message" });
    expect(await told("shed")).toEqual(["🔔 Freezer too warm: −11.4 °C at 09:00. pi."]);
  });

  test("that is offline is why its rule says nothing, until it is back", async () => {
    const { pi, bridge, id } = await watching();
    const silent = async () => ((await (await ask("/v1/rules")).json()) as RuleList).rules[0]?.silent;
    const rules = await rulesHash([{ id, version: 1 }]);
    const comes = async (online: boolean) => {
      bridge.send({ t: "agent", agent: await pi.state({ online, tools: [CPU], features: FEATURES, rules }) });
      await passed(bridge);
    };
    expect(await silent()).toBeUndefined();
    await comes(false);
    expect(await silent()).toBe(
      "'pi' is offline; if it still runs it watches on, and tells what was when it is back",
    );
    await comes(true);
    expect(await silent()).toBeUndefined();
  });

  test("whose key was revoked stops its rule; let in again with another key, the rule can be resumed", async () => {
    const { bridge, id } = await watching();
    await ask("/v1/agents/pi/key", { method: "DELETE" });
    await until(async () => (await told("shed")).length > 0, { what: "the message" });
    expect((await told("shed"))[0]).toContain("has stopped: its device is gone from this home");
    const resume = { method: "PATCH", body: JSON.stringify({ status: "active" }) };
    const refused = await ask(`/v1/rules/${id}`, resume);
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      { error: { message: "status: it cannot be active: its device is gone from this home" } },
    ]);
    const by = await say("shed", script(make("rules", { do: "resume", id }), { text: "$results" }));
    expect(by.body.answer).toContain(`${id} cannot be resumed: its device is gone from this home`);
    expect(await (await ask("/v1/rules")).json()).toMatchObject({ rules: [{ status: "orphaned" }] });
    const again = await SignedAgent.make("pi");
    await post("/v1/agents/pi/key", { public_key: again.publicKey, name: "Shed" });
    const rules = await rulesHash([]);
    bridge.send({ t: "agent", agent: await again.state({ tools: [CPU], features: FEATURES, rules }) });
    await passed(bridge);
    const set = answers({ pi: again, bridge }, "watch_set", all);
    expect((await ask(`/v1/rules/${id}`, resume)).status).toBe(200);
    expect((await set).payload).toMatchObject({ set: [{ condition: { id } }] });
  });

  test("that refuses a rule is believed: nothing is made, and the model learns why", async () => {
    const line = await paired(await rulesHash([]));
    const asked = answers(line, "readings", () => ({ readings: READINGS }));
    const set = answers(line, "watch_set", (sent) => {
      const [one] = sent.payload.set as Array<{ condition: { id: string } }>;
      return { status: "success", rules: {}, refused: [{ id: one?.condition.id, why: "at most 50 rules" }] };
    });
    const { body } = await say("shed", script(warm("pi"), { text: "$results" }));
    await Promise.all([asked, set]);
    expect(body.answer).toContain("reading: pi cannot watch that: at most 50 rules");
    expect(await rowsOf(ruleHome(), "SELECT id FROM rule")).toEqual([]);
    expect(await told("shed")).toEqual([]);
  });

  test("has no such reading: the error names those that there are", async () => {
    const line = await paired(await rulesHash([]));
    const first = answers(line, "readings", () => ({ readings: [] }));
    const second = first.then(() => answers(line, "readings", () => ({ readings: READINGS })));
    const { body } = await say("shed", script(warm("pi", { reading: "humidity" }), { text: "$results" }));
    expect((await second).payload).toEqual({});
    expect(body.answer).toContain("pi has no reading 'humidity'. It has: temperature (°C).");
  });

  test("that fires all the time is told of as noisy, once, also by a Home that was rebuilt meanwhile", async () => {
    const { pi, bridge, id } = await watching();
    const fires = async (line: TestBridge, from: number, to: number) => {
      for (let seq = from; seq <= to; seq += 1)
        line.send({ t: "event", id: `${id}:${seq}`, agent: "pi", payload: await event(pi, firing(id, seq)) });
      await passed(line);
    };
    const again = async () => {
      await stop("abort", ruleHome());
      const line = await TestBridge.dial();
      await line.hello(["kept", "acks"]);
      const rules = await rulesHash([{ id, version: 1 }]);
      const state = await pi.state({ tools: [CPU], features: FEATURES, rules });
      line.send({ t: "snapshot", agents: [state], last: true });
      await line.snapshotStored();
      return line;
    };
    await fires(bridge, 1, 20);
    await fires(await again(), 21, 40);
    await fires(await again(), 41, 50);
    expect(await rowsOf(ruleHome(), "SELECT occurrence FROM firing")).toHaveLength(50);
    await passUntil(T0 + 2 * MINUTE);
    const noisy = (await told("shed")).filter((text) => text.includes("is noisy"));
    expect(noisy).toEqual([
      "⚠ pi is noisy: its watches fired 30 times within an hour. More of it waits for an hour, unless it is critical.",
    ]);
  });

  test("that is noisy by one watch: what its others fire is kept, told at once where it is critical, and else an hour later", async () => {
    const line = await watching();
    const { pi, bridge, id } = line;
    const add = async (more: object) => {
      const asked = answers(line, "readings", () => ({ readings: READINGS }));
      const set = answers(line, "watch_set", all);
      await say("shed", script(warm("pi", more), { text: "ok" }));
      await Promise.all([asked, set]);
    };
    await add({ name: "Cold box", repeat: "once" });
    await add({ name: "Deep freezer" });
    const rows = await rowsOf<{ id: string; name: string }>(
      ruleHome(),
      "SELECT id, json_extract(rule, '$.name') AS name FROM rule",
    );
    const idOf = (name: string) => rows.find((row) => row.name === name)?.id ?? "";
    const critical = { method: "PATCH", body: JSON.stringify({ severity: "critical" }) };
    const set = answers(line, "watch_set", all);
    expect((await ask(`/v1/rules/${idOf("Deep freezer")}`, critical)).status).toBe(200);
    await set;
    const fires = async (rule: string, count: number) => {
      for (let seq = 1; seq <= count; seq += 1)
        bridge.send({
          t: "event",
          id: `${rule}:${seq}`,
          agent: "pi",
          payload: await event(pi, firing(rule, seq)),
        });
      await passed(bridge);
    };
    await fires(id, 31);
    await fires(idOf("Deep freezer"), 1);
    await fires(idOf("Cold box"), 1);
    const saysOf = async (name: string) =>
      (await told("shed")).filter((text) => text.includes(`${name}: −11.4 °C at 09:00`)).length;
    await until(async () => (await saysOf("Deep freezer")) === 1, { what: "the critical one" });
    const { rules } = (await (await ask("/v1/rules")).json()) as RuleList;
    expect(rules.find(({ name }) => name === "Cold box")).toMatchObject({
      state: "firing",
      history: [{ occurrence: 1 }],
      silent: "its device is noisy: one firing is held back until 10:00",
    });
    await passUntil(T0 + 59 * MINUTE);
    expect(await saysOf("Cold box")).toBe(0);
    await passUntil(T0 + 61 * MINUTE);
    expect(await saysOf("Cold box")).toBe(1);
    expect(await saysOf("Deep freezer")).toBe(1);
    // It ends with its firing.
    expect(await rowsOf(ruleHome(), `SELECT id FROM rule WHERE id = '${idOf("Cold box")}'`)).toEqual([]);
    expect((await told("shed")).filter((text) => text.includes("is noisy"))).toHaveLength(1);
  });
});
