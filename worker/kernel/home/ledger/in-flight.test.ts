/**
 * A call on its way to an agent that is there has no row, and nothing is lost by that: Home is stopped at each point between
 * the frame and the ack, and the turn has one answer, the call one result.
 */
import { reset, runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { conversationOf, theHome } from "../../../../test/states.ts";
import { alarmOf, hold, rowsOf, stop } from "../../../../test/stopping.ts";
import {
  AGENTS,
  cancel,
  deviceAsks,
  expectSounds,
  expectTurns,
  openCalls,
  questionOf,
  results,
  sameCallAgain,
  siren,
  sounds,
  turnsOf,
} from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";
import { Conversation } from "../../../conversation.ts";
import { Home } from "../../../home.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { CallsInFlight } from "./in-flight.ts";

const WITHIN_MS = 20_000;
const OUTCOME: SettledOutcome = { status: "success", text: "done", elapsedMs: 1, sources: [] };

// Each test has its own home.
afterEach(reset);

const callRows = () =>
  rowsOf<{ id: string; state: string; sends: number }>(theHome(), "SELECT id, state, sends FROM call");

/** A turn whose call is with the bridge. */
async function callOut(bridge: TestBridge) {
  const id = crypto.randomUUID();
  const waiting = say(id, script({ calls: [siren] }, results));
  const frame = await until(() => bridge.calls()[0], { what: "the call" });
  const { route } = JSON.parse(frame.payload) as { route?: string };
  return { id, waiting, call: frame.id, route };
}

/** @param release opens what holds Home, once it is gone */
async function crash(release?: () => void): Promise<TestBridge> {
  await stop("abort", theHome(), release);
  return await TestBridge.connect(AGENTS);
}

/** A report with a route that the test chooses. */
function reportWith(bridge: TestBridge, agentId: string, call: string, route: string): void {
  const report = {
    agent_id: agentId,
    report_type: "result",
    payload: { ...sounds, request_id: call },
    timestamp: 1,
    route,
  };
  bridge.send({ t: "report", id: call, agent: agentId, payload: JSON.stringify(report) });
}

test(
  "a call that is answered at once leaves no row and no alarm, and its report is acknowledged",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    bridge.onCall = () => sounds;
    const { id, waiting, call } = await callOut(bridge);
    await expectSounds(id, waiting);
    await until(() => bridge.acks().includes(call), { what: "the ack" });
    expect(await callRows()).toEqual([]);
    expect(await openCalls()).toEqual([]);
  },
  WITHIN_MS,
);

test(
  "it is listed as open while it is out, and gets its row when it is not answered soon",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const { id, waiting, call } = await callOut(bridge);
    expect(await openCalls()).toMatchObject([{ id: call, agent: "pi" }]);
    await until(async () => (await callRows()).length > 0, { what: "its row" });
    expect(await callRows()).toEqual([{ id: call, state: "taken", sends: 1 }]);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
    expect(bridge.calls()).toHaveLength(1);
  },
  WITHIN_MS,
);

test(
  "an agent that returns no routes gets no route, and its call a row at once",
  async () => {
    const features = ["tool", "prompt", "cancel", "ack", "question", "watch", "job"];
    const bridge = await TestBridge.connect([agent("pi", { features, tools: [CPU, SIREN] })]);
    const { id, waiting, call, route } = await callOut(bridge);
    expect(route).toBeUndefined();
    expect(await callRows()).toMatchObject([{ id: call, sends: 1 }]);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },
  WITHIN_MS,
);

test.each([
  ["before the bridge has it", false],
  ["when the bridge has it", true],
])(
  "Home is lost %s: the conversation submits the call again, under its id",
  async (_, takes) => {
    const first = await TestBridge.connect(AGENTS);
    first.takes = takes;
    const { id, waiting, call } = await callOut(first);
    const bridge = await crash();
    await sameCallAgain(bridge, call);
    // An earlier line may have brought it to the agent, whatever this bridge says.
    expect(await callRows()).toMatchObject([{ id: call, sends: 2 }]);
    bridge.send({ t: "refused", id: call, code: "agent_offline", message: "pi is not online" });
    await until(async () => (await openCalls())[0]?.state === "taken", {
      what: "the refusal is not believed",
    });
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
    await until(() => bridge.acks().includes(call), { what: "the ack" });
  },
  WITHIN_MS,
);

test(
  "Home and the conversation are lost together: the call is submitted again",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const { id, waiting, call } = await callOut(first);
    await Promise.all([stop("abort", theHome()), stop("abort", conversationOf(id))]);
    const bridge = await TestBridge.connect(AGENTS);
    await sameCallAgain(bridge, call);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },
  WITHIN_MS,
);

