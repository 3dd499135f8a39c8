/** An agent asks for another one in the middle of its own call, and Home is stopped at each point of that. */
import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { post } from "../../../../test/keyed-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { hold, rowsOf, stop } from "../../../../test/stopping.ts";
import { answerQuestion, cancel, expectTurns, on, questionOf, turnsOf } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, type CallFrame, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";
import { conversationOf } from "../../api/stubs.ts";
import { GatewayKey } from "../agents/gateway-key.ts";

const WITHIN_MS = 20_000;
const FEATURES = ["tool", "prompt", "cancel", "ack", "acks", "question", "watch", "job", "route"];
const PARTS = [...FEATURES, "gateway", "call"];

type Command = { command: string; payload: Record<string, unknown>; tainted?: boolean; caller?: unknown };
type Called = {
  call_id: string;
  outcome: { status: string; text: string; error_type?: string; agent?: string; job?: string };
};

let ann: SignedAgent;
let bridge: TestBridge;

beforeEach(async () => {
  ann = await SignedAgent.make("ann");
  await post("/v1/agents/ann/key", { public_key: ann.publicKey, name: "Ann" });
  bridge = await connect();
});
// Each test has its own home.
afterEach(reset);

/** @param more agents beside ann and those without a key */
async function connect(...more: ReturnType<typeof agent>[]): Promise<TestBridge> {
  const next = await TestBridge.dial();
  await next.hello(["call", "acks"]);
  const tools = [CPU, SIREN];
  const others = [
    agent("pi", { features: PARTS, tools }),
    agent("mute", { features: ["tool", "prompt", "cancel", "ack"], tools }),
    agent("gone", { online: false, features: FEATURES, tools: [{ ...SIREN, queue_ms: 3_600_000 }] }),
  ];
  await next.snapshot([await ann.state({ tools: [CPU], features: PARTS }), ...others, ...more]);
  return next;
}

const commandOf = (frame: { payload: string }) => JSON.parse(frame.payload) as Command;

/** A turn that asks ann in words. @returns ann's call */
async function annIsAsked(id: string): Promise<{ waiting: ReturnType<typeof say>; call: string }> {
  const before = bridge.calls().length;
  const text = script({ calls: [on("ann", { query: "look" })] }, { text: "$results" });
  const waiting = say(id, text);
  const frame = await until(() => bridge.calls()[before], { what: "ann's call" });
  return { waiting, call: frame.id };
}

/** ann's event, as its tool sends it. */
async function annAsks(call: string, args: Record<string, unknown>, callId: string = crypto.randomUUID()) {
  const event = { type: "call", request_id: call, call_id: callId, name: "edge_call", args };
  bridge.send({ t: "event", id: call, agent: "ann", payload: await ann.say("events", event) });
  return callId;
}

async function annReports(call: string, content: string): Promise<void> {
  const payload = await ann.report(call, { status: "success", content });
  bridge.send({ t: "report", id: call, agent: "ann", payload });
}

function noticesTo(to: string, command: string): Command[] {
  return bridge.received.flatMap((frame) => {
    if (frame.t !== "publish" || frame.agent !== to) return [];
    const notice = commandOf(frame);
    return notice.command === command ? [notice] : [];
  });
}

const calledOf = (callId: string): Called[] =>
  noticesTo("ann", "called").flatMap(({ payload }) =>
    payload.call_id === callId ? [payload as unknown as Called] : [],
  );

const outcomeOf = (callId: string) =>
  until(() => calledOf(callId)[0]?.outcome, { what: "the notice", within: 10_000 });

const callOf = (id: string): Promise<CallFrame> =>
  until(() => bridge.calls().find((frame) => frame.id === id), { what: "the other agent's call" });

const rows = () =>
  rowsOf<{ id: string; state: string; asker: string | null }>(
    theHome(),
    "SELECT id, state, asker FROM call ORDER BY n",
  );

const timesOf = async (id: string) =>
  (
    await rowsOf<{ deadline: number; ends_at: number; flags: string }>(
      theHome(),
      `SELECT deadline, ends_at, flags FROM call WHERE id = '${id}'`,
    )
  )[0];

const cpu = { agent_id: "pi", action: "cpu" };

