/**
 * Every state of a Home between its bridge, its calls and their results, stopped there: the turn gets one answer, and
 * the call has one result. After a crash a returning bridge gets the open calls again, under the same ids; after an
 * eviction its socket is still open, and nothing is sent again. States that share their code share a row: an action
 * that the agent has accepted is only "taken", because signs of life count only for prompts; a call whose agent went
 * offline meanwhile is "taken" too. Reads (plan, agents, status, questions) wait for nothing.
 */
import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf, stopHomeWhile, theHome } from "../../../test/states.ts";
import { hold, rowsOf, stop as stopObject } from "../../../test/stopping.ts";
import {
  AGENTS,
  answerQuestion,
  expectSounds,
  expectTurns,
  garden,
  gatewayAsks,
  leave,
  on,
  openCalls,
  results,
  sameCallAgain,
  siren,
  sirenOut,
  sounds,
} from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { say, TestBridge } from "../../../test/workerd.ts";
import { Conversation } from "../../conversation.ts";

stopHomeWhile({
  "no bridge is there": async ({ how, id, first }) => {
    await leave(first);
    await stopObject(how, theHome());
    // Knowledge about the agents is stored, and answers at once.
    const { body } = await say(id, script({ calls: [siren] }, results));
    expect(body.answer).toContain("Agent 'pi' is not online (last seen");
    const bridge = await TestBridge.connect(AGENTS);
    bridge.onCall = () => sounds;
    expect((await say(id, script({ calls: [siren] }, results))).body.answer).toBe("it sounds");
    expect(bridge.calls()).toHaveLength(1);
  },

  "a bridge is connected, its hello not there": async ({ how, id, first }) => {
    const { call, waiting } = await sirenOut(id, first);
    await leave(first);
    const dialled = await TestBridge.dial();
    await stopObject(how, theHome());
    const bridge = how === "evict" ? dialled : await redial(dialled);
    await bridge.hello();
    await bridge.snapshot(AGENTS);
    await sameCallAgain(bridge, call);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },

  "a bridge is welcome, what it knows not there": async ({ how, id, first }) => {
    const { call, waiting } = await sirenOut(id, first);
    await leave(first);
    const welcome = await TestBridge.dial();
    await welcome.hello();
    await stopObject(how, theHome());
    const bridge = how === "evict" ? welcome : await redial(welcome);
    if (how === "abort") await bridge.hello();
    expect(bridge.calls()).toEqual([]);
    await bridge.snapshot(AGENTS);
    await sameCallAgain(bridge, call);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },

  // A call is stored and sent in one write, except when it waits: for a bridge that disconnected at this moment …
  "a call is stored, not sent": async ({ how, id, first }) => {
    const { waiting, question } = await gatewayAsks(id, first);
    await leave(first);
    await answerQuestion(question.id, "approve");
    expect(await openCalls()).toMatchObject([{ state: "waiting" }]);
    await stopObject(how, theHome());
    const bridge = await TestBridge.connect(AGENTS);
    const call = await until(() => bridge.calls()[0]);
    bridge.report(call.id, "rust", { status: "success", content: "done" });
    expect((await waiting).body).toMatchObject({ status: "done", answer: "done | done" });
    expect(bridge.calls()).toHaveLength(1);
    await expectTurns(id, [{ answer: "done | done", calls: [{}, {}] }]);
  },

  // … or for its agent.
  "a call is queued until its agent is online": async ({ id, stop }) => {
    const { body } = await say(
      id,
      script(
        { calls: [on("garden", { action: "water" })] },
        { text: "Queued." },
        { text: "In the end: $notes" },
      ),
    );
    const bridge = await stop();
    expect(bridge.calls()).toEqual([]);
    bridge.onCall = () => ({ status: "success", result: "watered" });
    bridge.send({ t: "agent", agent: garden(true) });
    await expectTurns(id, [
      { answer: "Queued.", calls: [{ id: body.calls[0]?.id, result: "watered" }] },
      { answer: /watered/ },
    ]);
    expect(bridge.calls()).toHaveLength(1);
  },

  "a call is sent, the bridge has not said that it has it": async ({ how, id, first, stop }) => {
    first.takes = false;
    const { call, waiting } = await sirenOut(id, first);
    expect(await openCalls()).toMatchObject([{ id: call, state: "sent" }]);
    const bridge = await stop();
    if (how === "abort") await sameCallAgain(bridge, call);
    else expect(bridge.calls()).toHaveLength(1);
    bridge.send({ t: "taken", id: call });
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },

  "the bridge has it, the agent has not accepted it": async ({ how, id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    await until(async () => (await openCalls())[0]?.state === "taken");
    const bridge = await stop();
    if (how === "abort") await sameCallAgain(bridge, call);
    else expect(bridge.calls()).toHaveLength(1);
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
    await until(() => bridge.acks().includes(call), { what: "the report's ack" });
  },

  // A foreign agent remembers nothing, so a call that it may have received is never sent again.
  "a foreign agent has it": async ({ id, first, stop }) => {
    const waiting = say(id, script({ calls: [on("rust", { query: "?" })] }, results));
    const call = await until(() => first.calls()[0]?.id);
    await until(async () => (await openCalls())[0]?.state === "taken");
    const bridge = await stop();
    bridge.report(call, "rust", { status: "success", content: "an answer" });
    expect((await waiting).body).toMatchObject({ status: "done", answer: "an answer" });
    expect(bridge === first ? bridge.calls().length : bridge.calls().length + 1).toBe(1);
    await expectTurns(id, [{ answer: "an answer" }]);
  },

  "an agent that was asked in words has accepted, its result is to come": async ({
    how,
    id,
    first,
    stop,
  }) => {
    const waiting = say(id, script({ calls: [on("pi", { query: "how are you?" })] }, results));
    const call = await until(() => first.calls()[0]?.id);
    // A sign of life is written only if it contains something new.
    await runInDurableObject(theHome(), (_, { storage }) => {
      storage.sql.exec("UPDATE call SET deadline = ?", Date.now() + 5_000);
    });
    const deadline = async () =>
      (await rowsOf<{ deadline: number }>(theHome(), "SELECT deadline FROM call"))[0]?.deadline ?? 0;
    const accepted = JSON.stringify({ type: "accepted", request_id: call });
    first.send({ t: "event", id: call, agent: "pi", payload: accepted });
    await until(async () => (await deadline()) > Date.now() + 30_000);
    const before = await deadline();
    const bridge = await stop();
    if (how === "abort") await sameCallAgain(bridge, call);
    else expect(await deadline()).toBe(before);
    bridge.report(call, "pi", { status: "success", content: "well" });
    expect((await waiting).body).toMatchObject({ status: "done", answer: "well" });
    await expectTurns(id, [{ answer: "well" }]);
  },

  "a result is there, the conversation is being told": async ({ how, id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    const settle = hold(Conversation, "settle", "before");
    first.report(call, "pi", sounds);
    await settle.reached();
    const bridge = await stop(settle.release);
    // Not acknowledged, so the bridge sends it again.
    if (how === "abort") bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
    await until(() => bridge.acks().includes(call), { what: "the report's ack" });
  },

  "the conversation has a result, Home does not know that yet": async ({ how, id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    const settle = hold(Conversation, "settle", "after");
    first.report(call, "pi", sounds);
    await settle.reached();
    const bridge = await stop(settle.release);
    // The first one counts, even if a later one differs.
    if (how === "abort") bridge.report(call, "pi", { ...sounds, result: "it sounds again" });
    await expectSounds(id, waiting);
    await until(() => bridge.acks().includes(call), { what: "the report's ack" });
  },

  "a refusal is written down, the conversation is being told": async ({ id, first, stop }) => {
    await refused(id, first, stop, "before");
  },

  // A call that was reported as not run is not sent to the returning bridge.
  "the conversation has a refusal, Home does not know that yet": async ({ id, first, stop }) => {
    await refused(id, first, stop, "after");
  },

  "the conversation could not take a result, which is kept for it": async ({ id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    const settle = hold(Conversation, "settle", "before");
    first.report(call, "pi", sounds);
    await settle.reached();
    await stopObject("abort", conversationOf(id), settle.release);
    await until(() => first.acks().includes(call), { what: "the report's ack" });
    expect(await undelivered()).toEqual([{ id: call }]);
    await stop();
    await expectSounds(id, waiting);
    await until(async () => (await undelivered()).length === 0, { what: "Home knows that it has it" });
  },
});

async function refused(
  id: string,
  first: TestBridge,
  stop: (release: () => unknown) => Promise<TestBridge>,
  when: "before" | "after",
): Promise<void> {
  first.takes = false;
  const { call, waiting } = await sirenOut(id, first);
  const settle = hold(Conversation, "settle", when);
  first.send({ t: "refused", id: call, code: "broker_offline", message: "the broker is away" });
  await settle.reached();
  const bridge = await stop(settle.release);
  const answer = "Error: Agent 'pi' could not be asked: the broker is away. Nothing was run.";
  expect((await waiting).body.answer).toContain(answer);
  await expectTurns(id, [{ answer: /Nothing was run/, calls: [{ status: "error", error_type: "offline" }] }]);
  await until(async () => (await undelivered()).length === 0, { what: "Home knows that it has it" });
  expect(bridge.calls()).toHaveLength(bridge === first ? 1 : 0);
}

async function redial(bridge: TestBridge): Promise<TestBridge> {
  await until(() => bridge.closed, { what: "the crash closes the bridge's socket" });
  return await TestBridge.dial();
}

async function undelivered() {
  return await rowsOf(theHome(), "SELECT id FROM call WHERE state = 'settled' AND delivered = 0");
}
