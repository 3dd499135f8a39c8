/**
 * The bridge's line dies and TCP does not notice: the waiting caller is told soon, or the call is sent again on the
 * next line.
 */
import { reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { KEEPALIVE_LOST_MS } from "@edgecall/core/protocol/names.ts";
import { afterEach, expect, test } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { theHome } from "../../../../test/states.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";
import { attach } from "./bridge-socket.ts";

afterEach(reset);

const AGENTS = [
  agent("pi", { tools: [CPU, SIREN] }),
  agent("rust", { foreign: true, features: [], tools: [] }),
];

/** A bridge that often asks for a sign of life, like ours. */
async function quickBridge(): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  await bridge.hello(["keepalive"]);
  await bridge.snapshot(AGENTS);
  for (const { id } of AGENTS) await ask(`/v1/agents/${id}/accept-text`, { method: "POST" });
  await until(async () => (await status()).agents.online === AGENTS.length, { what: "both are online" });
  return bridge;
}

type Status = {
  bridge: { online: boolean; last_seen: number };
  agents: { online: number };
  calls: Array<{ id: string; state: string }>;
};

async function status(): Promise<Status> {
  return (await (await ask("/v1/status")).json()) as Status;
}

/** Nothing was received on the line for this long; then the home's alarm runs. */
async function silentFor(ms: number): Promise<number> {
  const heardAt = Date.now() - ms;
  await runInDurableObject(theHome(), (_, ctx) => {
    for (const socket of ctx.getWebSockets("bridge")) attach(socket, { connectedAt: heardAt });
  });
  await runDurableObjectAlarm(theHome());
  return heardAt;
}

/** A call that is still out gets a row, and from there on the alarm watches its line. */
async function callStored(): Promise<void> {
  await until(async () => (await rowsOf(theHome(), "SELECT id FROM call WHERE state = 'taken'")).length > 0, {
    what: "the call has a row",
  });
}

function asks(args: Record<string, unknown>) {
  return say(crypto.randomUUID(), script({ calls: [{ arguments: args }] }, { text: "$results" }));
}

test.each([
  ["that may be repeated", "cpu", "timeout"],
  ["that may not", "siren", "outcome_unknown"],
])(
  "G12 a call %s is open when its line is found dead: the person is told then, and nothing is sent twice",
  async (_, action, error_type) => {
    const bridge = await quickBridge();
    const turn = asks({ agent_id: "pi", action });
    await callStored();
    const heardAt = await silentFor(KEEPALIVE_LOST_MS);
    const { body } = await turn;
    expect(body.calls[0]).toMatchObject({ error_type });
    expect(body.answer).toContain("(the connection to the home is down)");
    expect((await status()).bridge).toMatchObject({ online: false, last_seen: heardAt });
    // The next line gets nothing, because the call is over.
    const next = await quickBridge();
    expect([...bridge.calls(), ...next.calls()]).toHaveLength(1);
  },
);

test("G12 a bridge that returns in time gets the call again under its id, and the caller is not told of the dead line", async () => {
  const bridge = await quickBridge();
  bridge.takes = false;
  const turn = asks({ agent_id: "pi", action: "cpu" });
  const call = await until(() => bridge.calls()[0], { what: "the call" });
  await until(async () => (await status()).bridge.online === false, {
    within: 10_000,
    what: "not taken in 5 s",
  });
  const next = await quickBridge();
  const again = await until(() => next.calls()[0], { what: "the call again" });
  expect(again.id).toBe(call.id);
  // The limit for a dead line does not count any more.
  await silentFor(0);
  expect((await status()).calls).toMatchObject([{ id: call.id }]);
  next.report(call.id, "pi", { status: "success", tool: "cpu", result: "load 0.5" });
  expect((await turn).body.answer).toBe("load 0.5");
});

test("G12 a foreign agent may have received it: it is not sent again, and the person is told although the bridge is back", async () => {
  const bridge = await quickBridge();
  bridge.takes = false;
  const turn = asks({ agent_id: "rust", query: "How warm is it?" });
  await until(() => bridge.calls()[0], { what: "the call" });
  await until(async () => (await status()).bridge.online === false, {
    within: 10_000,
    what: "not taken in 5 s",
  });
  const next = await quickBridge();
  // The limit for the dead line, and not the minute for such an agent.
  const left = await runInDurableObject(theHome(), (_, { storage: { sql } }) => {
    const { deadline } = sql.exec<{ deadline: number }>("SELECT deadline FROM call").one();
    sql.exec("UPDATE call SET deadline = ?", Date.now());
    return deadline - Date.now();
  });
  expect(left).toBeLessThan(KEEPALIVE_LOST_MS);
  await runDurableObjectAlarm(theHome());
  expect((await turn).body.calls[0]).toMatchObject({ error_type: "outcome_unknown" });
  expect(next.calls()).toEqual([]);
});

test("G12 a working line is left alone, however long a call takes", async () => {
  const bridge = await quickBridge();
  const turn = asks({ agent_id: "pi", action: "cpu" });
  const call = await until(() => bridge.calls()[0], { what: "the call" });
  await silentFor(KEEPALIVE_LOST_MS - 2_000);
  expect((await status()).bridge.online).toBe(true);
  bridge.report(call.id, "pi", { status: "success", tool: "cpu", result: "load 0.5" });
  expect((await turn).body.answer).toBe("load 0.5");
});
