/** Homes of 1,000 agents: the rows that their snapshots and storms cost, and who waits meanwhile. */
import { reset, runInDurableObject } from "cloudflare:test";
import { type AgentState, TEXT_KINDS, type TextKind } from "@edgecall/core/protocol/frames.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { passed, post } from "../../../../test/keyed-home.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, type TestBridge as Bridge, CPU, TestBridge } from "../../../../test/workerd.ts";

const COUNT = 1_000;
const AT_ONCE = 20;
const WITHIN_MS = 120_000;

/** 28 tools, 12 KB: what a Pi advertises. */
const TOOLS = Array.from({ length: 28 }, (_, n) => ({
  ...CPU,
  name: `tool_${n}`,
  description: `What tool ${n} measures or does, and what it needs for that. `.repeat(2),
  parameters: {
    type: "object",
    properties: { path: { type: "string", description: "Where it looks for its data. ".repeat(4) } },
    required: ["path"],
  },
}));

const idOf = (n: number) => `agent-${String(n).padStart(4, "0")}`;
const presence = (boot: string, state = "online") => JSON.stringify({ state, boot_id: boot });
const unsigned = () =>
  Array.from({ length: COUNT }, (_, n) =>
    agent(idOf(n), { line: `${idOf(n)} stands in room ${n}`, tools: TOOLS, presence: presence("b1") }),
  );

afterEach(reset);

