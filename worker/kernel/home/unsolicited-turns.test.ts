/** A device may begin a turn by itself, with the result of an announced job, and ask a few questions. */
import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, test } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf, theHome } from "../../../test/states.ts";
import { rowsOf, storedNotes } from "../../../test/stopping.ts";
import { answerQuestion, cancel, on, openQuestions, turnsOf } from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, type CallFrame, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";
import { Ledger } from "./ledger/ledger.ts";

afterEach(reset);

const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "watch", "job"];
const backup = { calls: [on("pi", { action: "siren" })] };
const job = (n: number) => `job-token-${String(n).padStart(4, "0")}`;

async function pi(answer: (call: CallFrame) => Record<string, unknown> | undefined) {
  const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [CPU, SIREN] })]);
  bridge.onCall = answer;
  return bridge;
}

const dropped = async () => {
  const [row] = await rowsOf<{ figures: string }>(
    theHome(),
    `SELECT figures FROM tally WHERE name = '["jobs_dropped"]'`,
  );
  return Number(row?.figures ?? 0);
};

/** Resolves when every report was handled, because later frames are answered. */
async function allHeard(bridge: TestBridge, ids: readonly string[]): Promise<void> {
  await until(() => ids.every((id) => bridge.acks().includes(id)), { what: "the reports are acknowledged" });
}