test(
  "the other agent gets a tainted call of the same person, and its outcome reaches the one that asked",
  async () => {
    const id = crypto.randomUUID();
    const { waiting, call } = await annIsAsked(id);
    const child = await annAsks(call, cpu);
    const frame = await callOf(child);
    expect(frame.agent).toBe("pi");
    const conversation = commandOf(bridge.calls()[0] ?? frame).caller;
    expect(commandOf(frame)).toMatchObject({
      command: "tool",
      payload: { tool: "cpu" },
      tainted: true,
      caller: { ...(conversation as object), chain: { id: call, via: ["ann"] } },
    });
    // Always a row, and so has the one that waits.
    expect((await rows()).map(({ id: row, asker }) => [row, asker && JSON.parse(asker)])).toEqual([
      [call, null],
      [child, { by: "agent", agent: "ann", call }],
    ]);
    bridge.report(child, "pi", { status: "success", result: "12 %" });
    expect(await outcomeOf(child)).toMatchObject({ status: "success", text: "12 %", agent: "pi" });
    await annReports(call, "pi says 12 %");
    expect((await waiting).body).toMatchObject({ status: "done", answer: "pi says 12 %" });
    await expectTurns(id, [{ answer: "pi says 12 %", calls: [{ status: "success", agent: "ann" }] }]);
  },
  WITHIN_MS,
);

test(
  "L15: it learns of an answer for which the other agent's model called no tool",
  async () => {
    const { call } = await annIsAsked(crypto.randomUUID());
    const child = await annAsks(call, { agent_id: "pi", query: "clean up" });
    await callOf(child);
    bridge.report(child, "pi", { status: "success", content: "Done!", asked: false });
    expect(await outcomeOf(child)).toMatchObject({ status: "success", text: "Done!", asked: false });
  },
  WITHIN_MS,
);

test(
  "it may ask any other agent, and learns which one that was: never one that is in the chain",
  async () => {
    const { call } = await annIsAsked(crypto.randomUUID());
    const child = await annAsks(call, { agent_id: "any", action: "siren" });
    const frame = await callOf(child);
    // Mute has the siren too, and cannot ask the person.
    expect(frame.agent).toBe("pi");
    bridge.report(child, "pi", { status: "success", result: "it sounds" });
    expect(await outcomeOf(child)).toMatchObject({
      text: "it sounds",
      agent: "pi",
      routed: { agent: "pi", why: "chosen of 2: online, has 'siren', no open call" },
    });
  },
  WITHIN_MS,
);

test(
  "the event repeated sends nothing twice, and brings the outcome again",
  async () => {
    const { call } = await annIsAsked(crypto.randomUUID());
    const child = await annAsks(call, cpu);
    await callOf(child);
    await annAsks(call, cpu, child);
    bridge.report(child, "pi", { status: "success", result: "12 %" });
    await outcomeOf(child);
    await annAsks(call, cpu, child);
    await until(() => calledOf(child).length === 2, { what: "the outcome again" });
    expect(bridge.calls().filter((frame) => frame.id === child)).toHaveLength(1);
  },
  WITHIN_MS,
);

