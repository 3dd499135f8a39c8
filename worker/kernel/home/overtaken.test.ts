/** Races: while Home waits for another program, the state changes, and what Home read before is out of date. */
import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { theHome } from "../../../test/states.ts";
import { hold, rowsOf, stop as stopObject } from "../../../test/stopping.ts";
import {
  AGENTS,
  answerEnds,
  answerQuestion,
  cancel,
  deviceAsks,
  expectTurns,
  garden,
  gatewayAsks,
  leave,
  on,
  openCalls,
  questionOf,
  results,
  sameCallAgain,
  siren,
  sirenOut,
  sounds,
  turnsOf,
} from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { say, TestBridge } from "../../../test/workerd.ts";
import { Conversation } from "../../conversation.ts";
import { Home } from "../../home.ts";
import { HomeAlarm } from "./alarm.ts";

const WITHIN_MS = 20_000;
const cpu = on("pi", { action: "cpu" });
const water = on("garden", { action: "water" });

// Each test has its own home.
afterEach(reset);

test(
  "a call that is sent while another is given up is not reported as unsent",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const ids = [crypto.randomUUID(), crypto.randomUUID()];
    const asked = ids.map((id) =>
      say(id, script({ calls: [water] }, { text: "Queued." }, { text: "In the end: $notes" })),
    );
    const [one, other] = await Promise.all(asked);
    // Both are due at one alarm, and the conversation of the first is slow.
    const late = hold(Conversation, "late", "before");
    await runInDurableObject(theHome(), async (_, { storage }) => {
      storage.sql.exec("UPDATE call SET deadline = ?", Date.now() - 1);
      await storage.setAlarm(Date.now());
    });
    await late.reached();
    bridge.send({ t: "agent", agent: garden(true) });
    const call = await until(() => bridge.calls()[0]?.id, { what: "the queued call goes out" });
    late.release();
    const sent = one?.body.calls[0]?.id === call ? 0 : 1;
    expect([one, other][sent]?.body.calls[0]?.id).toBe(call);
    const unsent = async () => (await turnsOf(ids[1 - sent] ?? ""))[1];
    await until(async () => (await unsent())?.status === "done", { what: "the one is given up" });
    expect((await unsent())?.answer).toContain("Nothing was run");
    bridge.report(call, "garden", { status: "success", result: "watered" });
    await expectTurns(ids[sent] ?? "", [
      { answer: "Queued.", calls: [{ result: "watered" }] },
      { answer: /watered/ },
    ]);
    expect(bridge.calls()).toHaveLength(1);
  },
  WITHIN_MS,
);

test(
  "a job that ends before its call is still reported",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const text = script(
      { calls: [on("pi", { query: "save everything" })] },
      { text: "It has begun." },
      { text: "In the end: $notes" },
    );
    const waiting = say(id, text);
    const call = await until(() => bridge.calls()[0]?.id);
    const job = `job-${id}`;
    const ended = { status: "success", tool: "save", result: "12 GB saved", job_of: call };
    bridge.report(job, "pi", ended);
    await until(() => bridge.acks().includes(job), { what: "the job's ack" });
    bridge.report(call, "pi", { status: "success", content: "begun", jobs: [{ job, tool: "save" }] });
    expect((await waiting).body.answer).toBe("It has begun.");
    await expectTurns(id, [{ answer: "It has begun." }, { answer: /12 GB saved/ }]);
  },
  WITHIN_MS,
);

test(
  "a job of another agent's call is not accepted",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const { call, waiting } = await sirenOut(id, bridge);
    const job = `job-${id}`;
    bridge.report(job, "rust", { status: "success", result: "forged", job_of: call });
    bridge.report(job, "garden", { status: "success", result: "forged", job_of: call });
    await until(() => bridge.acks().filter((acked) => acked === job).length > 0, { what: "its ack" });
    bridge.report(call, "pi", sounds);
    await waiting;
    await expectTurns(id, [{ answer: "it sounds" }]);
  },
  WITHIN_MS,
);

test.each([
  ["that may be repeated", cpu, "cpu"],
  ["that may not", siren, "siren"],
])(
  "a call %s, which an earlier bridge was sent, waits for the device's report",
  async (_, action, tool) => {
    const first = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const waiting = say(id, script({ calls: [action] }, results));
    const call = await until(() => first.calls()[0]?.id);
    const second = await TestBridge.connect(AGENTS);
    await sameCallAgain(second, call);
    // This bridge knows nothing else; the device got the call from the first bridge, and reports its result.
    second.send({ t: "refused", id: call, code: "agent_offline", message: "pi is not online" });
    await until(async () => (await openCalls())[0]?.state === "taken");
    second.report(call, "pi", { status: "success", tool, result: "done" });
    expect((await waiting).body).toMatchObject({ status: "done", answer: "done" });
    await expectTurns(id, [{ answer: "done", calls: [{ status: "success", result: "done" }] }]);
  },
  WITHIN_MS,
);

