/**
 * Every state of a Home with questions, late results or cancels, stopped there. States that share their code share a
 * row: a question of the device and its approval are the same row; a late outcome that the conversation could not
 * accept is stored like any other (states-home.test.ts).
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { expect } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf, stopHomeWhile, theHome } from "../../../test/states.ts";
import { hold, rowsOf, stop as stopObject } from "../../../test/stopping.ts";
import {
  answerEnds,
  answerQuestion,
  cancel,
  deviceAsks,
  expectSounds,
  expectTurns,
  gatewayAsks,
  openCalls,
  questionOf,
  sameCallAgain,
  siren,
  sirenOut,
  sounds,
  turnsOf,
} from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { ask, say } from "../../../test/workerd.ts";
import { Conversation } from "../../conversation.ts";
import { Home } from "../../home.ts";
import { homeOf } from "../api/stubs.ts";

stopHomeWhile({
  // An approval of the device is the same row with an approval in it; the answer needs its hash.
  "a device's approval is open": async ({ how, id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    const hash = await approvalHash("pi", "siren", {});
    const approval = { tool: "siren", parameters: {}, reason: "the policy says ask", hash };
    deviceAsks(first, call, { text: "May I?", approval });
    const question = await questionOf(id);
    const bridge = await stop();
    if (how === "abort") await sameCallAgain(bridge, call);
    // The device repeats an unanswered question; the person is asked once.
    deviceAsks(bridge, call, { text: "May I?", approval });
    answerEnds(bridge, call, (answer) => (answer === "approve" ? "it sounds" : "no"));
    await answerQuestion(question.id, "approve");
    await expectSounds(id, waiting);
    expect(JSON.parse(bridge.calls().at(-1)?.payload ?? "")).toMatchObject({
      payload: { question_id: "q", hash },
    });
    expect((await turnsOf(id))[0]?.questions).toMatchObject([{ id: question.id, answer: "approve" }]);
  },

  "a question is answered, the device does not have the answer": async ({ how, id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    deviceAsks(first, call, { text: "Which lamp?" });
    await answerQuestion((await questionOf(id)).id, "left");
    const answer = await until(() => first.calls().find((one) => one.id !== call));
    const bridge = await stop();
    if (how === "abort") await sameCallAgain(bridge, answer.id);
    bridge.report(answer.id, "pi", { status: "answered" });
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting);
  },

  "the gateway's own approval of a call is open": async ({ id, first, stop }) => {
    const { waiting, question } = await gatewayAsks(id, first);
    const bridge = await stop();
    const sent = first.calls().length;
    expect(sent + (bridge === first ? 0 : bridge.calls().length)).toBe(1);
    bridge.onCall = () => ({ status: "success", content: "done" });
    await answerQuestion(question.id, "approve");
    expect((await waiting).body).toMatchObject({ status: "done", answer: "done | done" });
    expect(bridge.calls()).toHaveLength(bridge === first ? 2 : 1);
    await expectTurns(id, [{ answer: "done | done", calls: [{}, {}] }]);
  },

  // The owner's answer ends the call before anybody is told: a returning bridge does not get it.
  "a call was not approved, the conversation is being told": async ({ id, first, stop }) => {
    const { waiting, question } = await gatewayAsks(id, first);
    const settle = hold(Conversation, "settle", "before");
    const answered = answerQuestion(question.id, "deny").catch(() => {});
    await settle.reached();
    expect(await openCalls()).toEqual([]);
    const bridge = await stop(settle.release);
    await answered;
    expect((await waiting).body.answer).toContain("it was not approved. Nothing was run.");
    await expectTurns(id, [{ answer: /not approved/, calls: [{}, { error_type: "permission_denied" }] }]);
    expect(bridge.calls()).toHaveLength(bridge === first ? 1 : 0);
  },

  "a question is stored, the conversation could not be told": async ({ id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    const asking = hold(Conversation, "ask");
    deviceAsks(first, call, { text: "Which lamp?" });
    await asking.reached();
    await stopObject("abort", conversationOf(id), asking.release);
    const bridge = await stop();
    // No program asks again: Home's alarm delivers it to the conversation.
    await until(async () => (await turnsOf(id))[0]?.questions?.length === 1);
    answerEnds(bridge, call, () => "it sounds");
    await answerQuestion((await questionOf(id)).id, "left");
    await expectSounds(id, waiting);
  },

  "a call is cancelled before it is there": async ({ id, first, stop }) => {
    const submit = hold(Home, "calls.submit", "before");
    const waiting = say(id, script({ calls: [siren] }, { text: "never" }));
    await submit.reached();
    await cancel(id);
    expect((await waiting).body.status).toBe("cancelled");
    expect(await rowsOf(theHome(), "SELECT command, state FROM call")).toEqual([
      { command: "cancelled", state: "settled" },
    ]);
    const [call] = await rowsOf<{ id: string }>(theHome(), "SELECT id FROM call");
    const bridge = await stop(submit.release);
    // A conversation that does not know of the cancel sends it now, and it does not start.
    const late = await homeOf(env, "a").calls.submit({
      id: call?.id ?? "",
      conversation: `a/api/${id}`,
      args: { agent_id: "pi", action: "siren" },
      caller: { principal: "anna", role: "owner", channel: "api" },
      watched: false,
      tainted: false,
    });
    expect(late).toMatchObject({
      accepted: false,
      outcome: { errorType: "outcome_unknown" },
    });
    expect([...first.calls(), ...bridge.calls()]).toEqual([]);
    // Home that does not know a call cannot tell whether it forgot the call in a crash.
    await expectTurns(id, [{ status: "cancelled", answer: /^Cancelled\./ }]);
  },

  "a call that is with the device is being cancelled": async ({ how, id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    const cancelling = hold(Home, "calls.cancel", "after");
    const cancelled = cancel(id);
    await cancelling.reached();
    const bridge = await stop(cancelling.release);
    expect(await (await cancelled).json()).toMatchObject({ status: "cancelled" });
    expect((await waiting).body.status).toBe("cancelled");
    await expectTurns(id, [{ status: "cancelled", answer: /^Cancelled\./ }]);
    // A returning bridge does not get it.
    expect(bridge.calls()).toHaveLength(how === "evict" ? 1 : 0);
    bridge.report(call, "pi", {
      status: "error",
      tool: "siren",
      error: "cancelled",
      error_type: "execution_failed",
    });
    await until(() => bridge.acks().includes(call));
  },

  "a command of the API is out": async ({ how, first, stop }) => {
    const answer = ask("/v1/agents/pi/commands", {
      method: "POST",
      body: JSON.stringify({ command: "get_metrics" }),
    });
    const call = await until(() => first.calls()[0]?.id);
    const waits = async () =>
      await runInDurableObject(theHome(), (_, ctx) => ctx.getWebSockets(call).length === 1);
    await until(waits, { what: "its caller waits" });
    const bridge = await stop();
    if (how === "abort") {
      // Its caller is told where to look.
      expect((await answer).status).toBe(202);
      await sameCallAgain(bridge, call);
    }
    bridge.report(call, "pi", { status: "success", load: 0.5 });
    const look = () => ask(`/v1/agents/pi/commands/${call}`);
    const response =
      how === "evict"
        ? await answer
        : await until(async () => {
            const seen = await look();
            return seen.status === 200 && seen;
          });
    expect(await response.json()).toMatchObject({ request_id: call, payload: { load: 0.5 } });
    expect(await openCalls()).toEqual([]);
    expect(new Set([...first.calls(), ...bridge.calls()].map(({ id }) => id)).size).toBe(1);
  },

  "a call that waits for its approval at the device is being cancelled": async ({ how, id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    const hash = await approvalHash("pi", "siren", {});
    const approval = { tool: "siren", parameters: {}, reason: "the policy says ask", hash };
    deviceAsks(first, call, { text: "May I?", approval });
    const { id: question } = await questionOf(id);
    const cancelling = hold(Home, "calls.cancel", "after");
    const cancelled = cancel(id);
    await cancelling.reached();
    const bridge = await stop(cancelling.release);
    expect(await (await cancelled).json()).toMatchObject({ status: "cancelled" });
    // The question came first and was not approved, so it would be wrong to say that it may have run.
    if (how === "evict")
      expect((await waiting).body).toMatchObject({
        answer: "Cancelled.",
        calls: [{ error: expect.stringContaining("Nothing was run") }],
      });
    const late = await ask(`/v1/questions/${question}`, {
      method: "POST",
      body: JSON.stringify({ answer: "approve" }),
    });
    expect(late.status).toBe(409);
    expect(bridge.calls().filter((one) => one.id === call)).toHaveLength(how === "evict" ? 1 : 0);
  },

  "a call was given up, its late result is to come": async ({ id, first, stop }) => {
    const { call, waiting } = await sirenOut(id, first);
    await cancel(id);
    expect((await waiting).body.status).toBe("cancelled");
    const bridge = await stop();
    bridge.report(call, "pi", sounds);
    await until(async () => (await turnsOf(id))[0]?.calls[0]?.status === "success");
    // Sent again because its acknowledgement was lost: it is recognised.
    bridge.report(call, "pi", sounds);
    await until(() => bridge.acks().filter((acked) => acked === call).length === 2);
    const { body } = await say(id, script({ text: "$notes" }));
    expect(body.answer.split("it sounds")).toHaveLength(2);
  },

  "a job is out": async ({ id, first, stop }) => {
    first.onCall = () => ({ status: "accepted", job: `job-${id}`, tool: "siren", result: "begun" });
    await say(id, script({ calls: [siren] }, { text: "It has begun." }, { text: "In the end: $notes" }));
    const bridge = await stop();
    expect(await openCalls()).toMatchObject([{ id: `job-${id}`, command: "job" }]);
    bridge.onCall = () => undefined;
    bridge.report(`job-${id}`, "pi", { status: "success", tool: "siren", result: "12 GB saved" });
    await expectTurns(id, [
      { answer: "It has begun.", calls: [{ result: "12 GB saved" }] },
      { answer: /12 GB saved/ },
    ]);
    // The job is waited for, and sent to no bridge.
    expect(bridge.calls().filter((call) => call.id === `job-${id}`)).toEqual([]);
  },
});