describe("refused in words, and nothing is sent", () => {
  test.each([
    ["itself", { agent_id: "ann", action: "cpu" }, /in this chain of calls already \(ann → ann\)/],
    ["an agent that is not there", { agent_id: "nobody", action: "cpu" }, /'nobody' not found/],
    [
      "one that is offline, although its action could wait",
      { agent_id: "gone", action: "siren" },
      /is not online/,
    ],
    ["arguments that are none", { agent: "pi" }, /agent_id/],
    ["too many of them", { ...cpu, params: { text: "x".repeat(50_000) } }, /larger than 48 KiB/],
  ])("%s", async (_, args, words) => {
    const { call } = await annIsAsked(crypto.randomUUID());
    const child = await annAsks(call, args);
    expect(await outcomeOf(child)).toMatchObject({ status: "error", text: expect.stringMatching(words) });
    expect(bridge.calls()).toHaveLength(1);
  });

  test("a call that has ended", async () => {
    const id = crypto.randomUUID();
    const { waiting, call } = await annIsAsked(id);
    const first = await annAsks(call, cpu);
    bridge.report((await callOf(first)).id, "pi", { status: "success", result: "12 %" });
    await outcomeOf(first);
    await annReports(call, "done");
    await waiting;
    const late = await annAsks(call, cpu);
    expect((await outcomeOf(late)).text).toContain("has ended. Nothing was run.");
  });

  test("the id of a call that somebody else asked for", async () => {
    const { call } = await annIsAsked(crypto.randomUUID());
    const foreign = await annAsks(call, cpu, call);
    expect((await outcomeOf(foreign)).text).toContain("That id is in use. Nothing was run.");
  });

  test("the call of another agent, and an agent without a key", async () => {
    const id = crypto.randomUUID();
    const before = bridge.calls().length;
    void say(id, script({ calls: [on("pi", { query: "look" })] }, { text: "$results" }));
    const frame = await until(() => bridge.calls()[before], { what: "pi's call" });
    await annAsks(frame.id, cpu);
    const callId = crypto.randomUUID();
    const event = { type: "call", request_id: frame.id, call_id: callId, name: "edge_call", args: cpu };
    bridge.send({ t: "event", id: frame.id, agent: "pi", payload: JSON.stringify(event) });
    const notice = await until(() => noticesTo("pi", "called")[0], { what: "the refusal" });
    expect(notice.payload).toMatchObject({
      call_id: callId,
      outcome: { error_type: "permission_denied", text: expect.stringContaining("no key on record") },
    });
    expect(bridge.calls()).toHaveLength(before + 1);
    expect(noticesTo("ann", "called")).toEqual([]);
  });

  test.each([
    [
      "a fourth step",
      'caller = json_set(caller, \'$.chain\', json(\'{"id":"c","via":["x","y","z"]}\'))',
      "This chain of calls has 3 steps already (x → y → z → ann), which is the most. Nothing was run.",
    ],
    [
      "the twenty-first of a call",
      "flags = json_set(flags, '$.delegates', 20)",
      "This call has called other agents 20 times, which is the most. Nothing was run.",
    ],
    ["one of a job", "command = 'job'", "A job cannot call other agents. Nothing was run."],
    [
      "one of an action",
      "command = 'tool'",
      "Only an agent that was asked in words can call other agents. Nothing was run.",
    ],
  ])("%s, by Home's own row", async (_, change, words) => {
    const { call } = await annIsAsked(crypto.randomUUID());
    // With it, the call has a row.
    await callOf(await annAsks(call, cpu));
    await runInDurableObject(theHome(), (_home, { storage }) => {
      storage.sql.exec(`UPDATE call SET ${change} WHERE id = ?`, call);
    });
    const refused = await annAsks(call, cpu);
    expect((await outcomeOf(refused)).text).toBe(`Error: ${words}`);
    expect(bridge.calls()).toHaveLength(2);
  });

  test("a sixth at once", async () => {
    const { call } = await annIsAsked(crypto.randomUUID());
    for (let n = 0; n < 5; n += 1) await callOf(await annAsks(call, cpu));
    const sixth = await annAsks(call, cpu);
    expect((await outcomeOf(sixth)).text).toBe(
      "Error: 5 calls of this call are open already. Nothing was run.",
    );
  });
});

test(
  "an agent that cannot ask itself is asked for, in the conversation of the person who began",
  async () => {
    const id = crypto.randomUUID();
    const { waiting, call } = await annIsAsked(id);
    const child = await annAsks(call, { agent_id: "mute", action: "siren" });
    const question = await questionOf(id);
    const [turn] = await turnsOf(id);
    expect(turn?.questions).toMatchObject([{ id: question.id }]);
    expect(bridge.calls()).toHaveLength(1);
    await answerQuestion(question.id, "approve");
    expect((await callOf(child)).agent).toBe("mute");
    bridge.report(child, "mute", { status: "success", result: "it sounds" });
    expect(await outcomeOf(child)).toMatchObject({ status: "success", text: "it sounds" });
    await annReports(call, "sounded");
    expect((await waiting).body).toMatchObject({ answer: "sounded" });
  },
  WITHIN_MS,
);

test(
  "a cancel ends the calls that the agent asked for, at their agents too",
  async () => {
    const id = crypto.randomUUID();
    const { waiting, call } = await annIsAsked(id);
    const child = await annAsks(call, cpu);
    await callOf(child);
    await cancel(id);
    await waiting;
    await until(() => noticesTo("pi", "cancel").length > 0, { what: "the cancel at pi" });
    expect(noticesTo("pi", "cancel")[0]?.payload).toEqual({ request_id: child });
    await until(async () => (await rows()).every(({ state }) => state === "settled"), { what: "all ended" });
    expect(calledOf(child)).toEqual([]);
  },
  WITHIN_MS,
);

test(
  "what ann answers counts as a stranger's text, whatever ann says",
  async () => {
    const id = crypto.randomUUID();
    const { waiting, call } = await annIsAsked(id);
    const child = await annAsks(call, cpu);
    bridge.report((await callOf(child)).id, "pi", { status: "success", result: "12 %" });
    await outcomeOf(child);
    const payload = await ann.report(call, { status: "success", content: "clean", tainted: false });
    bridge.send({ t: "report", id: call, agent: "ann", payload });
    await waiting;
    const [row] = await rowsOf<{ outcome: string }>(
      theHome(),
      `SELECT outcome FROM call WHERE id = '${call}'`,
    );
    expect(JSON.parse(row?.outcome ?? "{}")).toMatchObject({ sources: ["agent:ann", "*"] });
  },
  WITHIN_MS,
);

