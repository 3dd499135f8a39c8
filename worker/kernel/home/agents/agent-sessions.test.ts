/** Sessions at Home: who counts in them, how they begin and end, and what an attacker with the broker or the bridge cannot do. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { type AgentState, TEXT_KINDS } from "@edgecall/core/protocol/frames.ts";
import { hasMac, type SessionKeys } from "@edgecall/core/protocol/session.ts";
import { importPublicKey, isSigned, type Key } from "@edgecall/core/protocol/signing.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { call, passed, useKeyedHome, view } from "../../../../test/keyed-home.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { until } from "../../../../test/wait.ts";
import { ask, type CallFrame, CPU, TestBridge } from "../../../../test/workerd.ts";

const FEATURES = ["session", "acks"];
const COMMAND = { agent: "pi", kind: "commands" } as const;
const home = useKeyedHome();
const evict = () => evictDurableObject(theHome());

type Published = { session?: string; sig?: string; mac?: string; acks?: string[]; boot_id: string };
const published = ({ payload }: CallFrame) => JSON.parse(payload) as Published;

async function expectSigned({ payload }: CallFrame): Promise<void> {
  const key = await importPublicKey(home.gatewayKey);
  expect(key && (await isSigned(key, COMMAND, payload))).toBe(true);
}

const inSession = async (
  bridge: TestBridge,
  id: string,
  fields: Record<string, unknown>,
  keys?: [Key, Key],
) =>
  bridge.send({
    t: "report",
    id,
    agent: "pi",
    payload: await home.pi.reportInSession(id, fields, keys),
  });

/** The first command brings Home's half, and its answer uses the session. */
async function begin(bridge: TestBridge): Promise<SessionKeys<Key>> {
  const { out, answer } = await home.commandOut(bridge);
  await expectSigned(out);
  const keys = await home.pi.takeSession(home.gatewayKey, published(out).session ?? "");
  await inSession(bridge, out.id, { pong: true });
  expect((await answer).body.payload).toMatchObject({ pong: true });
  return keys;
}

/** Sends a command and expects that these forgeries do not answer it, and that the true report does. */
async function expectNoAnswer(
  bridge: TestBridge,
  forge: (id: string) => Promise<string | string[]>,
): Promise<void> {
  const { out, answer } = await home.commandOut(bridge);
  const forgeries = [await forge(out.id)].flat();
  for (const payload of forgeries) bridge.send({ t: "report", id: out.id, agent: "pi", payload });
  await until(() => bridge.acks().filter((id) => id === out.id).length === forgeries.length);
  await inSession(bridge, out.id, { pong: "true" });
  expect((await answer).body.payload).toMatchObject({ pong: "true" });
}

/** Connects a bridge that leaves out the texts that Home has. @returns it, and the hello's answer */
async function connectLean() {
  const bridge = await TestBridge.dial();
  await bridge.hello([...FEATURES, "kept"]);
  const known = await until(() => bridge.received.find((frame) => frame.t === "known"), { what: "known" });
  return { bridge, known };
}

async function snapshot(bridge: TestBridge, state: AgentState): Promise<void> {
  bridge.send({ t: "snapshot", agents: [state], last: true });
  await until(async () => (await view("pi")).online, { what: "pi is online" });
}

beforeEach(() => home.pi.offerSession());

