/** Each object stopped at each point of a session's life. One end is told, once, and the session runs once. */
import { reset, runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { modelCalls, releaseModel } from "../../../../test/model-requests.ts";
import { script } from "../../../../test/scripted-model.ts";
import { endedTurns, sessionNamed, spawn, spawned } from "../../../../test/sessions.ts";
import { conversationOf, theHome } from "../../../../test/states.ts";
import { HOWS, type How, hold, rowsOf, stop } from "../../../../test/stopping.ts";
import { results, turnsOf } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { say } from "../../../../test/workerd.ts";
import { Conversation } from "../../../conversation.ts";
import { Home } from "../../../home.ts";

const WITHIN_MS = 30_000;

beforeEach(() => setVariables({ GATEWAY_TOOLS: "sessions" }));
afterEach(reset);

const BEGUN = { text: "begun $notes" };
/** A step that was asked for before a crash is asked for again. */
const TOLD = { text: "$notes" };

/** A conversation whose model begins a session in the background, and is told of its end. */
function background(task: string) {
  const id = crypto.randomUUID();
  return { id, text: script(spawn(task, { label: id }), BEGUN, TOLD, TOLD, TOLD) };
}

/** One whose model waits for the session. */
function waiting(task: string) {
  const id = crypto.randomUUID();
  return { id, text: script(spawn(task, { label: id, timeout_seconds: 100 }), results) };
}

/** Stops a conversation; its alarm is not waited for. */
async function stopConversation(how: How, id: string, release: () => unknown): Promise<void> {
  await stop(how, conversationOf(id), release);
  await runDurableObjectAlarm(conversationOf(id));
}

/** The client of a conversation may be lost with it. */
const asked = (id: string, text: string) => void say(id, text).catch(() => undefined);

/** The session ran once, and whoever began it has its answer: with the call where that was open, else as one message. */
async function toldOnce(id: string, answer: string): Promise<void> {
  const turns = await until(
    async () => {
      const shown = await turnsOf(id);
      const isOver = shown.every(({ status }) => status !== "running");
      return isOver && shown[0]?.calls[0]?.result === answer ? shown : undefined;
    },
    { what: "the answer is there", within: 25_000 },
  );
  expect(turns.length).toBeLessThanOrEqual(2);
  if (turns[1]) expect(turns[1].answer).toMatch(new RegExp(`has ended\\. Its answer:\\n${answer}$`));
  const [session, ...others] = await spawned();
  expect(others).toEqual([]);
  const stub = conversationOf(session?.id ?? "");
  const told = () => rowsOf(stub, "SELECT seq FROM entry WHERE kind = 'told'");
  await until(async () => (await told()).length === 1, { what: "the session knows it", within: 15_000 });
  expect(await turnsOf(session?.id ?? "")).toMatchObject([{ status: "done", answer }]);
  expect(await turnsOf(id)).toHaveLength(turns.length);
}

describe.each(HOWS)("%s of", (how) => {
  test.each(["before", "after"] as const)(
    "the conversation while Home is asked to begin a session, %s it has",
    async (when) => {
      const { id, text } = background(script({ text: "42" }));
      const held = hold(Home, "calls.runTool", when);
      asked(id, text);
      await held.reached();
      await stopConversation(how, id, held.release);
      await toldOnce(id, "42");
    },
    WITHIN_MS,
  );

  test(
    "the home while it begins a session",
    async () => {
      const { id, text } = background(script({ text: "42" }));
      const held = hold(Home, "calls.runTool", "before");
      asked(id, text);
      await held.reached();
      await stop(how, theHome(), held.release);
      await toldOnce(id, "42");
    },
    WITHIN_MS,
  );

  test(
    "the session while its model thinks",
    async () => {
      const name = crypto.randomUUID();
      const task = script({ hold: name, step: { text: "42" } }, { text: "42" });
      const { id, text } = background(task);
      asked(id, text);
      const session = await sessionNamed(id);
      await until(async () => (await modelCalls(task)) > 0, { what: "its model is asked" });
      await stopConversation(how, session, () => releaseModel(name));
      await toldOnce(id, "42");
    },
    WITHIN_MS,
  );

  test.each(["before", "after"] as const)(
    "the session between its end and its message, %s that was taken",
    async (when) => {
      const { id, text } = background(script({ text: "42" }));
      const held = hold(Conversation, "sessionEnded", when);
      asked(id, text);
      await held.reached();
      await stopConversation(how, await sessionNamed(id), held.release);
      await toldOnce(id, "42");
    },
    WITHIN_MS,
  );

  test.each(["before", "after"] as const)(
    "the conversation while it is told, %s it has it",
    async (when) => {
      const { id, text } = background(script({ text: "42" }));
      const held = hold(Conversation, "sessionEnded", when);
      asked(id, text);
      await held.reached();
      await stopConversation(how, id, held.release);
      await toldOnce(id, "42");
    },
    WITHIN_MS,
  );

  test(
    "the conversation while it waits for a session",
    async () => {
      const name = crypto.randomUUID();
      const { id, text } = waiting(script({ hold: name, step: { text: "42" } }));
      asked(id, text);
      const session = await sessionNamed(id);
      await until(async () => (await turnsOf(id))[0]?.calls.length === 1, { what: "it waits" });
      await stop(how, conversationOf(id));
      await releaseModel(name);
      const turns = await endedTurns(id, 1);
      expect(turns).toMatchObject([{ status: "done", answer: "42" }]);
      expect(await turnsOf(session)).toHaveLength(1);
    },
    WITHIN_MS,
  );
});

test(
  "a session's end that cannot be told is told later",
  async () => {
    const { id, text } = background(script({ text: "42" }));
    const prototype = Conversation.prototype;
    const real = prototype.sessionEnded;
    let tries = 0;
    prototype.sessionEnded = async function (...args) {
      tries += 1;
      if (tries === 1) throw new Error("it is being replaced");
      return await real.apply(this, args);
    };
    try {
      asked(id, text);
      await toldOnce(id, "42");
      expect(tries).toBe(2);
    } finally {
      prototype.sessionEnded = real;
    }
  },
  WITHIN_MS,
);
