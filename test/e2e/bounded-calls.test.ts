/** What one reply of a model may run, and one question for all of it, on real processes and a real broker. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { ownLoop, RESULTS } from "./edge-calls.ts";
import { Observer, payloadOf } from "./observer.ts";
import { useStack } from "./stack.ts";

const stack = useStack({ vars: { ALLOW_UNSIGNED_AGENTS: "*" } }, async (stack) => {
  await stack.startAgent({ id: "careful", model: true });
  await stack.startAgent({ id: "trusting", model: true, top: { policy: { file_write: "allow" } } });
  await Promise.all([stack.gateway.online("careful"), stack.gateway.online("trusting")]);
});
let observer: Observer;
beforeAll(async () => {
  observer = await Observer.start(stack.mqttUrl);
});
afterAll(() => observer.stop());

const args = (at: number) => ({ path: `f${at}.txt`, content: `text ${at}` });
const write = (agent_id: string, at: number) => ({
  arguments: { agent_id, action: "write", params: args(at) },
});
const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const files = (agent: string) =>
  readdirSync(stack.workspaceOf(agent)).filter((name) => /^f\d+\.txt$/.test(name));

type Listed = { id: string; members?: Array<{ text: string }>; text: string; conversation: string };
async function listed(conversation: string): Promise<Listed[]> {
  const { questions } = (await (await stack.gateway.fetch("/v1/questions")).json()) as {
    questions: Listed[];
  };
  return questions.filter((one) => one.conversation === conversation);
}

test("L14: 300 equal calls are one command on the broker", async () => {
  const before = observer.commands("trusting", "tool").length;
  const turn = await stack.gateway.ask(
    script({ calls: times(300, () => write("trusting", 0)) }, { text: "written" }),
  );
  expect(turn).toMatchObject({ status: "done", answer: "written" });
  expect(turn.calls).toHaveLength(300);
  expect(observer.commands("trusting", "tool")).toHaveLength(before + 1);
});

test("L14: 60 writes are one question, over a kill of the Worker; one yes gives 60 results", async () => {
  const conversation = crypto.randomUUID();
  const turn = await stack.gateway.begin(
    script({ calls: times(60, (at) => write("careful", at)) }, { text: "all written" }),
    conversation,
  );
  const { id } = await stack.gateway.question(conversation);
  expect(await listed(conversation)).toMatchObject([{ id, members: { length: 60 } }]);
  await stack.worker.kill();
  await stack.startWorker();
  const [question] = await until(async () => {
    const all = await listed(conversation);
    return all.length > 0 && all;
  });
  expect(question).toMatchObject({ id, members: { length: 60 } });
  expect(question?.text).toBe("Run these 60 calls?");
  const lines = question?.members?.map(({ text }) => text).sort();
  expect(lines).toEqual(times(60, (at) => `Write f${at}.txt on careful?`).sort());
  expect(files("careful")).toEqual([]);
  expect(await stack.gateway.answer(id, "approve")).toBe(200);
  const ended = await stack.gateway.settled(conversation, turn, 30_000);
  expect(ended.answer).toBe("all written");
  expect(ended.calls.filter(({ status }) => status === "success")).toHaveLength(60);
  expect(files("careful")).toHaveLength(60);
  // A device that asked again meanwhile may be told twice.
  const answered = observer.commands("careful", "answer").map(({ body }) => payloadOf(body).question_id);
  expect(new Set(answered).size).toBe(60);
});

test("L14: the device's own loop: 300 equal calls run once, and 30 writes are one question", async () => {
  const conversation = crypto.randomUUID();
  const steps: Step[] = [
    { calls: times(300, () => ({ name: "memory", arguments: {} })) },
    { calls: times(30, (at) => ({ name: "write", arguments: args(100 + at) })) },
    { text: "all written" },
  ];
  const turn = await stack.gateway.begin(script(ownLoop("careful", ...steps), RESULTS), conversation);
  const { id } = await stack.gateway.question(conversation);
  expect(await listed(conversation)).toMatchObject([{ id, members: { length: 30 } }]);
  expect(await stack.gateway.answer(id, "approve")).toBe(200);
  const ended = await stack.gateway.settled(conversation, turn, 30_000);
  expect(ended.answer).toBe("all written");
  expect(files("careful").filter((name) => /^f1\d\d\.txt$/.test(name))).toHaveLength(30);
});

test("every history that the models received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
