/**
 * Every state of a Conversation with open calls or questions, stopped there: the turn gets one answer, and each call
 * goes to the bridge once. States that share their code share a row: an action, a prompt and a foreign agent's call are
 * all a call to the Conversation; one whose question was answered is an open call.
 */
import { runDurableObjectAlarm } from "cloudflare:test";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { expect } from "vitest";
import { modelCalls, releaseModel } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf, stopConversationWhile } from "../../../test/states.ts";
import { alarmOf, hold } from "../../../test/stopping.ts";
import {
  answerEnds,
  answerQuestion,
  deviceAsks,
  expectSounds,
  expectTurns,
  gatewayAsks,
  on,
  openCalls,
  questionOf,
  results,
  siren,
  sirenOut,
  sounds,
  turnsOf,
} from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { say } from "../../../test/workerd.ts";
import { Home } from "../../home.ts";

const cpu = on("pi", { action: "cpu" });
const otherCpu = { arguments: { ...cpu.arguments, params: { core: 1 } } };
const load = { status: "success", tool: "cpu", result: "load 0.5" };

const first = { arguments: { ...siren.arguments, id: "first" } };
const dependent = { arguments: { ...cpu.arguments, params: { heard: { $ref: "/first/result" } } } };

function parametersOf(call: { payload: string } | undefined): unknown {
  return (JSON.parse(call?.payload ?? "{}") as { payload: { parameters: unknown } }).payload.parameters;
}