test(
  "Home is lost with the outcome, before its conversation has it: the call is submitted again, and counts once",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const reply = hold(Home, "calls.submit", "after");
    const { id, waiting, call } = await callOut(first);
    first.report(call, "pi", sounds);
    await reply.reached();
    // Released only then: otherwise the reply may reach the conversation before the crash.
    const bridge = await crash(reply.release);
    await sameCallAgain(bridge, call);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
    await until(() => bridge.acks().includes(call), { what: "the ack" });
    expect(first.acks()).toEqual([]);
  },
  WITHIN_MS,
);

test(
  "the conversation is lost before it has the outcome: Home has kept it, and the device is not asked again",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const reply = hold(Home, "calls.submit", "after");
    const { id, waiting, call } = await callOut(bridge);
    bridge.report(call, "pi", sounds);
    await reply.reached();
    await stop("abort", conversationOf(id), reply.release);
    await expectSounds(id, waiting);
    await until(() => bridge.acks().includes(call), { what: "the ack" });
    expect(bridge.calls()).toHaveLength(1);
    expect(await callRows()).toEqual([]);
  },
  WITHIN_MS,
);

test(
  "a report is acknowledged when its conversation has the outcome, not before",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const { id, waiting, call } = await callOut(bridge);
    const ended = hold(Home, "conversations.turnEnded", "before");
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
    await ended.reached();
    expect(bridge.acks()).toEqual([]);
    // It comes again: the conversation knows it, and says so at once.
    bridge.report(call, "pi", sounds);
    await until(() => bridge.acks().includes(call), { what: "the ack" });
    ended.release();
    await expectTurns(id, [{ answer: "it sounds", calls: [{ result: "it sounds" }] }]);
  },
  WITHIN_MS,
);

test(
  "Home is lost before the ack: the report that comes again is acknowledged by its route",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    first.onCall = () => sounds;
    const { id, waiting, call } = await callOut(first);
    await expectSounds(id, waiting);
    const bridge = await crash();
    bridge.report(call, "pi", { ...sounds, result: "it sounds again" });
    await until(() => bridge.acks().includes(call), { what: "the ack" });
    await expectTurns(id, [{ answer: "it sounds", calls: [{ result: "it sounds" }] }]);
    expect(await callRows()).toEqual([]);
  },
  WITHIN_MS,
);

test(
  "a route that is forged, changed or another agent's leads nowhere",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const { id, waiting, call, route = "" } = await callOut(first);
    const submit = holdSubmit();
    const bridge = await crash();
    const [body = "", mac = ""] = route.split(".");
    const other = btoa(JSON.stringify([call, `a/api/${id}`, "pi", "tool", "siren", Date.now()]));
    const forged = other.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    const flipped = `${mac.startsWith("A") ? "B" : "A"}${mac.slice(1)}`;
    for (const wrong of ["x", `${forged}.${mac}`, `${body}.${flipped}`, `${body}.`, `${body}.${mac}A`])
      reportWith(bridge, "pi", call, wrong);
    reportWith(bridge, "garden", call, route);
    await until(() => bridge.acks().filter((acked) => acked === call).length >= 6, { what: "the acks" });
    expect((await turnCalls(id))[0]).toMatchObject({ status: "pending" });
    reportWith(bridge, "pi", call, route);
    await until(async () => (await turnCalls(id))[0]?.status === "success", { what: "its own route" });
    submit.release();
    await expectSounds(id, waiting);
  },
  WITHIN_MS,
);

test(
  "a bridge that goes gets the call again when it is back",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const { id, waiting, call } = await callOut(first);
    first.close();
    await until(async () => (await callRows()).length === 1, { what: "its row" });
    const bridge = await TestBridge.connect(AGENTS);
    await sameCallAgain(bridge, call);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },
  WITHIN_MS,
);

test(
  "a refusal is believed, and stands in the row before it is reported",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    bridge.takes = false;
    const { id, waiting, call } = await callOut(bridge);
    const settle = hold(Conversation, "settle", "before");
    bridge.send({ t: "refused", id: call, code: "agent_offline", message: "pi is not online" });
    await settle.reached();
    expect(await callRows()).toMatchObject([{ id: call, state: "settled" }]);
    settle.release();
    expect((await waiting).body.calls[0]).toMatchObject({ error_type: "offline" });
    await expectTurns(id, [{ answer: /Nothing was run/ }]);
  },
  WITHIN_MS,
);

test(
  "a conversation that cannot be told: the result is stored, and delivered again",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const { id, waiting, call } = await callOut(bridge);
    await until(async () => (await callRows()).length > 0, { what: "its row" });
    const { settle } = Conversation.prototype;
    const failing = vi.spyOn(Conversation.prototype, "settle").mockRejectedValueOnce(new Error("overloaded"));
    bridge.report(call, "pi", sounds);
    await until(async () => (await callRows())[0]?.state === "settled", { what: "its row" });
    failing.mockRestore();
    expect(Conversation.prototype.settle).toBe(settle);
    await expectSounds(id, waiting);
    expect(bridge.acks()).toContain(call);
  },
  WITHIN_MS,
);

