/** Commands in a chat, with the conversation stopped during them: the platform delivers the message again. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { sessionNamed, spawn } from "../../../../test/sessions.ts";
import { hold, stop, storedTurns } from "../../../../test/stopping.ts";
import { AGENTS, answerEnds, deviceAsks, openCalls, siren, sounds, turnsOf } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { TestBridge } from "../../../../test/workerd.ts";
import { Home } from "../../../home.ts";
import type { Delivery } from "../contract.ts";

const WITHIN_MS = 20_000;
const origin = { principal: "anna", role: "owner", channel: "generic" } as const;

afterEach(reset);

/** A chat with one turn at a device and another turn in the queue. */
async function busyChat() {
  const bridge = await TestBridge.connect(AGENTS);
  const chat = () => env.CONVERSATION.getByName("a/generic/home/1");
  const deliver = async (id: string, act: Delivery["act"]) =>
    await chat()["chat.receive"]({ id, origin, act });
  const say = (text: string): Delivery["act"] => ({ do: "say", text, pictures: [], merge: false });
  await deliver("1", say(script({ calls: [siren] }, { text: "It sounds." })));
  const call = await until(() => bridge.calls()[0]?.id);
  await deliver("2", say(script({ calls: [siren] }, { text: "Once more." })));
  const turns = async () => (await storedTurns(chat())).map(({ status }) => ({ status }));
  return { bridge, chat, deliver, call, turns };
}

test(
  "/stop ends every turn, even if the conversation is stopped while it ends the first",
  async () => {
    const { bridge, chat, deliver, call, turns } = await busyChat();
    const stopping = hold(Home, "calls.cancel", "before");
    const stopped = deliver("3", { do: "command", command: { name: "stop", argument: "" } }).catch(() => {});
    await stopping.reached();
    await stop("abort", chat(), stopping.release);
    await stopped;
    await deliver("3", { do: "command", command: { name: "stop", argument: "" } });
    bridge.onCall = () => sounds;
    bridge.report(call, "pi", sounds);
    await until(async () => (await turns()).every(({ status }) => status !== "running"), { what: "the end" });
    expect(await turns()).toEqual([{ status: "cancelled" }, { status: "cancelled" }]);
    expect(bridge.calls()).toHaveLength(1);
    expect(await openCalls()).toEqual([]);
  },
  WITHIN_MS,
);

test(
  "/new deletes the messages, even if the conversation is stopped during it",
  async () => {
    const { chat, deliver, turns } = await busyChat();
    const stopping = hold(Home, "calls.cancel", "before");
    const renew = { do: "command", command: { name: "new", argument: "" } } as const;
    const renewed = deliver("3", renew).catch(() => {});
    await stopping.reached();
    await stop("abort", chat(), stopping.release);
    await renewed;
    expect(await deliver("3", renew)).toEqual({ words: expect.stringContaining("A new conversation") });
    expect(await turns()).toEqual([]);
    // No more messages follow.
    expect(await deliver("3", renew)).toEqual({});
  },
  WITHIN_MS,
);

test(
  "a session that a chat began: its question is answered there by /answer, and /new deletes it",
  async () => {
    setVariables({ GATEWAY_TOOLS: "sessions" });
    const bridge = await TestBridge.connect(AGENTS);
    const chat = () => env.CONVERSATION.getByName("a/generic/home/2");
    const deliver = async (id: string, act: Delivery["act"]) =>
      await chat()["chat.receive"]({ id, origin, act });
    const task = script({ calls: [siren] }, { text: "it sounds" });
    const text = script(spawn(task, { label: "siren" }), { text: "begun" }, { text: "$notes" });
    await deliver("1", { do: "say", text, pictures: [], merge: false });
    const call = await until(() => bridge.calls()[0]?.id, { what: "the siren is called" });
    const turns = async () => await storedTurns(chat());
    await until(async () => (await turns())[0]?.status === "done", { what: "the chat's turn is over" });
    deviceAsks(bridge, call, { text: "How long?" });
    const session = await sessionNamed("siren");
    const asked = async () => (await turnsOf(session))[0]?.questions ?? [];
    await until(async () => (await asked()).length === 1, { what: "the question" });
    answerEnds(bridge, call, (answer) => `it sounded for ${answer}`);
    const answered = { do: "command", command: { name: "answer", argument: "a minute" } } as const;
    // Words would say that nobody asks.
    expect(await deliver("2", answered)).toEqual({});
    await until(async () => (await turns()).length === 2, { what: "the session's end" });
    expect(await asked()).toMatchObject([{ answer: "a minute" }]);
    await deliver("3", { do: "command", command: { name: "new", argument: "" } });
    await until(async () => (await turnsOf(session)).length === 0, { what: "the session is deleted" });
  },
  WITHIN_MS,
);