describe("S6 a job's result counts only if its call's own result announced it", () => {
  test("forty results that no call announced begin no turn, and are counted", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => ({ status: "success", result: "done" }));
    await say(id, script(backup, { text: "ok" }));
    const of = bridge.calls()[0]?.id ?? "";
    const ids = Array.from({ length: 40 }, (_, n) => job(n));
    for (const one of ids) bridge.report(one, "pi", { status: "success", result: "evil", job_of: of });
    await allHeard(bridge, ids);
    expect(await dropped()).toBe(40);
    expect(await (await ask("/metrics")).text()).toMatch(/unannounced_jobs_total\{[^}]*\} 40/);
    expect(await turnsOf(id)).toHaveLength(1);
    expect(await storedNotes(conversationOf(id))).toEqual([]);
    expect(await rowsOf(theHome(), "SELECT id FROM call WHERE command = 'job'")).toEqual([]);
  });

  test("a job's result before its call's result waits for it: the announced one counts, the others are dropped", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => undefined);
    const turn = say(id, script(backup, { text: "begun" }, { text: "In the end: $notes" }));
    const call = await until(() => bridge.calls()[0]);
    const ids = Array.from({ length: 16 }, (_, n) => job(n));
    for (const one of ids) bridge.report(one, "pi", { status: "success", result: one, job_of: call.id });
    // There is room for as many as a device may have jobs; the next one is sent again.
    bridge.report(job(16), "pi", { status: "success", result: job(16), job_of: call.id });
    await allHeard(bridge, ids);
    bridge.report(call.id, "pi", { status: "accepted", job: job(3), result: "begun" });
    expect((await turn).body.answer).toBe("begun");
    await until(async () => (await turnsOf(id)).some(({ answer }) => answer?.includes(job(3))));
    expect(await turnsOf(id)).toHaveLength(2);
    expect(await dropped()).toBe(15);
    expect(bridge.acks()).not.toContain(job(16));
    bridge.report(job(16), "pi", { status: "success", result: job(16), job_of: call.id });
    await allHeard(bridge, [job(16)]);
    expect(await dropped()).toBe(16);
  });

  test("a cancelled call still announces its job with its own result, and the job's result counts", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => undefined);
    const turn = say(id, script(backup, { text: "begun" }, { text: "In the end: $notes" }));
    const of = (await until(() => bridge.calls()[0])).id;
    await cancel(id);
    expect((await turn).body.status).toBe("cancelled");
    bridge.report(of, "pi", { status: "accepted", job: job(1), result: "begun" });
    await allHeard(bridge, [of]);
    bridge.report(job(1), "pi", { status: "success", result: "backed up", job_of: of });
    await allHeard(bridge, [job(1)]);
    expect(await dropped()).toBe(0);
    const notes = await storedNotes(conversationOf(id));
    expect(JSON.stringify(notes)).toContain("backed up");
  });

  test("a second result of the call, and a job's own, announce nothing", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => ({ status: "accepted", job: job(1), result: "begun" }));
    await say(id, script(backup, { text: "begun" }, { text: "end" }));
    const of = bridge.calls()[0]?.id ?? "";
    bridge.report(of, "pi", {
      status: "accepted",
      job: job(2),
      result: "begun again",
      jobs: [{ job: job(3) }],
    });
    bridge.report(job(1), "pi", { status: "accepted", job: job(4), result: "and on" });
    bridge.report(job(2), "pi", { status: "success", result: "evil", job_of: of });
    bridge.report(job(4), "pi", { status: "success", result: "evil", job_of: job(1) });
    await allHeard(bridge, [job(1), job(2), job(4)]);
    expect(await dropped()).toBe(2);
    expect(JSON.stringify(await turnsOf(id))).not.toContain("evil");
  });

  test("a job of another agent's call belongs to no call", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => undefined);
    bridge.send({ t: "agent", agent: agent("nas", { features: FEATURES }) });
    const turn = say(id, script(backup, { text: "ok" }));
    const call = await until(() => bridge.calls()[0]);
    bridge.report(job(1), "nas", { status: "success", result: "evil", job_of: call.id });
    await allHeard(bridge, [job(1)]);
    bridge.report(call.id, "pi", { status: "accepted", job: job(1), result: "begun" });
    await turn;
    bridge.report(job(1), "nas", { status: "success", result: "evil", job_of: call.id });
    await until(() => bridge.acks().filter((one) => one === job(1)).length === 2);
    expect(JSON.stringify(await turnsOf(id))).not.toContain("evil");
  });

  test("of the announced ones, twenty an hour begin a turn; the model is told of the others", async () => {
    const id = crypto.randomUUID();
    const jobs = Array.from({ length: 30 }, (_, n) => ({ job: job(n), tool: "siren" }));
    const bridge = await pi(() => ({ status: "success", result: "begun", jobs }));
    const ends = Array.from({ length: 30 }, () => ({ text: "noted" }));
    await say(id, script(backup, { text: "begun" }, ...ends));
    for (const { job: one } of jobs) {
      bridge.report(one, "pi", { status: "success", result: `result of ${one}` });
      await allHeard(bridge, [one]);
    }
    const notes = () => storedNotes(conversationOf(id));
    await until(async () => (await notes()).length === 30, { what: "all are told" });
    await until(async () => (await turnsOf(id)).every(({ status }) => status === "done"));
    expect(await turnsOf(id)).toHaveLength(21);
    const { body } = await say(id, script({ text: "$notes" }));
    expect(body.status).toBe("done");
  }, 30_000);

  test("S27: nor do more when sixty come at once, in one conversation or in three", async () => {
    const names = ["one", "two", "three"].map(() => crypto.randomUUID());
    let calls = 0;
    const jobs = (of: number) =>
      Array.from({ length: 20 }, (_, n) => ({ job: job(100 * of + n), tool: "siren" }));
    const bridge = await pi(() => ({ status: "success", result: "begun", jobs: jobs(++calls) }));
    const ends = Array.from({ length: 60 }, () => ({ text: "noted" }));
    for (const id of names) await say(id, script(backup, { text: "begun" }, ...ends));
    const all = names.flatMap((_, at) => jobs(at + 1));
    for (const { job: one } of all)
      bridge.report(one, "pi", { status: "success", result: `result of ${one}` });
    await allHeard(
      bridge,
      all.map(({ job: one }) => one),
    );
    const notes = async () => (await Promise.all(names.map((id) => storedNotes(conversationOf(id))))).flat();
    await until(async () => (await notes()).length === 60, { what: "all are told", within: 30_000 });
    const turns = async () => (await Promise.all(names.map((id) => turnsOf(id)))).flat();
    await until(async () => (await turns()).every(({ status }) => status === "done"), { within: 30_000 });
    expect(await turns()).toHaveLength(names.length + 20);
  }, 60_000);
});

