/** For tests inside workerd: turns brought into a state, what people see of them, and that they end right. */
import { expect } from "vitest";
import { Home } from "../worker/home/home.ts";
import { script } from "./scripted-model.ts";
import { hold } from "./stopping.ts";
import { until } from "./wait.ts";
import { type Answer, agent, ask, CPU, SIREN, say, type TestBridge } from "./workerd.ts";

const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "watch", "job"];
const PATIENT = { ...SIREN, name: "water", queue_ms: 3_600_000 };

/** An agent whose action `water` may wait for it. */
export function garden(online: boolean) {
  return agent("garden", { online, features: FEATURES, tools: [PATIENT] });
}

/** One that can do everything, one that knows EvoClaw's words only, and one that is not there. */
export const AGENTS = [
  agent("pi", { features: FEATURES, tools: [CPU, SIREN] }),
  agent("rust", { foreign: true, features: [], tools: [] }),
  garden(false),
];

/** An edge_call as the model writes it. */
export function on(agent_id: string, what: { action: string } | { query: string }) {
  return { arguments: { agent_id, ...what } };
}

export const siren = on("pi", { action: "siren" });
export const results = { text: "$results" };
export const sounds = { status: "success", tool: "siren", result: "it sounds" };

/** A turn whose one call is with the bridge, and its conversation parked. */
export async function sirenOut(id: string, bridge: TestBridge) {
  const text = script({ calls: [siren] }, results);
  const submit = hold(Home, "submit", "after");
  const waiting = say(id, text);
  await submit.reached();
  submit.release();
  await submit.passed();
  const call = await until(() => bridge.calls()[0]?.id);
  // Comes into the conversation after Home's reply did.
  await turnsOf(id);
  return { waiting, call, text };
}

/** The siren's call has one result, and one answer was made of it. */
export async function expectSounds(
  id: string,
  waiting: ReturnType<typeof say>,
  more: Expected[] = [],
): Promise<void> {
  expect((await waiting).body).toMatchObject({ status: "done", answer: "it sounds" });
  await expectTurns(id, [
    { answer: "it sounds", calls: [{ status: "success", result: "it sounds" }] },
    ...more,
  ]);
}

/** The first call read a file, so the second, to an agent that cannot ask for itself, is asked for by the gateway. */
export async function gatewayAsks(id: string, bridge: TestBridge) {
  const tools_executed = [{ tool: "read_file", success: true }];
  bridge.onCall = () => ({ status: "success", content: "done", tools_executed });
  const query = { calls: [on("rust", { query: "open the door" })] };
  const waiting = say(id, script(query, query, results));
  return { waiting, question: await questionOf(id) };
}

/** The device asks a person, in the middle of a call. */
export function deviceAsks(bridge: TestBridge, call: string, what: Record<string, unknown>): void {
  const event = { type: "question", request_id: call, question_id: "q", expires_in_ms: 60_000, ...what };
  bridge.send({ t: "event", id: call, agent: "pi", payload: JSON.stringify(event) });
}

/** What a device makes of an answer: it tells that it has it, and ends its call. */
export function answerEnds(bridge: TestBridge, call: string, result: (answer: string) => string): void {
  bridge.onCall = ({ id, payload }) => {
    const { answer } = (JSON.parse(payload) as { payload: { answer: string } }).payload;
    bridge.report(id, "pi", { status: "answered" });
    bridge.report(call, "pi", { status: "success", result: result(answer) });
    return undefined;
  };
}

/** The bridge goes, and Home knows. */
export async function leave(bridge: TestBridge): Promise<void> {
  bridge.close();
  const online = async () =>
    ((await (await ask("/v1/status")).json()) as { bridge: { online: boolean } }).bridge.online;
  await until(async () => !(await online()), { what: "the bridge is gone" });
}

/** A bridge that came back is sent a call that its predecessor was sent, once. */
export async function sameCallAgain(bridge: TestBridge, call: string): Promise<void> {
  await until(() => bridge.calls().some(({ id }) => id === call), { what: "the call is sent again" });
  expect(bridge.calls().filter(({ id }) => id === call)).toHaveLength(1);
}

/** Cancels the first turn. */
export async function cancel(conversation: string): Promise<Response> {
  const [turn] = await turnsOf(conversation);
  return await ask(`/v1/conversations/${conversation}/turns/${turn?.turn}/cancel`, { method: "POST" });
}

export type ShownTurn = Answer & { text: string; questions?: Array<{ id: string; answer: string | null }> };

export async function turnsOf(conversation: string): Promise<ShownTurn[]> {
  const response = await ask(`/v1/conversations/${conversation}`);
  return response.ok ? ((await response.json()) as { turns: ShownTurn[] }).turns : [];
}

export type OpenCall = { id: string; agent: string; command: string; state: string };

/** Calls that Home waits for. */
export async function openCalls(): Promise<OpenCall[]> {
  return ((await (await ask("/v1/status")).json()) as { calls: OpenCall[] }).calls;
}

export type Asked = { id: string; text: string; conversation: string };

export async function openQuestions(): Promise<Asked[]> {
  return ((await (await ask("/v1/questions")).json()) as { questions: Asked[] }).questions;
}

export async function questionOf(conversation: string): Promise<Asked> {
  return await until(async () => (await openQuestions()).find((one) => one.conversation === conversation), {
    what: `a question of ${conversation}`,
  });
}

export async function answerQuestion(id: string, answer: string): Promise<void> {
  const response = await ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer }) });
  expect(response.status, await response.clone().text()).toBe(200);
}

export type Expected = { status?: string; answer: string | RegExp; calls?: Array<Record<string, unknown>> };

/**
 * The conversation holds exactly these turns, each ended once and in these words, and nothing of them is left
 * open anywhere.
 */
export async function expectTurns(conversation: string, expected: Expected[]): Promise<void> {
  await until(async () => (await turnsOf(conversation)).filter(isOver).length >= expected.length, {
    what: `${expected.length} turns of ${conversation} to end`,
    within: 15_000,
  });
  await until(async () => (await openCalls()).length === 0, { what: "no call is open" });
  const turns = await turnsOf(conversation);
  expect(turns).toHaveLength(expected.length);
  expect(turns).toMatchObject(
    expected.map(({ answer, ...turn }) => ({
      status: "done",
      ...turn,
      answer: typeof answer === "string" ? answer : expect.stringMatching(answer),
    })),
  );
  for (const [index, { calls }] of expected.entries()) {
    if (calls) expect(turns[index]?.calls).toHaveLength(calls.length);
  }
  expect(await openQuestions()).toEqual([]);
}

function isOver(turn: Answer): boolean {
  return turn.status !== "running";
}