describe("a session", () => {
  test("begins with the first signed command; once the agent has used it, commands carry its HMAC", async () => {
    const bridge = await home.connect(FEATURES);
    const keys = await begin(bridge);
    const { out } = await home.commandOut(bridge);
    expect(published(out)).toMatchObject({ boot_id: home.pi.bootId, mac: expect.any(String) });
    expect(published(out)).not.toHaveProperty("sig");
    expect(published(out)).not.toHaveProperty("session");
    expect(await hasMac("commands", keys.commands, COMMAND, out.payload)).toBe(true);
    // The bridge has its key before the first command.
    const kinds = bridge.received.map(({ t }) => t);
    expect(kinds.indexOf("session")).toBeGreaterThan(0);
    expect(kinds.indexOf("session")).toBeLessThan(kinds.indexOf("call"));
  });

  test("whose first command was lost begins with the next one, by the same half", async () => {
    const bridge = await home.connect(FEATURES);
    const lost = await home.commandOut(bridge);
    const next = await home.commandOut(bridge);
    await expectSigned(next.out);
    expect(published(next.out).session).toBe(published(lost.out).session);
    await begin(bridge);
  });

  test("outlives Home's memory: its reports count, and commands are signed with the same half until one came", async () => {
    const bridge = await home.connect(FEATURES);
    const first = await home.commandOut(bridge);
    await home.pi.takeSession(home.gatewayKey, published(first.out).session ?? "");
    await evict();
    await inSession(bridge, first.out.id, { pong: 1 });
    expect((await first.answer).body.payload).toMatchObject({ pong: 1 });
    await evict();
    const second = await home.commandOut(bridge);
    await expectSigned(second.out);
    expect(published(second.out).session).toBe(published(first.out).session);
  });

  test("belongs to one run: the next run has another, and the one before counts no more", async () => {
    const bridge = await home.connect(FEATURES);
    const before = await begin(bridge);
    home.pi.bootId = "the next run";
    await home.pi.offerSession();
    bridge.send({ t: "agent", agent: await home.pi.state() });
    await passed(bridge);
    const { out, answer } = await home.commandOut(bridge);
    await expectSigned(out);
    expect(published(out).boot_id).toBe("the next run");
    await inSession(bridge, out.id, { pong: "the old keys" }, [before.reports, before.bridge]);
    await until(() => bridge.acks().includes(out.id));
    await home.pi.takeSession(home.gatewayKey, published(out).session ?? "");
    await inSession(bridge, out.id, { pong: "the new ones" });
    expect((await answer).body.payload).toMatchObject({ pong: "the new ones" });
  });

  test("whose agent signs a report again is offered again", async () => {
    const bridge = await home.connect(FEATURES);
    await begin(bridge);
    const { out, answer } = await home.commandOut(bridge);
    await home.report(bridge, out.id, { pong: true });
    expect((await answer).body.payload).toMatchObject({ pong: true });
    const next = await home.commandOut(bridge);
    await expectSigned(next.out);
    expect(published(next.out).session).toEqual(expect.any(String));
  });

  test("ends at once with its key", async () => {
    const bridge = await home.connect(FEATURES);
    await begin(bridge);
    expect((await call("/v1/agents/pi/key", { method: "DELETE" })).status).toBe(204);
    await inSession(bridge, "late", { pong: true });
    await until(() => bridge.acks().includes("late"));
    expect((await view("pi")).online).toBe(false);
    const { keys } = bridge.received.findLast((frame) => frame.t === "keys") ?? {};
    expect(keys).toEqual([expect.objectContaining({ id: "pi", key: null })]);
    expect(keys?.[0]).not.toHaveProperty("session");
    const rows = await runInDurableObject(theHome(), (_, { storage }) =>
      storage.sql.exec("SELECT * FROM agent_session").toArray(),
    );
    expect(rows).toEqual([]);
  });

  test("is in no export; a home without its row makes another half, which the agent takes", async () => {
    const bridge = await home.connect(FEATURES);
    const before = await begin(bridge);
    const exported = await new Response((await ask("/v1/export")).body).text();
    expect(exported).toContain('"gateway_key"');
    expect(exported).not.toContain("agent_session");
    await runInDurableObject(theHome(), (_, { storage }) => storage.sql.exec("DELETE FROM agent_session"));
    await evict();
    bridge.close();
    const next = await home.connect(FEATURES);
    const { out, answer } = await home.commandOut(next);
    await expectSigned(out);
    // What it said with the keys before is not acknowledged to the agent, so it sends it again, signed.
    await inSession(next, out.id, { pong: "the old keys" }, [before.reports, before.bridge]);
    await until(() => next.acks().includes(out.id));
    await home.report(next, out.id, { pong: "signed" });
    expect((await answer).body.payload).toMatchObject({ pong: "signed" });
    await begin(next);
  });

  test("goes on with a bridge that leaves out the presence, which Home has read", async () => {
    const first = await home.connect(FEATURES);
    await begin(first);
    const { bridge, known } = await connectLean();
    const session = { boot_id: home.pi.bootId, key: home.pi.bridgeKey };
    expect(known.keys).toEqual([expect.objectContaining({ id: "pi", session })]);
    const kept = [...TEXT_KINDS];
    await snapshot(bridge, { id: "pi", online: true, last_seen: Date.now(), foreign: false, kept });
    const { out, answer } = await home.commandOut(bridge);
    await expectSigned(out);
    await inSession(bridge, out.id, { pong: true });
    expect((await answer).body.payload).toMatchObject({ pong: true });
    expect(published((await home.commandOut(bridge)).out)).toHaveProperty("mac");
  });

  test("begins anew in a home that was restored: it reads the presence again that it had read before", async () => {
    const state = await home.pi.state({ tools: [CPU] });
    const first = await TestBridge.dial();
    await first.hello(FEATURES);
    await snapshot(first, state);
    const before = await begin(first);
    const file = await new Response((await ask("/v1/export")).body).text();
    expect((await call("/v1/import?replace=yes", { method: "POST", body: file })).status).toBe(200);
    await until(() => first.closed, { within: 10_000, what: "the object with the rows before is gone" });
    const { bridge, known } = await until(() => connectLean().catch(() => undefined), {
      within: 10_000,
      what: "the restored home",
    });
    expect(known).toMatchObject({ keys: [{ id: "pi" }], texts: [] });
    expect(known.keys[0]).not.toHaveProperty("session");
    await snapshot(bridge, state);
    const { out, answer } = await home.commandOut(bridge);
    await expectSigned(out);
    await inSession(bridge, out.id, { pong: "the old keys" }, [before.reports, before.bridge]);
    await until(() => bridge.acks().includes(out.id));
    await home.pi.takeSession(home.gatewayKey, published(out).session ?? "");
    await inSession(bridge, out.id, { pong: "the new ones" });
    expect((await answer).body.payload).toMatchObject({ pong: "the new ones" });
  });

  test("is not offered through a bridge that knows none, and never to an agent that offers none", async () => {
    const old = await home.connect();
    const { out } = await home.commandOut(old);
    await expectSigned(out);
    expect(published(out)).not.toHaveProperty("session");
    expect(old.received.map(({ t }) => t)).not.toContain("session");
    home.pi.half = undefined;
    home.pi.bootId = "an older program";
    const bridge = await home.connect(FEATURES);
    const next = await home.commandOut(bridge);
    await expectSigned(next.out);
    expect(published(next.out)).not.toHaveProperty("session");
  });

  test("is told to a bridge that connects later", async () => {
    const first = await home.connect(FEATURES);
    await begin(first);
    const second = await TestBridge.dial();
    await second.hello(FEATURES);
    const welcome = second.received.find((frame) => frame.t === "welcome");
    expect(welcome?.keys).toEqual([
      expect.objectContaining({ id: "pi", session: { boot_id: home.pi.bootId, key: expect.any(String) } }),
    ]);
    const third = await TestBridge.dial();
    await third.hello();
    expect(JSON.stringify(third.received)).not.toContain('"session"');
  });
});