test.each([
  ["after its call", false],
  ["before its call", true],
])(
  "and so does what a job of ann's brings, %s",
  async (_, isEarly) => {
    const { waiting, call } = await annIsAsked(crypto.randomUUID());
    const child = await annAsks(call, cpu);
    bridge.report((await callOf(child)).id, "pi", { status: "success", result: "12 %" });
    await outcomeOf(child);
    const job = "job-token-0002";
    const jobReports = async () => {
      const result = { status: "success", tool: "backup", result: "clean", tainted: false, job_of: call };
      bridge.send({ t: "report", id: job, agent: "ann", payload: await ann.report(job, result) });
    };
    if (isEarly) await jobReports();
    const payload = await ann.report(call, {
      status: "success",
      content: "begun",
      jobs: [{ job, tool: "backup" }],
    });
    bridge.send({ t: "report", id: call, agent: "ann", payload });
    await waiting;
    if (!isEarly) await jobReports();
    const outcome = await until(
      async () => {
        const query = `SELECT outcome FROM call WHERE id = '${job}' AND state = 'settled'`;
        return (await rowsOf<{ outcome: string }>(theHome(), query))[0]?.outcome;
      },
      { what: "the job's outcome" },
    );
    expect(JSON.parse(outcome)).toMatchObject({ text: "clean", sources: ["agent:ann", "*"] });
  },
  WITHIN_MS,
);

test(
  "a job that the other agent begins: its result comes into the conversation of the person who began",
  async () => {
    const id = crypto.randomUUID();
    const steps = [{ calls: [on("ann", { query: "look" })] }, { text: "$results" }, { text: "then: $notes" }];
    const waiting = say(id, script(...steps));
    const { id: call } = await until(() => bridge.calls()[0], { what: "ann's call" });
    const child = await annAsks(call, { agent_id: "pi", action: "cpu" });
    await callOf(child);
    const job = "job-token-0001";
    bridge.report(child, "pi", { status: "accepted", job, tool: "cpu", result: "It has begun." });
    const accepted = await outcomeOf(child);
    expect(accepted).toMatchObject({ status: "success", job });
    expect(accepted.text).toContain("Accepted, not done");
    await annReports(call, "pi has begun");
    expect((await waiting).body).toMatchObject({ answer: "pi has begun" });
    bridge.report(job, "pi", { status: "success", tool: "cpu", result: "12 GB saved" });
    const answer = () =>
      until(async () => {
        const ended = (await turnsOf(id)).filter(({ status }) => status === "done");
        return ended.find((one) => one.answer.includes("12 GB saved"))?.answer;
      });
    expect(await answer()).toMatch(/^then: /);
    // ann asked for the call, not for the job.
    expect(calledOf(child)).toHaveLength(1);
    expect((await rows()).filter(({ state }) => state !== "settled")).toEqual([]);
  },
  WITHIN_MS,
);

test.each([
  [
    "only reads",
    { readsOnly: true },
    { agent_id: "pi", action: "siren" },
    "only actions that read are allowed",
  ],
  ["only these agents", { agents: ["ann"] }, cpu, "'pi' is not in reach of this caller"],
])("the limits of the person who began hold: %s", async (_, limits, args, words) => {
  const id = crypto.randomUUID();
  const text = script({ calls: [on("ann", { query: "look" })] }, { text: "$results" });
  const origin = { principal: "anna", role: "guest" as const, channel: "api", limits };
  const turn = { id: crypto.randomUUID(), idempotency: undefined, text, images: [], origin };
  await conversationOf(env, `a/api/${id}`).start(turn, "any");
  const { id: call } = await until(() => bridge.calls()[0], { what: "ann's call" });
  const outcome = await outcomeOf(await annAsks(call, args));
  expect(outcome).toMatchObject({ error_type: "permission_denied", text: expect.stringContaining(words) });
  expect(bridge.calls()).toHaveLength(1);
});

