/** The session tools from a device's own loop: the event `call` of a signed agent, repeated until it has the outcome. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test } from "vitest";
import { post } from "../../../../test/keyed-home.ts";
import { releaseModel } from "../../../../test/model-requests.ts";
import { script } from "../../../../test/scripted-model.ts";
import { endedTurns, gatewayLines, sessionNamed } from "../../../../test/sessions.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { rowsOf, stop } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { answerQuestion, cancel, on, openQuestions, turnsOf } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";

const WITHIN_MS = 20_000;
const FEATURES = [
  "tool",
  "prompt",
  "cancel",
  "ack",
  "acks",
  "question",
  "watch",
  "job",
  "route",
  "gateway",
  "call",
];

let ann: SignedAgent;
let bridge: TestBridge;

beforeEach(async () => {
  setVariables({ GATEWAY_TOOLS: "sessions" });
  ann = await SignedAgent.make("ann");
  await post("/v1/agents/ann/key", { public_key: ann.publicKey, name: "Ann" });
  bridge = await connect();
});
// Each test has its own home.
afterEach(reset);

async function connect(): Promise<TestBridge> {
  const next = await TestBridge.dial();
  await next.hello(["call", "acks"]);
  const pi = agent("pi", { features: ["tool", "prompt", "cancel", "ack"], tools: [CPU, SIREN] });
  await next.snapshot([await ann.state({ tools: [CPU], features: FEATURES }), pi]);
  return next;
}

/** A turn whose model asks ann in words, and goes on with these steps. @returns ann's call */
async function annIsAsked(id: string, ...steps: Parameters<typeof script>) {
  const before = bridge.calls().length;
  const text = script({ calls: [on("ann", { query: "look" })] }, { text: "$results" }, ...steps);
  const waiting = say(id, text);
  const frame = await until(() => bridge.calls()[before], { what: "ann's call" });
  return { waiting, call: frame.id };
}

/** ann's event, as its tool sends it. */
async function annAsks(call: string, name: string, args: object, callId: string = crypto.randomUUID()) {
  const event = { type: "call", request_id: call, call_id: callId, name, args };
  bridge.send({ t: "event", id: call, agent: "ann", payload: await ann.say("events", event) });
  return callId;
}

async function annReports(call: string, content: string): Promise<void> {
  const payload = await ann.report(call, { status: "success", content });
  bridge.send({ t: "report", id: call, agent: "ann", payload });
}

type Called = { call_id: string; outcome: { status: string; text: string; job?: string; session?: string } };

function calledOf(callId: string): Array<Called["outcome"]> {
  return bridge.received.flatMap((frame) => {
    if (frame.t !== "publish" || frame.agent !== "ann") return [];
    const { command, payload } = JSON.parse(frame.payload) as { command: string; payload: Called };
    return command === "called" && payload.call_id === callId ? [payload.outcome] : [];
  });
}

const outcomeOf = (callId: string) =>
  until(() => calledOf(callId)[0], { what: "the notice", within: 10_000 });

const delegates = async (call: string) =>
  (
    await rowsOf<{ delegates: number | null }>(
      theHome(),
      `SELECT json_extract(flags, '$.delegates') AS delegates FROM call WHERE id = '${call}'`,
    )
  )[0]?.delegates;

test(
  "the gateway says that it has them, unless they are switched off",
  async () => {
    const features = () =>
      bridge.received.flatMap((frame) => {
        if (frame.t !== "publish" || frame.agent !== "ann") return [];
        const { command, payload } = JSON.parse(frame.payload) as {
          command: string;
          payload: { features?: string[] };
        };
        return command === "gateway" ? [payload.features] : [];
      });
    await until(() => features().length > 0, { what: "the greeting" });
    expect(features()).toEqual([["call", "sessions"]]);
    const { call } = await annIsAsked(crypto.randomUUID());
    setVariables({ GATEWAY_TOOLS: "none" });
    expect(await outcomeOf(await annAsks(call, "sessions_list", {}))).toMatchObject({
      status: "error",
      text: expect.stringContaining("Tool 'sessions_list' not found."),
    });
    expect(await outcomeOf(await annAsks(call, "find_agents", { text: "pi" }))).toMatchObject({
      status: "success",
    });
  },
  WITHIN_MS,
);

