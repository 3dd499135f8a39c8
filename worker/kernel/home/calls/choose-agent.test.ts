/**
 * Calls that name no agent. What decides everything: a call that may have run never goes to another agent. So the first table
 * feeds everything that the wire may answer, and nobody but the chosen agent gets anything.
 */
import { reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { REFUSALS, type Refusal } from "@edgecall/core/protocol/frames.ts";
import { ERROR_TYPES } from "@edgecall/core/tools/errors.ts";
import { afterEach, describe, expect, test } from "vitest";
import { post } from "../../../../test/keyed-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { rowsOf, stop } from "../../../../test/stopping.ts";
import { cancel, leave, on, results } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, type CallFrame, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";

const WITHIN_MS = 20_000;
const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "watch", "job", "route"];
const TOOLS = [CPU, SIREN];
/** All alike, so the first is chosen. */
const ALIKE = ["a1", "a2", "a3", "a4"].map((id) => agent(id, { features: FEATURES, tools: TOOLS }));
const done = { status: "success", tool: "siren", result: "it sounds" };
const busy = {
  status: "error",
  error: "Error: This agent is busy with 64 commands. Nothing was run.",
  error_type: "execution_failed",
};

// Each test has its own home.
afterEach(reset);

type Out = { id: string; waiting: ReturnType<typeof say>; call: string; frame: CallFrame };

/** A turn whose call for any agent is with the bridge. */
async function callOut(
  bridge: TestBridge,
  what: Parameters<typeof on>[1] = { action: "siren" },
): Promise<Out> {
  const id = crypto.randomUUID();
  const waiting = say(id, script({ calls: [on("any", what)] }, results));
  const frame = await until(() => bridge.calls()[0], { what: "the call" });
  return { id, waiting, call: frame.id, frame };
}

/** The agents that were sent the call, in order, one for each time. */
function sentTo(call: string, ...bridges: TestBridge[]): string[] {
  return bridges.flatMap((bridge) => bridge.calls().flatMap(({ id, agent }) => (id === call ? [agent] : [])));
}

const rows = () =>
  rowsOf<{ id: string; agent: string; state: string; sends: number; flags: string }>(
    theHome(),
    "SELECT id, agent, state, sends, flags FROM call",
  );

/** Nobody answers until the call's deadline. */
async function silence(): Promise<void> {
  await runInDurableObject(theHome(), (_, { storage }) =>
    storage.sql.exec("UPDATE call SET deadline = 1 WHERE state <> 'settled'"),
  );
  await runDurableObjectAlarm(theHome());
}

async function crash(): Promise<TestBridge> {
  await stop("abort", theHome());
  return await TestBridge.connect(ALIKE);
}

/** @returns the bridge that was sent the call a second time */
async function sentTwice(first: TestBridge, call: string): Promise<TestBridge> {
  await leave(first);
  const bridge = await TestBridge.connect(ALIKE);
  await until(() => sentTo(call, bridge).length > 0, { what: "the call again" });
  return bridge;
}

const refuse = (bridge: TestBridge, id: string, code: Refusal, agent?: string) =>
  bridge.send({ t: "refused", id, code, message: "refused", ...(agent !== undefined && { agent }) });

