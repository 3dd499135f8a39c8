/** Bridges and agents whose version does not fit this gateway, next to those that do. */
import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import { BRIDGE_PROTOCOL, VERSION } from "@edgecall/core/protocol/names.ts";
import { UPDATE_ACTION } from "@edgecall/core/protocol/versions.ts";
import { describe, expect, test } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";

const OLD = "0.0.9";
const TOO_OLD = (peer: string) => `${peer} ${OLD} is too old for gateway ${VERSION}: update the ${peer}`;
const FEATURES = ["tool", "prompt", "cancel", "ack", "gateway"];
const UPDATE = { ...CPU, name: UPDATE_ACTION, effect: "read" };

async function json<T>(path: string): Promise<T> {
  return (await (await ask(path)).json()) as T;
}

const bridgeSeen = async () => (await json<{ bridge: object }>("/v1/status")).bridge;

const outcomeOf = async (args: Record<string, unknown>) =>
  (await say(crypto.randomUUID(), script({ calls: [{ arguments: args }] }, { text: "$results" }))).body;

/** Returns the notices that agents were sent. */
const noticesOf = (bridge: TestBridge) =>
  bridge.received.flatMap((frame) =>
    frame.t === "publish" ? [{ agent: frame.agent, ...JSON.parse(frame.payload) }] : [],
  );

async function turnedAway(id: string, version: string): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  bridge.send({ t: "hello", protocol: BRIDGE_PROTOCOL, bridge: id, version });
  await until(() => bridge.closed);
  return bridge;
}

describe("a bridge that is too old", () => {
  test("is closed with a text, and reported as long as no other serves", async () => {
    const { closed } = await turnedAway("cellar", OLD);
    expect(closed).toEqual({ code: CLOSE.badProtocol, reason: TOO_OLD("bridge") });
    const told = { online: false, id: "cellar", version: OLD, problem: TOO_OLD("bridge") };
    expect(await bridgeSeen()).toMatchObject(told);
    const bridge = await TestBridge.connect([agent("pi")]);
    expect(await bridgeSeen()).not.toHaveProperty("problem");
    await turnedAway("cellar", OLD);
    expect(await bridgeSeen()).toMatchObject({ online: true, id: "test", version: VERSION });
    expect(bridge.closed).toBeUndefined();
  });

  test("with any version text, the close has a valid reason", async () => {
    const { closed } = await turnedAway("x".repeat(128), `9999.9999.999999-${"x".repeat(40)}`);
    expect(closed?.reason).toMatch(/^bridge 9999\.9999\.999999 is newer than gateway /);
  });
});

describe("an agent that is too old", () => {
  const old = (more: object = {}) =>
    agent("pi", { version: OLD, features: FEATURES, tools: [CPU, UPDATE], ...more });

  test("is shown and reported, and gets nothing but its update", async () => {
    const bridge = await TestBridge.connect([old()]);
    const views = await json<{ agents: object[] }>("/v1/agents");
    expect(views.agents).toMatchObject([{ online: true, version: OLD, problem: TOO_OLD("agent") }]);
    const { answer, calls } = await outcomeOf({ agent_id: "pi", action: "cpu" });
    expect(answer).toContain(`(${TOO_OLD("agent")}). Nothing was run.`);
    expect(calls[0]?.error_type).toBe("execution_failed");
    // A prompt could lead to anything.
    await outcomeOf({ agent_id: "pi", query: "update yourself", action: UPDATE_ACTION });
    expect(bridge.calls()).toEqual([]);
    bridge.onCall = () => ({ status: "success", tool: UPDATE_ACTION, result: "begun" });
    expect((await outcomeOf({ agent_id: "pi", action: UPDATE_ACTION })).answer).toBe("begun");
    expect(noticesOf(bridge)[0]).toMatchObject({
      agent: "pi",
      command: "gateway",
      payload: { version: VERSION },
    });
  });

  test("waiting calls keep waiting until its program fits", async () => {
    const light = { ...CPU, name: "light", queue_ms: 60_000 };
    const bridge = await TestBridge.connect([
      agent("pi", { online: false, features: FEATURES, tools: [light] }),
    ]);
    const { answer } = await outcomeOf({ agent_id: "pi", action: "light" });
    expect(answer).toMatch(/^Queued: /);
    bridge.onCall = () => ({ status: "success", tool: "light", result: "on" });
    bridge.send({ t: "agent", agent: old({ tools: [light] }) });
    await until(() => noticesOf(bridge).length > 0);
    expect(bridge.calls()).toEqual([]);
    bridge.send({ t: "agent", agent: agent("pi", { online: false, features: FEATURES, tools: [light] }) });
    bridge.send({ t: "agent", agent: agent("pi", { features: FEATURES, tools: [light] }) });
    await until(() => bridge.calls().length === 1);
  });
});

test("a foreign agent, and one without a version of ours, are left alone", async () => {
  const told = (id: string, capabilities: object) => ({
    ...agent(id, { features: [] }),
    capabilities: JSON.stringify({ agent_id: id, capabilities: id, ...capabilities }),
  });
  const bridge = await TestBridge.connect([
    { ...told("rust", { version: OLD }), foreign: true },
    told("other", { version: "2026-11", features: ["tool"] }),
    told("mute", { features: ["tool"] }),
  ]);
  bridge.onCall = () => ({ status: "success", content: "yes", result: "yes" });
  const { agents } = await json<{ agents: Array<{ online: boolean }> }>("/v1/agents");
  const there = agents.filter(({ online }) => online);
  expect(there).toHaveLength(3);
  for (const view of there) expect(view).not.toHaveProperty("problem");
  for (const agent_id of ["rust", "other", "mute"])
    expect((await outcomeOf({ agent_id, action: "cpu" })).answer).toBe("yes");
  expect(noticesOf(bridge)).toEqual([]);
});