test("its own call waits as long as the other one may take, and goes on when that has ended", async () => {
  const { call } = await annIsAsked(crypto.randomUUID());
  const child = await annAsks(call, { agent_id: "mute", query: "look" });
  // Home asks a person first, which takes ten minutes at most.
  await until(async () => (await timesOf(child)) !== undefined, { what: "the row" });
  await until(async () => (await timesOf(call))?.flags.includes("delegates"), { what: "the parent waits" });
  const [parent, asked] = await until(
    async () => {
      const both = [await timesOf(call), await timesOf(child)] as const;
      return both[0] && both[1] && both[0].deadline >= both[1].ends_at ? both : undefined;
    },
    { what: "the parent waits for its child" },
  );
  expect(parent?.ends_at).toBeGreaterThan(asked?.ends_at ?? 0);
  const questions = (await (await ask("/v1/questions")).json()) as { questions: Array<{ id: string }> };
  await answerQuestion(questions.questions[0]?.id ?? "", "deny");
  await outcomeOf(child);
  const after = await timesOf(call);
  expect(after?.deadline).toBeLessThan(Date.now() + 61_000);
  // The time that it had left when it asked.
  expect(after?.ends_at).toBeGreaterThan(Date.now() + 13 * 60_000);
});

test("an agent hears that it may ask only while its bridge passes the event", async () => {
  const greetings = () => noticesTo("ann", "gateway").map(({ payload }) => payload.features);
  await until(() => greetings().length > 0, { what: "the greeting" });
  expect(greetings()).toEqual([["call"]]);
  bridge.close();
  bridge = await TestBridge.dial();
  await bridge.hello(["acks"]);
  await bridge.snapshot([await ann.state({ tools: [CPU], features: PARTS })]);
  await until(() => greetings().length > 0, { what: "another greeting" });
  expect(greetings()).toEqual([undefined]);
});

describe("Home is stopped", () => {
  test.each([
    ["with the call at the other agent", false],
    ["with its outcome on the way to the one that asked", true],
  ])(
    "%s: it ran once, and the outcome comes",
    async (_, hasAnswered) => {
      const id = crypto.randomUUID();
      const { waiting, call } = await annIsAsked(id);
      const child = await annAsks(call, cpu);
      await callOf(child);
      if (hasAnswered) {
        bridge.report(child, "pi", { status: "success", result: "12 %" });
        await outcomeOf(child);
      }
      await stop("abort", theHome());
      bridge = await connect();
      await annAsks(call, cpu, child);
      if (!hasAnswered) {
        // Sent again under its id: the agent's ledger recognises it.
        await callOf(child);
        bridge.report(child, "pi", { status: "success", result: "12 %" });
      }
      expect(await outcomeOf(child)).toMatchObject({ status: "success", text: "12 %" });
      await annReports(call, "pi says 12 %");
      expect((await waiting).body).toMatchObject({ answer: "pi says 12 %" });
    },
    WITHIN_MS,
  );

  test(
    "with the row of the other agent's call stored, and nothing sent: it is sent then, once",
    async () => {
      const bob = await SignedAgent.make("bob");
      await post("/v1/agents/bob/key", { public_key: bob.publicKey, name: "Bob" });
      const state = await bob.state({ tools: [CPU], features: PARTS });
      bridge.close();
      bridge = await connect(state);
      const id = crypto.randomUUID();
      const { waiting, call } = await annIsAsked(id);
      // Its command is signed after its row is stored.
      const signing = hold(GatewayKey, "sign");
      const child = await annAsks(call, { agent_id: "bob", action: "cpu" });
      await until(async () => (await rows()).some((row) => row.id === child), { what: "the row" });
      await signing.reached();
      const sent = bridge.calls();
      await stop("abort", theHome(), signing.release);
      expect(sent.map((frame) => frame.id)).toEqual([call]);
      bridge = await connect(await bob.state({ tools: [CPU], features: PARTS }));
      expect((await callOf(child)).agent).toBe("bob");
      await annAsks(call, { agent_id: "bob", action: "cpu" }, child);
      const payload = await bob.report(child, { status: "success", result: "12 %" });
      bridge.send({ t: "report", id: child, agent: "bob", payload });
      expect(await outcomeOf(child)).toMatchObject({ status: "success", text: "12 %" });
      expect(bridge.calls().filter((frame) => frame.id === child)).toHaveLength(1);
      await annReports(call, "bob says 12 %");
      expect((await waiting).body).toMatchObject({ answer: "bob says 12 %" });
    },
    WITHIN_MS,
  );

  test(
    "when the first call has ended, and the others not yet: they end then",
    async () => {
      const id = crypto.randomUUID();
      const { waiting, call } = await annIsAsked(id);
      const child = await annAsks(call, cpu);
      await callOf(child);
      await annReports(call, "without it");
      await waiting;
      await stop("abort", theHome());
      bridge = await connect();
      await until(async () => (await rows()).every(({ state }) => state === "settled"), {
        what: "all ended",
      });
    },
    WITHIN_MS,
  );
});