describe("it may have run, or another agent would get the same answer: nobody else gets it", () => {
  /** Each answers the call of a1. @returns the bridges that there were after the first */
  const ANSWERS: Record<string, (out: Out, bridge: TestBridge) => Promise<unknown>> = {
    ...Object.fromEntries(
      REFUSALS.map((code) => [
        `the bridge refuses what was sent twice: ${code}`,
        async ({ call }: Out, first: TestBridge) => {
          const bridge = await sentTwice(first, call);
          refuse(bridge, call, code, "a1");
          await until(async () => (await rows())[0]?.state === "taken", { what: "it counts as taken" });
          await silence();
          return [bridge];
        },
      ]),
    ),
    ...Object.fromEntries(
      (["expired", "too_large", "broker_offline", "invalid"] as const).map((code) => [
        `the bridge refuses for a reason that is not the agent's: ${code}`,
        async ({ call }: Out, bridge: TestBridge) => refuse(bridge, call, code, "a1"),
      ]),
    ),
    ...Object.fromEntries(
      ERROR_TYPES.map((error_type) => [
        `the agent reports a failure: ${error_type}`,
        async ({ call }: Out, bridge: TestBridge) =>
          bridge.report(call, "a1", {
            ...busy,
            error_type,
            ...(error_type === "offline" && { code: "expired" }),
          }),
      ]),
    ),
    "the agent reports a success with not_run": async ({ call }, bridge) =>
      bridge.report(call, "a1", { ...done, not_run: true }),
    "the agent says not_run in another form": async ({ call }, bridge) =>
      bridge.report(call, "a1", { ...busy, not_run: "true" }),
    "the agent reports not_run beside a job": async ({ call }, bridge) =>
      bridge.report(call, "a1", { ...busy, not_run: true, jobs: [{ job: "job-12345678" }] }),
    "the agent reports not_run of what was sent twice": async ({ call }, first) => {
      const bridge = await sentTwice(first, call);
      bridge.report(call, "a1", { ...busy, not_run: true });
      return [bridge];
    },
    "another agent reports not_run": async ({ call }, bridge) => {
      bridge.report(call, "a2", { ...busy, not_run: true });
      bridge.report(call, "a1", done);
    },
    "a report that cannot be read": async ({ call }, bridge) =>
      bridge.send({ t: "report", id: call, agent: "a1", payload: "{" }),
    "taken, then silence": async ({ call }, bridge) => {
      bridge.send({ t: "taken", id: call });
      await silence();
    },
    "not taken, then silence": async () => await silence(),
    "a sign of life, then silence": async ({ call }, bridge) => {
      const event = { type: "accepted", request_id: call };
      bridge.send({ t: "event", id: call, agent: "a1", payload: JSON.stringify(event) });
      await silence();
    },
    "the line ends, then silence": async (_, bridge) => {
      await leave(bridge);
      await silence();
    },
    "the agent goes offline, then silence": async (_, bridge) => {
      bridge.send({ t: "agent", agent: agent("a1", { online: false, features: FEATURES, tools: TOOLS }) });
      await silence();
    },
    "a new run of the agent gets it again, and reports": async ({ call }, bridge) => {
      bridge.send({ t: "agent", agent: agent("a1", { online: false, features: FEATURES, tools: TOOLS }) });
      bridge.send({ t: "agent", agent: agent("a1", { features: FEATURES, tools: TOOLS }) });
      await until(() => sentTo(call, bridge).length > 1, { what: "the call again" });
      bridge.report(call, "a1", done);
    },
    "Home is lost, then silence": async () => {
      const bridge = await crash();
      await until(() => bridge.calls().length > 0, { what: "the call again" });
      await silence();
      return [bridge];
    },
    "Home is lost, and the bridge refuses": async ({ call }) => {
      const bridge = await crash();
      await until(() => bridge.calls().length > 0, { what: "the call again" });
      refuse(bridge, call, "agent_offline", "a1");
      await until(async () => (await rows())[0]?.state === "taken", { what: "it counts as taken" });
      await silence();
      return [bridge];
    },
    "a question without an answer, then silence": async ({ call }, bridge) => {
      const event = {
        type: "question",
        request_id: call,
        question_id: "q",
        text: "Now?",
        expires_in_ms: 60_000,
      };
      bridge.send({ t: "event", id: call, agent: "a1", payload: JSON.stringify(event) });
      await until(async () => (await rowsOf(theHome(), "SELECT id FROM question")).length > 0, {
        what: "the question",
      });
      bridge.report(call, "a1", { ...busy, error_type: "timeout" });
    },
    "the turn is cancelled": async ({ id }) => void (await cancel(id)),
  };

  test.each(Object.entries(ANSWERS))(
    "%s",
    async (_, answer) => {
      const bridge = await TestBridge.connect(ALIKE);
      bridge.takes = false;
      const out = await callOut(bridge);
      expect(await rows()).toMatchObject([{ id: out.call, agent: "a1", sends: 1 }]);
      const others = ((await answer(out, bridge)) ?? []) as TestBridge[];
      await out.waiting;
      const isOver = async () =>
        (await rows()).some(({ id, state }) => id === out.call && state === "settled");
      await until(isOver, { what: "it is over" });
      // Another bridge, and what is still open would be sent over it.
      const last = await TestBridge.connect(ALIKE);
      const all = [bridge, ...others, last].flatMap((one) => one.calls());
      expect(new Set(all.map((frame) => `${frame.agent} ${frame.id}`))).toEqual(new Set([`a1 ${out.call}`]));
      expect((await rows()).filter(({ id }) => id === out.call)).toMatchObject([{ agent: "a1" }]);
    },
    WITHIN_MS,
  );

  test(
    "the agent's key is revoked",
    async () => {
      const ann = await SignedAgent.make("a0");
      await post("/v1/agents/a0/key", { public_key: ann.publicKey, name: "Ann" });
      const bridge = await TestBridge.dial();
      await bridge.hello();
      bridge.isThere = () => false;
      await bridge.snapshot([await ann.state({ tools: TOOLS, features: FEATURES }), ...ALIKE]);
      const id = crypto.randomUUID();
      const waiting = say(id, script({ calls: [on("any", { action: "siren" })] }, results));
      const ping = await until(
        () => bridge.received.find((frame) => frame.t === "publish" && frame.agent === "a0"),
        {
          what: "the ping",
        },
      );
      const { request_id } = JSON.parse((ping as { payload: string }).payload) as { request_id: string };
      bridge.send({
        t: "report",
        id: request_id,
        agent: "a0",
        payload: await ann.report(request_id, { pong: true }),
      });
      const frame = await until(() => bridge.calls()[0], { what: "the call" });
      expect(frame.agent).toBe("a0");
      await ask("/v1/agents/a0/key", { method: "DELETE" });
      refuse(bridge, frame.id, "agent_offline", "a1");
      const payload = await ann.report(frame.id, { ...busy, not_run: true });
      bridge.send({ t: "report", id: frame.id, agent: "a0", payload });
      await silence();
      await waiting;
      expect(bridge.calls().map((call) => call.agent)).toEqual(["a0"]);
    },
    WITHIN_MS,
  );
});