test(
  "a cancel that a home did not receive reaches the one that restarts",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const { waiting, question } = await gatewayAsks(id, first);
    const stopping = hold(Home, "calls.cancel", "before");
    const cancelled = cancel(id);
    await stopping.reached();
    await stopObject("abort", theHome(), stopping.release);
    await cancelled;
    expect((await waiting).body.status).toBe("cancelled");
    await expectTurns(id, [{ status: "cancelled", answer: /^Cancelled\./ }]);
    expect(await openCalls()).toEqual([]);
    expect(question.text).toContain("rust");
  },
  WITHIN_MS,
);

test(
  "a device's result is reported even if the conversation had given the call up by itself",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const { waiting, call } = await sirenOut(id, bridge);
    // A conversation that cannot reach its home does this.
    const cancelOfHome = Home.prototype["calls.cancel"];
    Home.prototype["calls.cancel"] = async () => {
      throw new Error("overloaded");
    };
    try {
      await cancel(id);
    } finally {
      Home.prototype["calls.cancel"] = cancelOfHome;
    }
    expect((await waiting).body).toMatchObject({ calls: [{ error_type: "outcome_unknown" }] });
    bridge.report(call, "pi", sounds);
    await until(() => bridge.acks().includes(call), { what: "the report's ack" });
    await until(async () => (await turnsOf(id))[0]?.calls[0]?.status === "success", { what: "the truth" });
    const next = await say(id, script({ text: "$notes" }));
    expect(next.body.answer).toContain("It succeeded. Result:\nit sounds");
  },
  WITHIN_MS,
);

test(
  "a requested approval is stored together with its call, or neither is",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const tools_executed = [{ tool: "read_file", success: true }];
    first.onCall = () => ({ status: "success", content: "done", tools_executed });
    const query = { calls: [on("rust", { query: "open the door" })] };
    const arming = holdAlarmOfAsking();
    const waiting = say(id, script(query, query, results));
    await arming.reached();
    await stopObject("abort", theHome(), arming.release);
    await until(() => first.closed, { what: "the crash closes the bridge's socket" });
    const bridge = await TestBridge.connect(AGENTS);
    expect(await questionOf(id)).toMatchObject({ text: expect.stringContaining("rust") });
    await cancel(id);
    await waiting;
    expect(bridge.calls()).toEqual([]);
  },
  WITHIN_MS,
);

/** Holds Home's alarm when it is to be set for a call that waits for an approval. */
function holdAlarmOfAsking() {
  const { arm } = HomeAlarm.prototype;
  const held = hold(HomeAlarm, "arm", "before");
  const holding = HomeAlarm.prototype.arm;
  // Other calls pass until there is such a call.
  HomeAlarm.prototype.arm = async function (this: HomeAlarm) {
    const asking = (await openCalls()).some(({ state }) => state === "asking");
    return await (asking ? holding : arm).call(this);
  };
  return {
    ...held,
    release: () => {
      HomeAlarm.prototype.arm = arm;
      held.release();
    },
  };
}

test(
  "a device that reports again that the outcome is unknown changes nothing",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const { waiting, call } = await sirenOut(id, bridge);
    const unknown = {
      status: "error",
      tool: "siren",
      error: "Error: unknown",
      error_type: "outcome_unknown",
    };
    bridge.report(call, "pi", unknown);
    await waiting;
    // Its acknowledgement was lost.
    bridge.report(call, "pi", unknown);
    await until(() => bridge.acks().filter((acked) => acked === call).length === 2);
    const next = await say(id, script({ text: "notes: $notes" }));
    expect(next.body.answer).toBe("notes: ");
  },
  WITHIN_MS,
);

test(
  "a result that arrives while the conversation is told that it is unknown replaces that",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const { waiting, call } = await sirenOut(id, bridge);
    const settle = hold(Conversation, "settle", "before");
    await runInDurableObject(theHome(), async (_, { storage }) => {
      storage.sql.exec("UPDATE call SET deadline = ?", Date.now() - 1);
      await storage.setAlarm(Date.now());
    });
    await settle.reached();
    bridge.report(call, "pi", sounds);
    await until(async () => (await outcomesOf()).every(({ outcome }) => outcome.includes("it sounds")), {
      what: "Home has the result",
    });
    settle.release();
    await waiting;
    await until(async () => (await turnsOf(id))[0]?.calls[0]?.result === "it sounds", { what: "the truth" });
  },
  WITHIN_MS,
);

async function outcomesOf() {
  return await rowsOf<{ outcome: string }>(theHome(), "SELECT outcome FROM call");
}

test(
  "an answer for an offline device waits for it as long as the question would have",
  async () => {
    const first = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const { waiting, call } = await sirenOut(id, first);
    deviceAsks(first, call, { text: "Which lamp?", expires_in_ms: 3_600_000 });
    const question = await questionOf(id);
    await leave(first);
    await answerQuestion(question.id, "left");
    const [row] = await rowsOf<{ deadline: number }>(
      theHome(),
      "SELECT deadline FROM call WHERE command <> 'answer'",
    );
    expect(row?.deadline).toBeGreaterThan(Date.now() + 3_000_000);
    const bridge = await TestBridge.connect(AGENTS);
    answerEnds(bridge, call, (answer) => `you said ${answer}`);
    // It asks until it has its answer.
    deviceAsks(bridge, call, { text: "Which lamp?", expires_in_ms: 3_000_000 });
    expect((await waiting).body.answer).toBe("you said left");
  },
  WITHIN_MS,
);