test(
  "a session that it begins is its own and shared with the person; its end is a message where ann was asked",
  async () => {
    const [id, held] = [crypto.randomUUID(), crypto.randomUUID()];
    const { waiting, call } = await annIsAsked(id, { text: "$notes" });
    const task = script({ hold: held, step: { text: "42" } });
    const spawned = await annAsks(call, "sessions_spawn", { task, label: "anns" });
    const accepted = await outcomeOf(spawned);
    expect(accepted).toMatchObject({ status: "success", job: spawned, session: `session-${spawned}` });
    await annReports(call, "begun");
    expect((await waiting).body.answer).toBe("begun");
    await releaseModel(held);
    const turns = await endedTurns(id, 2);
    expect(turns[1]?.answer).toMatch(/The session session-\S+ has ended\. Its answer:\n42$/);
    // Its tokens count where ann was asked, whose answer stands.
    expect(turns[0]).toMatchObject({
      calls: [{ agent: "ann", result: "begun" }],
      agents_usage: { input_tokens: 10, output_tokens: 5 },
    });
    const { conversations } = (await (await ask("/v1/conversations")).json()) as { conversations: object[] };
    expect(conversations).toContainEqual(
      expect.objectContaining({ id: `session-${spawned}`, principal: "agent:ann", title: "anns" }),
    );
    const other = await ask(`/v1/conversations/session-${spawned}`, { token: TOKENS.guest });
    expect(other.status).toBe(404);
    expect(await gatewayLines()).toEqual([["sessions_spawn", "success"]]);
  },
  WITHIN_MS,
);

test(
  "it waits by asking again: counted once, told once, and no message comes",
  async () => {
    const [id, held] = [crypto.randomUUID(), crypto.randomUUID()];
    const { waiting, call } = await annIsAsked(id);
    const task = script({ hold: held, step: { text: "42" } });
    const args = { task, label: "waited", timeout_seconds: 600 };
    const spawned = await annAsks(call, "sessions_spawn", args);
    await sessionNamed("waited");
    for (let again = 0; again < 3; again += 1) await annAsks(call, "sessions_spawn", args, spawned);
    expect(calledOf(spawned)).toEqual([]);
    await releaseModel(held);
    // Nobody has to ask again for it.
    expect(await outcomeOf(spawned)).toMatchObject({ status: "success", text: "42" });
    expect(await delegates(call)).toBe(1);
    // A notice that was lost.
    await annAsks(call, "sessions_spawn", args, spawned);
    await until(() => calledOf(spawned).length === 2, { what: "the outcome again" });
    await annReports(call, "it is 42");
    expect((await waiting).body.answer).toBe("it is 42");
    expect(await turnsOf(`session-${spawned}`)).toHaveLength(1);
    expect(await turnsOf(id)).toHaveLength(1);
  },
  WITHIN_MS,
);

test(
  "a Home that forgot the wait hears of it again; the end is then with the next repeat",
  async () => {
    const [id, held] = [crypto.randomUUID(), crypto.randomUUID()];
    const { call } = await annIsAsked(id);
    const task = script({ hold: held, step: { text: "42" } });
    const args = { task, label: "forgotten", timeout_seconds: 600 };
    const spawned = await annAsks(call, "sessions_spawn", args);
    await sessionNamed("forgotten");
    await stop("abort", theHome());
    await until(() => bridge.closed, { what: "the crash closes the bridge's socket" });
    bridge = await connect();
    await releaseModel(held);
    await until(async () => (await turnsOf(`session-${spawned}`))[0]?.status === "done", { what: "its end" });
    await annAsks(call, "sessions_spawn", args, spawned);
    expect(await outcomeOf(spawned)).toMatchObject({ text: "42" });
  },
  WITHIN_MS,
);

test(
  "a cancel of the turn ends the session for which ann waits",
  async () => {
    const [id, held] = [crypto.randomUUID(), crypto.randomUUID()];
    const { waiting, call } = await annIsAsked(id);
    const task = script({ hold: held, step: { text: "42" } });
    const spawned = await annAsks(call, "sessions_spawn", { task, label: "ended", timeout_seconds: 600 });
    await sessionNamed("ended");
    await until(async () => (await delegates(call)) === 1, { what: "ann waits" });
    await cancel(id);
    await waiting;
    await until(async () => (await turnsOf(`session-${spawned}`))[0]?.status === "cancelled", {
      what: "the session is ended",
    });
    await releaseModel(held);
  },
  WITHIN_MS,
);