test(
  "a question gives the call its row, with the question's time",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const { id, waiting, call } = await callOut(bridge);
    deviceAsks(bridge, call, { text: "Which lamp?", expires_in_ms: 3_600_000 });
    await questionOf(id);
    const [row] = await rowsOf<{ deadline: number }>(theHome(), "SELECT deadline FROM call");
    expect(row?.deadline).toBeGreaterThan(Date.now() + 3_000_000);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },
  WITHIN_MS,
);

test(
  "a job that a call begins gives it its row, and a job of a forgotten call is not dropped",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const { id, waiting, call, route = "" } = await callOut(first);
    const submit = holdSubmit();
    const bridge = await crash();
    const job = `job-${id}`;
    const ended = { status: "success", tool: "siren", result: "an hour long", job_of: call };
    const begun = { status: "accepted", tool: "siren", result: "begun", job };
    expect(route).not.toBe("");
    bridge.report(job, "pi", ended);
    bridge.report(call, "pi", begun);
    // Neither is acknowledged while Home does not know the call.
    const sentinel = crypto.randomUUID();
    bridge.report(sentinel, "pi", sounds);
    await until(() => bridge.acks().includes(sentinel), { what: "the report behind them" });
    expect(bridge.acks()).toEqual([sentinel]);
    submit.release();
    await sameCallAgain(bridge, call);
    bridge.report(call, "pi", begun);
    bridge.report(job, "pi", ended);
    expect((await waiting).body.calls[0]).toMatchObject({ status: "success" });
    await until(() => bridge.acks().includes(job) && bridge.acks().includes(call), { what: "the acks" });
    await until(async () => JSON.stringify(await turnsOf(id)).includes("an hour long"), {
      what: "the job's result",
    });
  },
  WITHIN_MS,
);

test(
  "a call whose question is asked of nobody keeps its deadline",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    // The alarm of the connection is over.
    await runDurableObjectAlarm(theHome());
    expect(await alarmOf(theHome())).toBeNull();
    const { id, waiting, call } = await callOut(bridge);
    const approval = { tool: "siren", parameters: {}, reason: "policy", hash: "0".repeat(64) };
    deviceAsks(bridge, call, { text: "May I?", approval });
    await until(async () => (await callRows()).length > 0, { what: "its row" });
    await until(async () => (await alarmOf(theHome())) !== null, { what: "the home's alarm" });
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },
  WITHIN_MS,
);

test(
  "a call that is cancelled on its way is stopped at its agent, and its late report replaces what was said",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const { id, waiting, call } = await callOut(bridge);
    await cancel(id);
    expect((await waiting).body).toMatchObject({
      status: "cancelled",
      calls: [{ error_type: "outcome_unknown" }],
    });
    const cancels = bridge.received.filter((frame) => frame.t === "publish" && frame.payload.includes(call));
    expect(cancels).toHaveLength(1);
    bridge.report(call, "pi", sounds);
    await until(async () => (await turnCalls(id))[0]?.status === "success", { what: "the truth" });
  },
  WITHIN_MS,
);

test(
  "a call that was forgotten and cancelled is never said to be not run",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const { id, waiting } = await callOut(first);
    const submit = holdSubmit();
    const bridge = await crash();
    await cancel(id);
    submit.release();
    expect((await waiting).body.calls[0]).toMatchObject({ error_type: "outcome_unknown" });
    expect(bridge.received.some((frame) => frame.t === "publish" && frame.payload.includes("cancel"))).toBe(
      true,
    );
  },
  WITHIN_MS,
);

test("the timer is gone with the last flight, so that the home may hibernate", () => {
  const flights = new CallsInFlight();
  const calls = [
    { id: "one", agent: "pi" },
    { id: "two", agent: "garden" },
  ];
  for (const call of calls) flights.add(call, 0);
  flights.timer = setTimeout(() => {}, WITHIN_MS);
  flights.answer("one", OUTCOME);
  expect(flights.timer).toBeDefined();
  flights.remove("two");
  expect(flights.timer).toBeUndefined();
  expect([flights.wasAnswered("one"), flights.wasAnswered("two")]).toEqual([true, false]);
});

test("outcomes are held until they are confirmed, the newest hundred", async () => {
  const flights = new CallsInFlight();
  const ids = Array.from({ length: 101 }, (_, n) => `${n}`);
  for (const id of ids) flights.add({ id, agent: "pi" }, 0);
  const waiting = flights.ended("100");
  for (const id of ids) flights.answer(id, OUTCOME);
  expect(await waiting).toBe(OUTCOME);
  expect([flights.held("0"), flights.held("1"), flights.held("100")]).toEqual([undefined, OUTCOME, OUTCOME]);
  expect([flights.confirm("1")?.id, flights.confirm("1"), flights.held("1")]).toEqual([
    "1",
    undefined,
    undefined,
  ]);
  expect(flights.answer("1", OUTCOME)).toBe(false);
});

function holdSubmit() {
  return hold(Home, "calls.submit", "before");
}

async function turnCalls(id: string) {
  return (await turnsOf(id))[0]?.calls ?? [];
}
