/** A program is killed while a question is being answered: it is answered once, and its work is done once. */
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { describe, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { childrenNamed } from "../../local/workerd-guard.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import type { Turn } from "./gateway-client.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pi", model: true });
  await stack.gateway.online("pi");
});

/** Returns how often the gateway or the device sent a question to the model endpoint. */
const timesAsked = (question: string) =>
  stack.model.requests.filter(
    ({ messages }) => messages.findLast(({ role }) => role === "user")?.content === question,
  ).length;

/** The gateway's answer after words of a device whose model called no tool. */
const answerOf = (said: string) => `Answer: [${NO_TOOL_CALLED}]\n${said}`;

type OnItsWay = { conversation: string; turn: string; gateway: string; device: string };

/** Asks a question, and resolves when the device's own model holds it. */
async function atTheDevice(hold: string, again: string[] = []): Promise<OnItsWay> {
  const answer = { hold, step: { text: `the device says ${hold}` } };
  const device = script(answer, ...again.map((text) => ({ text })));
  const query = { calls: [{ arguments: { agent_id: "pi", query: device } }] };
  const gateway = script(query, { text: "Answer: $results" });
  const conversation = crypto.randomUUID();
  const turn = await stack.gateway.begin(gateway, conversation);
  await until(() => timesAsked(device) === 1, { what: "the device asks its model" });
  return { conversation, turn, gateway, device };
}

/**
 * Usually the other program's return brings the answer at once; anyway an agent sends an unacknowledged result again
 * after 30 s.
 */
async function answerTo({ conversation, turn }: OnItsWay): Promise<Turn> {
  const answered = await stack.gateway.settled(conversation, turn, 20_000);
  expect(await stack.gateway.turns(conversation)).toHaveLength(1);
  return answered;
}

/**
 * Checks that the gateway asked its model twice (for the call and for the answer), and how often the device worked on
 * it.
 */
function expectOnce(asked: OnItsWay, atDevice = 1): void {
  expect(timesAsked(asked.gateway)).toBe(2);
  expect(timesAsked(asked.device)).toBe(atDevice);
}

describe("killed while the device works", () => {
  test("the agent: after its restart it repeats the reads, and answers", async () => {
    const asked = await atTheDevice("never released", ["the second run"]);
    await stack.agent("pi").kill();
    await stack.restartAgent("pi");
    expect(await answerTo(asked)).toMatchObject({ status: "done", answer: answerOf("the second run") });
    expectOnce(asked, 2);
  });

  test("the bridge: the unreported result is requested again, not produced again", async () => {
    const asked = await atTheDevice("bridge");
    await stack.bridge.kill();
    stack.model.release("bridge");
    await stack.startBridge();
    expect(await answerTo(asked)).toMatchObject({ answer: answerOf("the device says bridge") });
    expectOnce(asked);
  });

  test("the bridge, while an EvoClaw agent works: the agent gets nothing twice, and its answer counts", async () => {
    const evo = await PlayedAgent.foreign("evo", stack.mqttUrl);
    try {
      await stack.gateway.online("evo");
      const query = { calls: [{ arguments: { agent_id: "evo", query: "How warm is it?" } }] };
      const asking = stack.gateway.ask(script(query, { text: "$results" }));
      const command = await until(() => evo.commands[0], { what: "the question is at the agent" });
      await stack.bridge.kill();
      await stack.startBridge();
      await evo.heartbeat();
      await stack.gateway.online("evo");
      await evo.report("result", { content: "19 degrees", request_id: command.request_id });
      expect((await asking).answer).toBe("19 degrees");
      expect(evo.commands).toHaveLength(1);
    } finally {
      await evo.stop();
    }
  });

  test("the broker: the result arrives when it is back", async () => {
    const asked = await atTheDevice("broker");
    await stack.restartBroker();
    stack.model.release("broker");
    expect(await answerTo(asked)).toMatchObject({ answer: answerOf("the device says broker") });
    expectOnce(asked);
  });

  test("workerd: the stored rows let the turn end", async () => {
    const asked = await atTheDevice("workerd");
    for (const pid of childrenNamed("workerd", stack.worker.pid)) process.kill(pid, "SIGKILL");
    stack.model.release("workerd");
    expect(await answerTo(asked)).toMatchObject({ answer: answerOf("the device says workerd") });
    expectOnce(asked);
    await until(() => stack.worker.lines.join().includes("was started again"));
  });
});

test("the Worker's process, while a client waits for a bounded time: the next message has the result, once", async () => {
  const device = script({ hold: "bounded", step: { text: "the device says bounded" } });
  const query = { calls: [{ arguments: { agent_id: "pi", query: device } }] };
  const conversation = crypto.randomUUID();
  const say = (text: string, wait: number) =>
    stack.gateway.fetch(`/v1/conversations/${conversation}/messages`, {
      method: "POST",
      body: JSON.stringify({ text }),
      headers: { prefer: `wait=${wait}` },
    });
  const lost = say(script(query, { text: "Answer: $results" }), 60).catch(() => undefined);
  await until(() => timesAsked(device) === 1, { what: "the device asks its model" });
  await stack.worker.kill();
  await lost;
  stack.model.release("bounded");
  await stack.startWorker();
  const answer = answerOf("the device says bounded");
  const next = (await (await say(script({ text: "on" }), 50)).json()) as Turn;
  expect(next).toMatchObject({ answer: "on", earlier: [{ status: "done", answer }] });
  const last = (await (await say(script({ text: "further" }), 50)).json()) as Turn;
  expect(last).toMatchObject({ answer: "further" });
  expect(last).not.toHaveProperty("earlier");
  expect(timesAsked(device)).toBe(1);
});

test("the Worker's process, with turns at the device, at the model and in the queue", async () => {
  const atDevice = await atTheDevice("worker");
  const queued = await stack.gateway.begin(script({ text: "the next one" }), atDevice.conversation);
  const atModel = script({ hang: "before" }, { text: "the second try" });
  const conversation = crypto.randomUUID();
  const turn = await stack.gateway.begin(atModel, conversation);
  await until(() => timesAsked(atModel) === 1, { what: "the gateway asks its model" });

  await stack.worker.kill();
  stack.model.release("worker");
  await stack.startWorker();

  expect(await stack.gateway.settled(atDevice.conversation, atDevice.turn)).toMatchObject({
    status: "done",
    answer: answerOf("the device says worker"),
    calls: [{ status: "success" }],
  });
  expectOnce(atDevice);
  expect(await stack.gateway.settled(atDevice.conversation, queued)).toMatchObject({
    answer: "the next one",
  });
  expect(await stack.gateway.turns(atDevice.conversation)).toHaveLength(2);
  expect(await stack.gateway.settled(conversation, turn)).toMatchObject({ answer: "the second try" });
  expect(timesAsked(atModel)).toBe(2);
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
