/** For tests inside workerd: brings turns into a state, and checks what people see and how they end. */
import { expect } from "vitest";
import { Home } from "../worker/home.ts";
import { script } from "./scripted-model.ts";
import { hold } from "./stopping.ts";
import { until } from "./wait.ts";
import { type Answer, agent, ask, CPU, SIREN, say, type TestBridge } from "./workerd.ts";

const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "watch", "job", "route"];
const PATIENT = { ...SIREN, name: "water", queue_ms: 3_600_000 };

/** An agent whose action `water` may be queued while it is offline. */
export function garden(online: boolean) {
  return agent("garden", { online, features: FEATURES, tools: [PATIENT] });
}

/** An agent with all features, a foreign one of EvoClaw, and an offline one. */
export const AGENTS = [
  agent("pi", { features: FEATURES, tools: [CPU, SIREN] }),
  agent("rust", { foreign: true, features: [], tools: [] }),
  garden(false),
];

/** An edge_call as a model writes it. */
export function on(agent_id: string, what: { action: string } | { query: string }) {
  return { arguments: { agent_id, ...what } };
}

export const siren = on("pi", { action: "siren" });
export const results = { text: "$results" };
export const sounds = { status: "success", tool: "siren", result: "it sounds" };

/** Starts a turn whose only call is at the bridge while the conversation is parked. */
export async function sirenOut(id: string, bridge: TestBridge) {
  const text = script({ calls: [siren] }, results);
  const submit = hold(Home, "calls.submit", "after");
  const waiting = say(id, text);
  await submit.reached();
  submit.release();
  await submit.passed();
  const call = await until(() => bridge.calls()[0]?.id);
  // This reaches the conversation after Home's reply.
  await turnsOf(id);
  return { waiting, call, text };
}

/** Checks that the siren's call has one result and led to one answer. */
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

/** The first call reads a file, so for the second, to an agent that cannot ask itself, the gateway asks. */
export async function gatewayAsks(id: string, bridge: TestBridge) {
  const tools_executed = [{ tool: "read_file", success: true }];
  bridge.onCall = () => ({ status: "success", content: "done", tools_executed });
  const query = { calls: [on("rust", { query: "open the door" })] };
  const waiting = say(id, script(query, query, results));
  return { waiting, question: await questionOf(id) };
}

/** The device asks a person during a call. */
export function deviceAsks(bridge: TestBridge, call: string, what: Record<string, unknown>): void {
  const event = { type: "question", request_id: call, question_id: "q", expires_in_ms: 60_000, ...what };
  bridge.send({ t: "event", id: call, agent: "pi", payload: JSON.stringify(event) });
}

/** The device acknowledges an answer and ends its call. */
export function answerEnds(bridge: TestBridge, call: string, result: (answer: string) => string): void {
  bridge.onCall = ({ id, payload }) => {
    const { answer } = (JSON.parse(payload) as { payload: { answer: string } }).payload;
    bridge.report(id, "pi", { status: "answered" });
    bridge.report(call, "pi", { status: "success", result: result(answer) });
    return undefined;
  };
}

/** Disconnects the bridge and waits until Home has noticed. */
export async function leave(bridge: TestBridge): Promise<void> {
  bridge.close();
  const online = async () =>
    ((await (await ask("/v1/status")).json()) as { bridge: { online: boolean } }).bridge.online;
  await until(async () => !(await online()), { what: "the bridge is gone" });
}

/** Checks that a reconnected bridge gets its predecessor's call once. */
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

/** Returns the calls that Home waits for. */
export async function openCalls(): Promise<OpenCall[]> {
  return ((await (await ask("/v1/status")).json()) as { calls: OpenCall[] }).calls;
}

export type Asked = { id: string; text: string; conversation: string; asked?: unknown[]; plain?: true };

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
 * Checks that the conversation has exactly these turns, each ended once with this text, and that nothing of them is still
 * open.
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
