/** An answer that comes as the return of `start`: when it is waited for there, when not, and what stops meanwhile. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { modelCalls, releaseModel } from "../../../test/model-requests.ts";
import { chat, chatNamed, post, user } from "../../../test/openai-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf } from "../../../test/states.ts";
import { hold, stop, storedTurns } from "../../../test/stopping.ts";
import { AGENTS, expectTurns, results, siren, sounds } from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { ask, say, TestBridge } from "../../../test/workerd.ts";
import { Conversation } from "../../conversation.ts";

const WITHIN_MS = 20_000;

/** The statuses with which `start` returned, and how often a client attached. */
function returned(): { start: Array<string | undefined>; attached: number } {
  const seen = { start: [] as Array<string | undefined>, attached: 0 };
  const { start, fetch } = Conversation.prototype;
  Conversation.prototype.start = async function (...args) {
    const result = await start.apply(this, args);
    seen.start.push(result?.status);
    return result;
  };
  Conversation.prototype.fetch = async function (request) {
    seen.attached += 1;
    return await fetch.call(this, request);
  };
  onTestFinished(() => {
    Object.assign(Conversation.prototype, { start, fetch });
  });
  return seen;
}

let bridge: TestBridge;
beforeEach(async () => {
  bridge = await TestBridge.connect(AGENTS);
  bridge.onCall = () => sounds;
});
// Each test has its own home.
afterEach(reset);

const question = () => script({ calls: [siren] }, results);

test("a turn whose device answers at once comes as the return of its start", async () => {
  const seen = returned();
  const asked = question();
  expect((await say("quick", asked)).body).toMatchObject({ status: "done", answer: "it sounds" });
  expect(await (await ask("/ask", { method: "POST", body: question() })).text()).toBe("it sounds\n");
  expect((await chat([user(question())])).body.choices[0]?.message.content).toBe("it sounds");
  expect(seen).toEqual({ start: ["done", "done", "done"], attached: 0 });
});

test("a turn that waits for a device returns at once, and its client waits over a socket", async () => {
  const seen = returned();
  bridge.onCall = () => undefined;
  const said = say("slow", question());
  const call = await until(() => bridge.calls()[0]?.id);
  // After the second in which a call has no row.
  await until(() => seen.attached > 0);
  expect(seen.start).toEqual(["running"]);
  bridge.report(call, "pi", sounds);
  expect((await said).body).toMatchObject({ status: "done", answer: "it sounds" });
  expect(seen).toEqual({ start: ["running"], attached: 1 });
});

test("of two who ask for the same turn each gets its answer", async () => {
  const seen = returned();
  const step = { hold: "same", step: { text: "one" } };
  const keyed = { headers: { "idempotency-key": "k" } };
  const asked = script(step);
  const first = say("same", asked, keyed);
  await until(async () => (await modelCalls(asked)) === 1);
  const second = say("same", asked, keyed);
  await until(async () => (await storedTurns(conversationOf("same"))).length === 1);
  await releaseModel("same");
  expect((await first).body).toMatchObject({ answer: "one" });
  expect((await second).body.turn).toBe((await first).body.turn);
  expect(seen).toEqual({ start: ["done", "done"], attached: 0 });
});

test("a client that waits a bounded time is told in time what its held turn waits for", async () => {
  const seen = returned();
  const asked = script({ hold: "bounded", step: { text: "at last" } });
  const began = Date.now();
  const first = await say("bounded", asked, { headers: { prefer: "wait=1" } });
  expect(Date.now() - began).toBeLessThan(5_000);
  expect(first).toMatchObject({ status: 202, body: { status: "running" } });
  expect(seen).toEqual({ start: ["running"], attached: 0 });
  await releaseModel("bounded");
  const next = await say("bounded", script({ text: "on" }));
  expect(next.body).toMatchObject({ answer: "on", earlier: [{ answer: "at last" }] });
});

test("a conversation that is forgotten while a client is held ends its wait", async () => {
  const asked = script({ hold: "forgotten", step: { text: "never" } });
  const said = say("forgotten", asked);
  await until(async () => (await modelCalls(asked)) === 1);
  expect((await ask("/v1/conversations/forgotten", { method: "DELETE" })).status).toBe(204);
  expect((await said).body.answer).not.toBe("never");
  await releaseModel("forgotten");
});