test(
  "it sees with its own eyes, sends where it may, and everything that follows asks",
  async () => {
    await say("persons", script({ text: "private" }));
    await say("shared", script({ text: "for ann" }));
    await ask("/v1/conversations/shared/share", {
      method: "POST",
      body: JSON.stringify({ with: ["agent:ann"] }),
    });
    const id = crypto.randomUUID();
    const { waiting, call } = await annIsAsked(id);
    const asked = async (name: string, args: object) => await outcomeOf(await annAsks(call, name, args));
    const list = JSON.parse((await asked("sessions_list", {})).text) as { sessions: object[] };
    expect(list.sessions).toMatchObject([{ session: "shared", began_by: "anna" }]);
    expect(await asked("sessions_history", { session: "persons" })).toMatchObject({ status: "error" });
    expect((await asked("sessions_history", { session: "shared" })).text).toContain("for ann");
    // Not the conversation in which it was asked either.
    expect(await asked("session_status", { session: id })).toMatchObject({ status: "error" });
    expect(await asked("session_status", {})).toMatchObject({ status: "error" });
    const { agents } = JSON.parse((await asked("agents_list", {})).text) as { agents: object[] };
    expect(agents).toMatchObject([{ agent_id: "ann", status: "running" }, { agent_id: "pi" }]);

    bridge.onCall = () => ({ status: "success", result: "sounds" });
    const message = script({ calls: [on("pi", { action: "siren" })] }, { text: "$results" });
    const sent = await annAsks(call, "sessions_send", { session: "shared", message });
    const question = await until(async () => (await openQuestions())[0], { what: "the siren is asked for" });
    expect(question.conversation).toBe("shared");
    // It is shown where ann was asked, too.
    expect((await turnsOf(id))[0]?.questions).toMatchObject([{ id: question.id }]);
    await answerQuestion(question.id, "deny");
    expect((await outcomeOf(sent)).text).toContain("anna said no");
    await annReports(call, "done");
    await waiting;
  },
  WITHIN_MS,
);

test(
  "in a conversation that others read or write, it reaches only the sessions that it began there",
  async () => {
    await say("shared", script({ text: "for ann" }));
    const share = (id: string, names: string[]) =>
      ask(`/v1/conversations/${id}/share`, { method: "POST", body: JSON.stringify({ with: names }) });
    await share("shared", ["agent:ann"]);
    const id = crypto.randomUUID();
    const { waiting, call } = await annIsAsked(id);
    const status = async (name: string, args: object) =>
      (await outcomeOf(await annAsks(call, name, args))).status;
    const task = script({ text: "42" });
    const own = await annAsks(call, "sessions_spawn", { task, timeout_seconds: 60 });
    await outcomeOf(own);
    const looks = async () => [
      await status("sessions_list", {}),
      await status("sessions_history", { session: "shared" }),
      await status("sessions_history", { session: `session-${own}` }),
    ];
    expect(await looks()).toEqual(["success", "success", "success"]);
    await share(id, ["gus"]);
    expect(await looks()).toEqual(["error", "error", "success"]);
    await annReports(call, "done");
    await waiting;
    // Gus wrote here: it stays so when it is shared no longer.
    await say(id, script({ text: "hello" }), { token: TOKENS.guest });
    await share(id, []);
    const again = await annIsAsked(id);
    expect((await outcomeOf(await annAsks(again.call, "sessions_list", {}))).status).toBe("error");
    await annReports(again.call, "done");
    await again.waiting;
  },
  WITHIN_MS,
);

test(
  "another's session cannot be taken by its id",
  async () => {
    const id = crypto.randomUUID();
    const { call } = await annIsAsked(id);
    const theirs = crypto.randomUUID();
    await say(`session-${theirs}`, script({ text: "not for ann" }));
    await annAsks(call, "sessions_spawn", { task: "x" }, theirs);
    expect(await outcomeOf(theirs)).toMatchObject({
      status: "error",
      text: "Error: That id is in use. Nothing was done.",
    });
  },
  WITHIN_MS,
);

test(
  "after a command of the API there is no conversation to tell: ann waits, or looks itself",
  async () => {
    const held = crypto.randomUUID();
    const body = JSON.stringify({ command: "prompt", payload: { prompt: "look" } });
    const made = ask("/v1/agents/ann/commands", { method: "POST", body });
    const { id: call } = await until(() => bridge.calls()[0], { what: "ann's call" });
    const spawn = async (label: string, more: object) => {
      const task = script({ hold: held, step: { text: "42" } });
      return await annAsks(call, "sessions_spawn", { task, label, ...more });
    };
    const waited = await spawn("waited", { timeout_seconds: 600 });
    const free = await spawn("free", {});
    expect((await outcomeOf(free)).text).toContain("session_status says when it has ended");
    await sessionNamed("waited");
    await sessionNamed("free");
    await releaseModel(held);
    expect(await outcomeOf(waited)).toMatchObject({ text: "42" });
    const isIdle = async () => {
      const look = await annAsks(call, "session_status", { session: `session-${free}` });
      return JSON.parse((await outcomeOf(look)).text).status === "idle";
    };
    await until(isIdle, { what: "it is idle" });
    await annReports(call, "done");
    expect((await made).status).toBe(200);
  },
  WITHIN_MS,
);