stopConversationWhile({
  "calls are given to Home, which does not have them yet": async ({ id, bridge, stop }) => {
    bridge.onCall = () => load;
    const submit = hold(Home, "calls.submit", "before");
    const waiting = say(id, script({ calls: [cpu, otherCpu] }, results));
    await submit.reached();
    expect(await openCalls()).toEqual([]);
    await stop(submit.release);
    expect((await waiting).body).toMatchObject({ status: "done", answer: "load 0.5 | load 0.5" });
    expect(bridge.calls()).toHaveLength(2);
    await expectTurns(id, [{ answer: "load 0.5 | load 0.5", calls: [{}, {}] }]);
  },

  "Home has the calls, its reply is not there": async ({ id, bridge, stop }) => {
    const submit = hold(Home, "calls.submit", "after");
    const waiting = say(id, script({ calls: [cpu, siren] }, results));
    await until(() => bridge.calls().length === 2);
    await submit.reached();
    await stop(submit.release);
    for (const { id: call } of bridge.calls()) bridge.report(call, "pi", load);
    expect((await waiting).body).toMatchObject({ status: "done", answer: "load 0.5 | load 0.5" });
    expect(bridge.calls()).toHaveLength(2);
    await expectTurns(id, [{ answer: "load 0.5 | load 0.5", calls: [{}, {}] }]);
  },

  "a call is out": async ({ id, bridge, stop }) => {
    const { waiting, call } = await sirenOut(id, bridge);
    await stop();
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
    expect(bridge.calls()).toHaveLength(1);
  },

  "a call is out, and nobody waits: the alarm brings the turn back": async ({ id, bridge, stop }) => {
    const hangUp = new AbortController();
    const waiting = say(id, script({ calls: [siren] }, results), { signal: hangUp.signal });
    const call = await until(() => bridge.calls()[0]?.id);
    hangUp.abort();
    await waiting.catch(() => undefined);
    await stop();
    // An earlier row proves this with a waiting client; here only the alarm remains.
    expect(await alarmOf(conversationOf(id))).not.toBeNull();
    expect(await runDurableObjectAlarm(conversationOf(id))).toBe(true);
    bridge.report(call, "pi", sounds);
    await expectTurns(id, [{ answer: "it sounds", calls: [{ id: call, status: "success" }] }]);
    expect(bridge.calls()).toHaveLength(1);
  },

  "a batch is half answered": async ({ id, bridge, stop }) => {
    const waiting = say(id, script({ calls: [siren, cpu] }, results));
    const [first, second] = await until(() => bridge.calls().length === 2 && bridge.calls());
    bridge.report(second?.id ?? "", "pi", load);
    await until(async () => (await turnsOf(id))[0]?.calls[1]?.status === "success");
    await stop();
    bridge.report(first?.id ?? "", "pi", sounds);
    expect((await waiting).body).toMatchObject({ status: "done", answer: "it sounds | load 0.5" });
    expect(bridge.calls()).toHaveLength(2);
    await expectTurns(id, [{ answer: "it sounds | load 0.5", calls: [{}, {}] }]);
  },

  "a sixth call waits until one of five is answered": async ({ id, bridge, stop }) => {
    const waiting = say(
      id,
      script(
        {
          calls: Array.from({ length: 6 }, (_, level) => ({
            arguments: { ...siren.arguments, params: { level } },
          })),
        },
        results,
      ),
    );
    await until(() => bridge.calls().length === 5);
    await stop();
    expect(bridge.calls()).toHaveLength(5);
    bridge.onCall = () => sounds;
    for (const { id: call } of bridge.calls()) bridge.report(call, "pi", sounds);
    const answer = Array.from({ length: 6 }, () => "it sounds").join(" | ");
    expect((await waiting).body).toMatchObject({ status: "done", answer });
    expect(new Set(bridge.calls().map((call) => call.id)).size).toBe(6);
    expect(bridge.calls()).toHaveLength(6);
  },

  "a call waits for the result of another": async ({ id, bridge, stop }) => {
    const waiting = say(id, script({ calls: [dependent, first] }, results));
    const [call] = await until(() => bridge.calls().length === 1 && bridge.calls());
    await stop();
    bridge.onCall = () => load;
    bridge.report(call?.id ?? "", "pi", sounds);
    expect((await waiting).body).toMatchObject({ status: "done", answer: "load 0.5 | it sounds" });
    expect(bridge.calls()).toHaveLength(2);
    expect(parametersOf(bridge.calls()[1])).toEqual({ heard: "it sounds" });
    await expectTurns(id, [
      { answer: "load 0.5 | it sounds", calls: [{ args: { params: { heard: "it sounds" } } }, {}] },
    ]);
  },

  "Home has a call that waited for another, its reply is not there": async ({ id, bridge, stop }) => {
    const waiting = say(id, script({ calls: [dependent, first] }, results));
    const [call] = await until(() => bridge.calls().length === 1 && bridge.calls());
    const submit = hold(Home, "calls.submit", "after");
    bridge.report(call?.id ?? "", "pi", sounds);
    const [, second] = await until(() => bridge.calls().length === 2 && bridge.calls());
    await submit.reached();
    await stop(submit.release);
    bridge.report(second?.id ?? "", "pi", load);
    expect((await waiting).body).toMatchObject({ status: "done", answer: "load 0.5 | it sounds" });
    expect(bridge.calls()).toHaveLength(2);
    await expectTurns(id, [{ answer: "load 0.5 | it sounds", calls: [{}, {}] }]);
  },

  // The model step again, here with a result that must not be lost or requested again.
  "a result is there, the model is asked with it": async ({ id, bridge, stop }) => {
    bridge.onCall = () => sounds;
    const text = script({ calls: [siren] }, { hold: id, step: results }, results);
    const waiting = say(id, text);
    await until(async () => (await modelCalls(text)) === 2);
    await stop(() => releaseModel(id));
    await expectSounds(id, waiting);
    expect(bridge.calls()).toHaveLength(1);
  },

  "a question is open": async ({ id, bridge, stop }) => {
    const { waiting, call } = await sirenOut(id, bridge);
    answerEnds(bridge, call, (answer) => `you said ${answer}`);
    deviceAsks(bridge, call, { text: "Which lamp?", options: ["left", "right"] });
    const question = await questionOf(id);
    await until(async () => (await questionsOf(id)).length === 1);
    await stop();
    expect(await questionsOf(id)).toMatchObject([{ id: question.id, text: "Which lamp?" }]);
    await answerQuestion(question.id, "left");
    expect((await waiting).body).toMatchObject({ status: "done", answer: "you said left" });
    expect(await questionsOf(id)).toMatchObject([{ id: question.id, answer: "left", answered_by: "anna" }]);
    await expectTurns(id, [{ answer: "you said left", calls: [{ id: call }] }]);
    // One siren and one answer.
    expect(bridge.calls()).toHaveLength(2);
  },

  // For the Conversation this equals a question; it has its own row because it must not count as granted.
  "a device's approval is open": async ({ id, bridge, stop }) => {
    const { waiting, call } = await sirenOut(id, bridge);
    answerEnds(bridge, call, (answer) => (answer === "approve" ? "it sounds" : "no"));
    const hash = await approvalHash("pi", "siren", {});
    const approval = { tool: "siren", parameters: {}, reason: "the policy says ask", hash };
    deviceAsks(bridge, call, { text: "May I?", approval });
    const question = await questionOf(id);
    await until(async () => (await questionsOf(id)).length === 1);
    await stop();
    expect(bridge.calls()).toHaveLength(1);
    await answerQuestion(question.id, "approve");
    expect((await waiting).body).toMatchObject({ status: "done", answer: "it sounds" });
    await expectTurns(id, [{ answer: "it sounds", calls: [{ id: call }] }]);
    expect(bridge.calls()).toHaveLength(2);
  },

  "the gateway's own approval of a call is open": async ({ id, bridge, stop }) => {
    const { waiting, question } = await gatewayAsks(id, bridge);
    await stop();
    expect(bridge.calls()).toHaveLength(1);
    await answerQuestion(question.id, "approve");
    expect((await waiting).body).toMatchObject({ status: "done", answer: "done | done" });
    await expectTurns(id, [{ answer: "done | done", calls: [{}, {}] }]);
    expect(bridge.calls()).toHaveLength(2);
  },
});

async function questionsOf(id: string) {
  return (await turnsOf(id))[0]?.questions ?? [];
}