/** Rows that Home has written until now, without entries of indexes. */
async function rowsWritten(): Promise<number> {
  return await runInDurableObject(
    theHome(),
    (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n,
  );
}

/** @returns the rows that this wrote */
async function rowsOf(work: () => Promise<unknown>): Promise<number> {
  const before = await rowsWritten();
  await work();
  return (await rowsWritten()) - before;
}

async function snapshot(bridge: Bridge, states: readonly AgentState[]): Promise<void> {
  for (let at = 0; at < states.length; at += AT_ONCE)
    bridge.send({
      t: "snapshot",
      agents: states.slice(at, at + AT_ONCE),
      last: at + AT_ONCE >= states.length,
    });
  await passed(bridge);
}

async function changes(bridge: Bridge, states: readonly AgentState[]): Promise<void> {
  for (let at = 0; at < states.length; at += AT_ONCE)
    bridge.send({ t: "agents", agents: states.slice(at, at + AT_ONCE) });
  await passed(bridge);
}

async function status(): Promise<{ agents: { known: number; online: number } }> {
  return await (await ask("/v1/status")).json();
}

async function connected(features?: string[]): Promise<Bridge> {
  const bridge = await TestBridge.dial();
  await bridge.hello(features);
  return bridge;
}

/** What a bridge sends of agents whose texts Home has. */
function kept(states: readonly AgentState[], kinds: readonly TextKind[] = TEXT_KINDS): AgentState[] {
  return states.map((state) => {
    const lean = { ...state, kept: [...kinds] };
    for (const kind of kinds) delete lean[kind];
    return lean;
  });
}

describe("1,000 agents without keys", () => {
  test(
    "cost a row each when they come, and none when the bridge says the same again",
    async () => {
      const states = unsigned();
      const bridge = await connected();
      // A row each, one for all their tools, and few for the connection and the alarm.
      expect(await rowsOf(() => snapshot(bridge, states))).toBeLessThan(COUNT + 10);
      expect((await status()).agents).toEqual({ known: COUNT, online: COUNT });

      // An older bridge sends whole texts; a newer one is told which texts it need not send.
      const old = await connected();
      expect(await rowsOf(() => snapshot(old, states))).toBeLessThan(10);
      const lean = await connected(["kept"]);
      const known = lean.received.flatMap((frame) => (frame.t === "known" ? frame.texts : []));
      expect(known).toHaveLength(COUNT);
      for (const text of known) expect(Object.keys(text)).toEqual(["id", ...TEXT_KINDS]);
      expect(await rowsOf(() => snapshot(lean, kept(states)))).toBeLessThan(10);
      expect((await status()).agents).toEqual({ known: COUNT, online: COUNT });
      expect(lean.received.filter(({ t }) => t === "lacks")).toEqual([]);
    },
    WITHIN_MS,
  );

  test(
    "do not keep others waiting while their snapshot is stored",
    async () => {
      const bridge = await connected();
      const stored = snapshot(bridge, unsigned());
      const seen = new Set<number>();
      await until(async () => seen.add((await status()).agents.known).has(COUNT), { what: "all are known" });
      await stored;
      // Answers came at many different moments of it, not only before and after.
      expect(seen.size).toBeGreaterThan(10);
    },
    WITHIN_MS,
  );

  test("are stored frame by frame, and Home says so of each that has a number", async () => {
    const bridge = await connected();
    for (const n of [1, 2])
      bridge.send({ t: "snapshot", agents: unsigned().slice(3 * n, 3 * n + 3), last: n === 2, n });
    const numbers = () => bridge.received.flatMap((frame) => (frame.t === "stored" ? frame.n : []));
    await until(() => numbers().length === 2, { what: "both frames are stored" });
    expect(numbers()).toEqual([1, 2]);
    expect((await status()).agents).toEqual({ known: 6, online: 6 });
  });

  test("one that comes right after the last part is not taken for absent", async () => {
    const bridge = await connected();
    // They do not know the gateway's version yet, and are told it after they were stored.
    const greeted = ["one", "two", "three"].map((id) => agent(id, { features: ["tool", "gateway"] }));
    bridge.send({ t: "snapshot", agents: greeted, last: true });
    bridge.send({ t: "agents", agents: [agent("late")] });
    await passed(bridge);
    expect((await status()).agents).toEqual({ known: 4, online: 4 });
  });

  test(
    "that leave and come back cost two rows each, and calls of others go on",
    async () => {
      const states = unsigned();
      const bridge = await connected();
      await snapshot(bridge, states);
      const gone = kept(states, ["capabilities", "tools"]).map((state) => ({
        ...state,
        online: false,
        reason: "last will",
        presence: presence("b1", "offline"),
      }));
      const back = kept(states, ["capabilities", "tools"]);
      expect(await rowsOf(() => changes(bridge, gone))).toBeLessThan(COUNT + 10);
      expect((await status()).agents).toEqual({ known: COUNT, online: 0 });
      expect(await rowsOf(() => changes(bridge, back))).toBeLessThan(COUNT + 10);
      expect((await status()).agents).toEqual({ known: COUNT, online: COUNT });
    },
    WITHIN_MS,
  );
});

describe("1,000 agents with keys", () => {
  test(
    "cost two rows each when they come, none when nothing changed; a new run is learnt",
    async () => {
      const agents = await Promise.all(Array.from({ length: COUNT }, (_, n) => SignedAgent.make(idOf(n))));
      for (const { id, publicKey } of agents)
        await post(`/v1/agents/${id}/key`, { public_key: publicKey, name: id });
      const states = await Promise.all(agents.map((one) => one.state({ tools: TOOLS })));
      const bridge = await connected();
      expect(await rowsOf(() => snapshot(bridge, states))).toBeLessThan(2 * COUNT + 10);
      expect((await status()).agents).toEqual({ known: COUNT, online: COUNT });

      const lean = await connected(["kept"]);
      const keys = lean.received.flatMap((frame) => (frame.t === "known" ? frame.keys : []));
      expect(keys).toHaveLength(COUNT);
      expect(await rowsOf(() => snapshot(lean, kept(states)))).toBeLessThan(10);
      expect((await status()).agents).toEqual({ known: COUNT, online: COUNT });

      // One was started anew meanwhile, another is gone.
      const [first, second] = agents;
      if (!first || !second) throw new Error("no agents");
      first.bootId = crypto.randomUUID();
      const mixed = [await first.state({ tools: TOOLS }), ...kept(states).slice(2)];
      const again = await connected(["kept"]);
      expect(await rowsOf(() => snapshot(again, mixed))).toBeLessThan(15);
      expect((await status()).agents).toEqual({ known: COUNT, online: COUNT - 1 });
    },
    WITHIN_MS,
  );
});

describe("texts that the bridge leaves out", () => {
  let bridge: Bridge;
  beforeEach(async () => {
    bridge = await connected(["kept"]);
    await snapshot(bridge, [agent("pi")]);
  });

  test("are asked for when Home does not have them", async () => {
    bridge.send({ t: "gone", agent: "pi" });
    await changes(bridge, kept([agent("pi")], ["capabilities", "tools"]));
    await until(() => bridge.received.some((frame) => frame.t === "lacks" && frame.agents.includes("pi")), {
      what: "lacks",
    });
    await changes(bridge, [agent("pi")]);
    const { agents } = (await (await ask("/v1/agents")).json()) as { agents: Array<{ actions: string[] }> };
    expect(agents).toMatchObject([{ id: "pi", online: true, actions: ["cpu"] }]);
  });

  test("do not bring an agent with a new key online: nothing of it was verified", async () => {
    const pi = await SignedAgent.make("pi");
    await post("/v1/agents/pi/key", { public_key: pi.publicKey, name: "pi" });
    await changes(bridge, kept([agent("pi")]));
    expect((await status()).agents).toEqual({ known: 1, online: 0 });
    await changes(bridge, [await pi.state()]);
    expect((await status()).agents).toEqual({ known: 1, online: 1 });
    const other = await SignedAgent.make("pi");
    await ask("/v1/agents/pi/key", { method: "DELETE" });
    await changes(bridge, kept([await other.state()]));
    expect((await status()).agents).toEqual({ known: 1, online: 0 });
  });
});