describe("the object is aborted", () => {
  test(
    "between a call's outcome and the return: the turn goes on, and the device acts once",
    async () => {
      const seen = returned();
      const asked = script({ calls: [siren] }, { hold: "second", step: results }, results);
      const said = say("between", asked);
      await until(async () => (await modelCalls(asked)) === 2);
      await stop("abort", conversationOf("between"));
      await releaseModel("second");
      expect(await said).toMatchObject({ status: 200, body: { status: "done", answer: "it sounds" } });
      await expectTurns("between", [
        { answer: "it sounds", calls: [{ status: "success", result: "it sounds" }] },
      ]);
      expect(bridge.calls()).toHaveLength(1);
      expect(seen.start).toEqual(["done"]);
    },
    WITHIN_MS,
  );

  test(
    "between the turn's end and the return: the same answer comes, and the model is not asked again",
    async () => {
      const asked = question();
      const start = hold(Conversation, "start", "after");
      const said = say("ended", asked);
      await start.reached();
      expect(await storedTurns(conversationOf("ended"))).toMatchObject([{ status: "done" }]);
      await stop("abort", conversationOf("ended"), start.release);
      expect(await said).toMatchObject({ status: 200, body: { status: "done", answer: "it sounds" } });
      await expectTurns("ended", [{ answer: "it sounds" }]);
      expect(await modelCalls(asked)).toBe(2);
      expect(bridge.calls()).toHaveLength(1);
    },
    WITHIN_MS,
  );
});

describe("a client that hangs up while it is held", () => {
  /** Asks, and hangs up once the model is asked. @returns when the request has ended */
  async function hangUp(path: string, body: object, asked: string, headers: Record<string, string> = {}) {
    const control = new AbortController();
    const init = { method: "POST", body: JSON.stringify(body), headers, signal: control.signal };
    const answer = ask(path, init).catch(() => undefined);
    await until(async () => (await modelCalls(asked)) === 1);
    control.abort();
    await answer;
  }

  test("and wants its turn cancelled then: it is, at once", async () => {
    const asked = script({ hold: "gone", step: { text: "never" } });
    const headers = { "edgecall-on-hangup": "cancel" };
    await hangUp("/v1/conversations/gone/messages", { text: asked }, asked, headers);
    await until(async () => (await storedTurns(conversationOf("gone")))[0]?.status === "cancelled", {
      within: 4_000,
    });
  });

  test("at OpenAI's door: its turn is stopped", async () => {
    const asked = script({ hold: "stopped", step: { text: "never" } });
    const key = { "x-edge-conversation": "stopped" };
    await hangUp("/v1/chat/completions", { messages: [user(asked)] }, asked, key);
    const turns = async () => await storedTurns(await chatNamed("stopped"));
    await until(async () => (await turns())[0]?.status === "cancelled", { within: 4_000 });
  });

  test("of those that wait a bounded time: its turn goes on, and the next answer has the result", async () => {
    const asked = script({ hold: "later", step: { text: "the first" } });
    const key = { "x-edge-conversation": "later" };
    const body = { messages: [user(asked)], edge: { wait: 60 } };
    await hangUp("/v1/chat/completions", body, asked, key);
    await releaseModel("later");
    const ended = async () => (await storedTurns(await chatNamed("later")))[0]?.status === "done";
    await until(ended, { what: "the turn goes on" });
    const next = await chat([user(script({ text: "on" }))], {}, key);
    expect(next.body.choices[0]?.message.content).toMatch(/^on\n\nTo ".*": the first$/);
  });

  test("silently: its second try gets the turn that the first one began", async () => {
    const asked = script({ hold: "silent", step: { text: "once" } });
    const key = { "x-edge-conversation": "silent" };
    const body = { messages: [user(asked)] };
    const first = await startHeld(body, asked, key);
    const again = { ...key, "x-stainless-retry-count": "1" };
    const second = post("/v1/chat/completions", body, { headers: again });
    await first.leaveWhenWritten();
    await releaseModel("silent");
    const answer = (await (await second).json()) as { choices: Array<{ message: { content: string } }> };
    expect(answer.choices[0]?.message.content).toBe("once");
    expect(await storedTurns(await chatNamed("silent"))).toHaveLength(1);
    expect(await modelCalls(asked)).toBe(1);
  });

  /** A client that has gone without a word: it is noticed when something is written. */
  async function startHeld(body: object, asked: string, headers: Record<string, string>) {
    const answer = post("/v1/chat/completions", body, { headers });
    await until(async () => (await modelCalls(asked)) === 1);
    return {
      async leaveWhenWritten() {
        // The second try makes the gateway write to the first one.
        await (await answer).body?.cancel();
      },
    };
  }
});