describe("S19 when its share of open rows is used up", () => {
  const order = { command: "tool", payload: {}, silenceMs: 600_000, totalMs: 600_000, idempotent: true };
  const fill = () =>
    runInDurableObject(theHome(), (_, ctx) => {
      const ledger = new Ledger(ctx.storage);
      const caller = { principal: "anna", role: "owner", channel: "api" } as const;
      for (let n = 1; !ledger.isFull("pi"); n += 1)
        ledger.add(
          { id: `full-${n}`, conversation: null, agent: "pi", caller, order },
          n,
          "taken",
          Date.now(),
        );
    });

  test("a device's job is not waited for, and the person is told so", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => undefined);
    const turn = say(id, script(backup, { text: "$results" }));
    const call = await until(() => bridge.calls()[0]);
    await fill();
    bridge.report(call.id, "pi", { status: "accepted", job: job(1), result: "begun" });
    const { answer } = (await turn).body;
    expect(answer).toContain("begun\nAccepted, not done.\n'pi' has 200 open calls and jobs");
    expect(answer).toContain("the result of a job of this call will not arrive here");
    expect(answer).not.toContain("arrives later");
  });

  test("a failure keeps its own advice when its jobs are not waited for", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => undefined);
    const turn = say(id, script(backup, { text: "$results" }));
    const call = await until(() => bridge.calls()[0]);
    await fill();
    const failure = { status: "error", error: "Error: half of it\nMind the rest.", advice: "Mind the rest." };
    bridge.report(call.id, "pi", { ...failure, jobs: [{ job: job(1) }] });
    expect((await turn).body.answer).toContain(
      "will not arrive here.\nMind the rest. Tell the user that, and how",
    );
  });

  test("a job's result before its call's is not accepted: it is sent again when there is room", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => undefined);
    const turn = say(id, script(backup, { text: "begun" }, { text: "In the end: $notes" }));
    const call = await until(() => bridge.calls()[0]);
    await fill();
    const early = () =>
      bridge.report(job(1), "pi", { status: "success", result: "backed up", job_of: call.id });
    early();
    bridge.report(job(2), "pi", { status: "success", result: "of no call" });
    await allHeard(bridge, [job(2)]);
    expect(bridge.acks()).not.toContain(job(1));
    await rowsOf(theHome(), "DELETE FROM call WHERE id LIKE 'full-%'");
    early();
    await allHeard(bridge, [job(1)]);
    bridge.report(call.id, "pi", { status: "accepted", job: job(1), result: "begun" });
    await turn;
    await until(async () => (await turnsOf(id)).some(({ answer }) => answer?.includes("backed up")));
  });
});

describe("S7 a device's questions", () => {
  const question = (bridge: TestBridge, call: string, n: number) =>
    bridge.send({
      t: "event",
      id: call,
      agent: "pi",
      payload: JSON.stringify({
        type: "question",
        request_id: call,
        question_id: `q${n}`,
        text: `Question ${n}?`,
        expires_in_ms: 604_800_000,
      }),
    });
  type Refusal = { command: string; payload: { question_id: string; answer: string; refused?: string } };
  const refusals = (bridge: TestBridge): Refusal["payload"][] =>
    bridge.received.flatMap((frame) => {
      if (frame.t !== "publish") return [];
      const { command, payload } = JSON.parse(frame.payload) as Refusal;
      return command === "answer" && payload.refused !== undefined ? [payload] : [];
    });

  test("three of a call are open at once; three hundred are refused in words, without a row", async () => {
    const id = crypto.randomUUID();
    const bridge = await pi(() => undefined);
    const turn = say(id, script(backup, { text: "$results" }));
    const call = await until(() => bridge.calls()[0]);
    for (let n = 0; n < 300; n += 1) question(bridge, call.id, n);
    await until(() => refusals(bridge).length === 297, { what: "297 refusals" });
    expect(refusals(bridge)[0]).toMatchObject({
      question_id: "q3",
      answer: expect.stringContaining("3 questions of this call"),
      refused: expect.stringContaining("Not asked:"),
    });
    const open = await openQuestions();
    expect(open.map(({ text }) => text)).toEqual(["Question 0?", "Question 1?", "Question 2?"]);
    expect(await rowsOf(theHome(), "SELECT id FROM question")).toHaveLength(3);
    expect(await rowsOf(theHome(), "SELECT id FROM call WHERE command = 'answer'")).toEqual([]);
    // One is answered, so there is room for the next.
    await answerQuestion(open[0]?.id ?? "", "yes");
    question(bridge, call.id, 299);
    await until(async () => (await openQuestions()).some(({ text }) => text === "Question 299?"));
    bridge.report(call.id, "pi", { status: "success", result: "done" });
    await turn;
  }, 20_000);

  test("twenty of a device are open at once", async () => {
    const bridge = await pi(() => undefined);
    const turns = Array.from({ length: 2 }, () =>
      say(
        crypto.randomUUID(),
        script(
          {
            calls: [1, 2, 3, 4].map((n) => ({
              arguments: { agent_id: "pi", action: "siren", params: { n } },
            })),
          },
          { text: "x" },
        ),
      ),
    );
    await until(() => bridge.calls().length === 8);
    for (const { id } of bridge.calls()) for (let n = 0; n < 3; n += 1) question(bridge, id, n);
    await until(() => refusals(bridge).length === 4, { what: "4 refusals" });
    expect(refusals(bridge)[0]?.answer).toContain("20 questions of this device");
    expect(await openQuestions()).toHaveLength(20);
    for (const { id } of bridge.calls()) bridge.report(id, "pi", { status: "success", result: "done" });
    await Promise.all(turns);
  }, 20_000);
});