describe("it has certainly not run: the next one gets it", () => {
  /** Each makes Home give a1 up. */
  const PROOFS: Array<[string, RegExp, (out: Out, bridge: TestBridge) => void]> = [
    [
      "the bridge knows a1 as offline",
      /a1, which was not online/,
      ({ call }, bridge) => refuse(bridge, call, "agent_offline", "a1"),
    ],
    [
      "an older bridge says so",
      /a1, which was not online/,
      ({ call }, bridge) => refuse(bridge, call, "agent_offline"),
    ],
    [
      "nobody listens",
      /a1, which did not listen/,
      ({ call }, bridge) => refuse(bridge, call, "not_listening", "a1"),
    ],
    ["a1 is busy", /a1, which was busy/, ({ call }, bridge) => refuse(bridge, call, "agent_busy", "a1")],
    [
      "a1 says so itself",
      /a1, which did not begin/,
      ({ call }, bridge) => bridge.report(call, "a1", { ...busy, not_run: true }),
    ],
    [
      "a1 says so itself after the broker took it",
      /a1, which did not begin/,
      ({ call }, bridge) => {
        bridge.send({ t: "taken", id: call });
        bridge.report(call, "a1", { ...busy, not_run: true });
      },
    ],
  ];

  test.each(PROOFS)(
    "%s",
    async (_, why, prove) => {
      const bridge = await TestBridge.connect(ALIKE);
      bridge.takes = false;
      const out = await callOut(bridge);
      prove(out, bridge);
      await until(() => sentTo(out.call, bridge).length > 1, { what: "the call at the next agent" });
      expect(sentTo(out.call, bridge)).toEqual(["a1", "a2"]);
      expect(await rows()).toMatchObject([{ id: out.call, agent: "a2", sends: 1 }]);
      bridge.report(out.call, "a2", done);
      const { body } = await out.waiting;
      expect(body.calls).toMatchObject([{ status: "success", agent: "a2" }]);
      expect(body.answer).toMatch(/^\[a2 was chosen of 3: online, has 'siren', no open call/);
      expect(body.answer).toMatch(why);
    },
    WITHIN_MS,
  );

  test(
    "it never left Home, and time is left",
    async () => {
      const bridge = await TestBridge.connect(ALIKE);
      bridge.takes = false;
      const { call, waiting } = await callOut(bridge, { query: "look" });
      await runInDurableObject(theHome(), (_, { storage }) =>
        storage.sql.exec("UPDATE call SET state = 'waiting', sends = 0"),
      );
      await silence();
      await until(() => sentTo(call, bridge).length > 1, { what: "the call at the next agent" });
      expect(sentTo(call, bridge)).toEqual(["a1", "a2"]);
      bridge.report(call, "a2", { status: "success", content: "seen" });
      expect((await waiting).body.answer).toContain("seen");
    },
    WITHIN_MS,
  );

  test(
    "three agents at most, and then it is said",
    async () => {
      const bridge = await TestBridge.connect(ALIKE);
      const { call, waiting } = await callOut(bridge);
      for (const [at, id] of ["a1", "a2", "a3"].entries()) {
        await until(() => sentTo(call, bridge).length > at, { what: `${id} has it` });
        bridge.report(call, id, { ...busy, not_run: true });
      }
      expect((await waiting).body.calls).toMatchObject([{ status: "error", agent: "a3" }]);
      expect(sentTo(call, bridge)).toEqual(["a1", "a2", "a3"]);
    },
    WITHIN_MS,
  );

  test(
    "from then on what the one before says is nothing, and so is a refusal of it",
    async () => {
      const bridge = await TestBridge.connect(ALIKE);
      const { call, waiting } = await callOut(bridge);
      bridge.report(call, "a1", { ...busy, not_run: true });
      await until(() => sentTo(call, bridge).length > 1, { what: "the call at the next agent" });
      bridge.report(call, "a1", { ...done, result: "of a1" });
      bridge.report(call, "a1", { ...busy, not_run: true });
      refuse(bridge, call, "agent_offline", "a1");
      // It does not say of whom, and a2 may have it.
      refuse(bridge, call, "agent_offline");
      await until(() => bridge.acks().filter((id) => id === call).length > 2, { what: "the acks" });
      bridge.report(call, "a2", { ...done, result: "of a2" });
      expect((await waiting).body.answer).toMatch(/\nof a2$/);
      bridge.report(call, "a1", { ...done, result: "late, of a1" });
      await until(() => bridge.acks().filter((id) => id === call).length > 4, { what: "the acks" });
      expect(sentTo(call, bridge)).toEqual(["a1", "a2"]);
      expect(await rows()).toMatchObject([{ agent: "a2", state: "settled" }]);
    },
    WITHIN_MS,
  );

  test.each([
    ["a refusal", (bridge: TestBridge, call: string) => refuse(bridge, call, "agent_offline", "a2")],
    ["silence", async () => await silence()],
  ])(
    "Home is lost after the second agent got it: %s after that ends it, unknown",
    async (_, then) => {
      const first = await TestBridge.connect(ALIKE);
      const { call, waiting } = await callOut(first);
      first.report(call, "a1", { ...busy, not_run: true });
      await until(() => sentTo(call, first).length > 1, { what: "the call at the next agent" });
      const bridge = await crash();
      await until(() => bridge.calls().length > 0, { what: "the call again" });
      await then(bridge, call);
      await silence();
      expect((await waiting).body.calls).toMatchObject([{ error_type: "outcome_unknown", agent: "a2" }]);
      expect(sentTo(call, first, bridge)).toEqual(["a1", "a2", "a2"]);
    },
    WITHIN_MS,
  );
});