describe("in a session nothing counts", () => {
  test("of the bridge, which has the third key alone", async () => {
    const bridge = await home.connect(FEATURES);
    const keys = await begin(bridge);
    await expectNoAnswer(bridge, async (id) => [
      await home.pi.reportInSession(id, { pong: "the bridge's" }, [keys.bridge, keys.bridge]),
      await home.pi.report(id, { pong: "signed" }).then((text) => text.replace('"signed"', '"forged"')),
    ]);
  });

  test("that was reflected: a command's key makes no report", async () => {
    const bridge = await home.connect(FEATURES);
    const keys = await begin(bridge);
    await expectNoAnswer(bridge, (id) =>
      home.pi.reportInSession(id, { pong: "reflected" }, [keys.commands, keys.bridge]),
    );
  });

  test("that was shortened, changed, unsealed, or said on another topic or of another call", async () => {
    const bridge = await home.connect(FEATURES);
    await begin(bridge);
    await expectNoAnswer(bridge, async (id) => {
      const text = await home.pi.reportInSession(id, { pong: "x" });
      const elsewhere = await home.pi.sayInSession("events", {
        report_type: "result",
        payload: { pong: "x", request_id: id },
      });
      return [
        text.replace(/"mac":"(.{43}).*$/, '"mac":"$1"}'),
        text.replace(/"mac":".*$/, '"mac":""}'),
        text.replace(/,"mac":".*$/, "}"),
        text.replace('"mac":', '"sig":'),
        text.replace('"pong":"x"', '"pong":"y"'),
        elsewhere,
        await home.pi.reportInSession("another call", { pong: "x" }),
      ];
    });
  });

  test("of another agent's session", async () => {
    const bridge = await home.connect(FEATURES);
    await begin(bridge);
    const other = await SignedAgent.make("pi");
    await other.offerSession();
    const keys = await other.takeSession(home.gatewayKey, home.pi.half?.publicKey ?? "");
    await expectNoAnswer(bridge, (id) =>
      home.pi.reportInSession(id, { pong: "a stranger's" }, [keys.reports, keys.bridge]),
    );
  });

  test("that the broker retains: adverts and presence stay signed", async () => {
    const bridge = await home.connect(FEATURES);
    await begin(bridge);
    const state = await home.pi.state();
    const presence = await home.pi.sayInSession("presence", { state: "online", reason: "forged" });
    const capabilities = await home.pi.sayInSession("capabilities", {
      capabilities: "forged",
      features: ["ack"],
    });
    bridge.send({ t: "agent", agent: { ...state, presence, capabilities } });
    await until(async () => !(await view("pi")).online);
    expect((await view("pi")).capabilities).not.toBe("forged");
  });

  test("that takes it away: a presence whose half was cut out or replaced is not signed", async () => {
    const bridge = await home.connect(FEATURES);
    await begin(bridge);
    const state = await home.pi.state();
    const other = await SignedAgent.make("pi");
    await other.offerSession();
    for (const presence of [
      state.presence?.replace(/,"session":"[^"]*"/, ""),
      state.presence?.replace(/"session":"[^"]*"/, `"session":"${other.half?.publicKey}"`),
    ])
      bridge.send({ t: "agent", agent: { ...state, presence: presence ?? "" } });
    await until(async () => !(await view("pi")).online);
    bridge.send({ t: "agent", agent: await home.pi.state() });
    await until(async () => (await view("pi")).online);
    const { out } = await home.commandOut(bridge);
    expect(published(out)).toHaveProperty("mac");
  });
});

describe("acks of many reports", () => {
  const acked = (bridge: TestBridge) =>
    bridge.received.flatMap((frame) => (frame.t === "acks" ? [frame.ids] : []));

  test("go together after a moment, signed for the agent", async () => {
    const bridge = await home.connect(FEATURES);
    const ids = ["one", "two", "three"];
    for (const id of ids)
      bridge.send({ t: "report", id, agent: "pi", payload: await home.pi.report(id, { pong: true }) });
    await until(() => acked(bridge).length > 0);
    expect(acked(bridge)).toEqual([ids]);
    const { payload } = bridge.received.find((frame) => frame.t === "acks") ?? {};
    expect(JSON.parse(payload ?? "")).toMatchObject({ command: "ack", payload: { request_ids: ids } });
    expect(bridge.acks()).toEqual([]);
  });

  test("ride in the next call to their agent", async () => {
    const bridge = await home.connect(FEATURES);
    const first = await home.commandOut(bridge);
    await home.report(bridge, first.out.id, { pong: true });
    await first.answer;
    const { out } = await home.commandOut(bridge);
    expect(published(out).acks).toEqual([first.out.id]);
    await expectSigned(out);
    await passed(bridge);
    expect(acked(bridge)).toEqual([]);
  });

  test("go one by one through a bridge that does not know them", async () => {
    const bridge = await home.connect();
    bridge.send({
      t: "report",
      id: "one",
      agent: "pi",
      payload: await home.pi.report("one", { pong: true }),
    });
    await until(() => bridge.acks().includes("one"));
    expect(acked(bridge)).toEqual([]);
  });
});
