/**
 * Every state of a Conversation around the end of a turn, stopped there: later results, waiting clients, cancelling and
 * deleting.
 */
import { runInDurableObject } from "cloudflare:test";
import { expect, onTestFinished } from "vitest";
import { EventStream } from "../../../test/event-stream.ts";
import { script } from "../../../test/scripted-model.ts";
import { type ConversationTrial, conversationOf, stopConversationWhile } from "../../../test/states.ts";
import { hold } from "../../../test/stopping.ts";
import {
  cancel,
  expectSounds,
  expectTurns,
  garden,
  on,
  openCalls,
  siren,
  sirenOut,
  sounds,
  turnsOf,
} from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { ask, say } from "../../../test/workerd.ts";
import { Home } from "../../home.ts";
import type { Turn } from "./store/rows.ts";
import { Subscribers } from "./subscribers.ts";

stopConversationWhile({
  "a call waits for its agent to come online": async ({ id, bridge, stop }) => {
    const water = { calls: [on("garden", { action: "water" })] };
    const { body } = await say(id, script(water, { text: "Queued." }, { text: "In the end: $notes" }));
    await stop();
    bridge.onCall = () => ({ status: "success", result: "watered" });
    bridge.send({ t: "agent", agent: garden(true) });
    await expectTurns(id, [
      { answer: "Queued.", calls: [{ id: body.calls[0]?.id, status: "success", result: "watered" }] },
      { answer: /watered/ },
    ]);
    expect(bridge.calls()).toHaveLength(1);
  },

  // A conversation that learns of it only the second time continues too; the call may wait for days.
  "Home has queued a call, the turn does not know": async ({ id, bridge, stop }) => {
    const submit = hold(Home, "calls.submit", "after");
    const water = { calls: [on("garden", { action: "water" })] };
    const waiting = say(id, script(water, { text: "Queued." }, { text: "In the end: $notes" }));
    await submit.reached();
    await stop(submit.release);
    expect((await waiting).body).toMatchObject({ status: "done", answer: "Queued." });
    bridge.onCall = () => ({ status: "success", result: "watered" });
    bridge.send({ t: "agent", agent: garden(true) });
    await expectTurns(id, [
      { answer: "Queued.", calls: [{ status: "success", result: "watered" }] },
      { answer: /watered/ },
    ]);
    expect(bridge.calls()).toHaveLength(1);
  },

  "a job is accepted, its turn is over, its result is to come": async ({ id, bridge, stop }) => {
    bridge.onCall = () => ({ status: "accepted", job: `job-${id}`, tool: "siren", result: "begun" });
    await say(id, script({ calls: [siren] }, { text: "It has begun." }, { text: "In the end: $notes" }));
    await until(async () => (await openCalls()).some((call) => call.command === "job"));
    await stop();
    bridge.report(`job-${id}`, "pi", { status: "success", tool: "siren", result: "12 GB saved" });
    await expectTurns(id, [
      { answer: "It has begun.", calls: [{ status: "success", result: "12 GB saved" }] },
      { answer: /12 GB saved/ },
    ]);
    expect(bridge.calls()).toHaveLength(1);
  },

  "the outcome of a call is unknown, its late result to come": async ({ id, bridge, stop }) => {
    const { waiting, call } = await sirenOut(id, bridge);
    await cancel(id);
    expect((await waiting).body).toMatchObject({
      status: "cancelled",
      calls: [{ error_type: "outcome_unknown" }],
    });
    await stop();
    bridge.report(call, "pi", sounds);
    await until(async () => (await turnsOf(id))[0]?.calls[0]?.status === "success");
    const next = await say(id, script({ text: "$notes" }));
    expect(next.body.answer).toContain("It succeeded. Result:\nit sounds");
    await expectTurns(id, [
      { status: "cancelled", answer: /^Cancelled\./, calls: [{ id: call, result: "it sounds" }] },
      { answer: next.body.answer },
    ]);
    expect(bridge.calls()).toHaveLength(1);
  },

  "a turn waits behind one that runs": async ({ id, bridge, stop }) => {
    const { waiting, call } = await sirenOut(id, bridge);
    const next = say(id, script({ text: "second" }));
    await until(async () => (await turnsOf(id)).length === 2);
    await stop();
    bridge.report(call, "pi", sounds);
    await expectSounds(id, waiting, [{ answer: "second" }]);
    expect(bridge.calls()).toHaveLength(1);
    expect((await next).body).toMatchObject({ status: "done", answer: "second" });
  },

  "its end is written, whoever waits not told yet": async ({ how, id, stop }) => {
    const text = script({ text: "The end." }, { text: "Once more." });
    // It is written and sent together, so the crash in between has to come from within.
    const { ended } = Subscribers.prototype;
    onTestFinished(() => {
      Subscribers.prototype.ended = ended;
    });
    const ctx = await runInDurableObject(conversationOf(id), (_, inside) => inside);
    let told = false;
    Subscribers.prototype.ended = function (this: Subscribers, turn: Turn) {
      Subscribers.prototype.ended = ended;
      told = true;
      if (how === "abort") ctx.abort("crash");
      ended.call(this, turn);
    };
    const client = await EventStream.say(id, text);
    await until(() => told);
    if (how === "evict") await stop();
    await client.ended;
    // Reply and end are one write: a crash before it loses both, and no client has seen either.
    const answer = how === "evict" ? "The end." : "Once more.";
    expect(client.of("done")).toMatchObject([{ status: "done", answer }]);
    await expectTurns(id, [{ answer }]);
  },

  "a cancel is with Home, which has not told the device": async (trial) => {
    const { id, bridge, stop } = trial;
    const { waiting } = await sirenOut(id, bridge);
    const stopping = hold(Home, "calls.cancel", "before");
    const cancelled = cancel(id);
    await stopping.reached();
    await stop(stopping.release);
    await expectCancelled(trial, cancelled, waiting);
  },

  "Home has cancelled, the turn does not know": async (trial) => {
    const { id, bridge, stop } = trial;
    const { waiting } = await sirenOut(id, bridge);
    const stopping = hold(Home, "calls.cancel", "after");
    const cancelled = cancel(id);
    await stopping.reached();
    await stop(stopping.release);
    await expectCancelled(trial, cancelled, waiting);
  },

  "it is being forgotten": async ({ how, id, bridge, stop }) => {
    const { waiting } = await sirenOut(id, bridge);
    const stopping = hold(Home, "calls.cancel", "before");
    const forget = () => ask(`/v1/conversations/${id}`, { method: "DELETE" });
    const forgotten = forget();
    await stopping.reached();
    await stop(stopping.release);
    expect((await forgotten).status).toBe(how === "evict" ? 204 : 500);
    // A client that was told of an error asks again.
    if (how === "abort") expect((await forget()).status).toBe(204);
    await waiting;
    expect(await turnsOf(id)).toEqual([]);
    expect(await openCalls()).toEqual([]);
    expect(bridge.calls()).toHaveLength(1);
    expect((await say(id, script({ text: "Anew." }))).body.answer).toBe("Anew.");
  },
});

async function expectCancelled(
  { how, id, bridge }: ConversationTrial,
  cancelled: Promise<Response>,
  waiting: ReturnType<typeof say>,
): Promise<void> {
  // The caller may get no answer any more; the turn is cancelled anyway.
  if (how === "evict") expect(await (await cancelled).json()).toMatchObject({ status: "cancelled" });
  else expect((await cancelled).status).toBe(500);
  expect((await waiting).body.status).toBe("cancelled");
  const answer = "Cancelled. One call was with a device already; whether it ran is unknown.";
  await expectTurns(id, [{ status: "cancelled", answer, calls: [{ error_type: "outcome_unknown" }] }]);
  // The device gets the cancel once, and is not asked again.
  const told = bridge.received.flatMap((frame) => (frame.t === "publish" ? [JSON.parse(frame.payload)] : []));
  expect(told.filter(({ command }) => command === "cancel")).toHaveLength(1);
  expect(bridge.calls()).toHaveLength(1);
}
