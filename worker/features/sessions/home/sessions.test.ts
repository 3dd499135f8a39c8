/** The session tools of a conversation's model. sessions-crash.test.ts stops the objects meanwhile. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { modelRequest, releaseModel } from "../../../../test/model-requests.ts";
import { type Step, script } from "../../../../test/scripted-model.ts";
import {
  calls,
  endedTurns,
  gatewayLines,
  sessionNamed,
  spawn,
  spawned,
  tool,
} from "../../../../test/sessions.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import {
  answerQuestion,
  cancel,
  openQuestions,
  questionOf,
  results,
  turnsOf,
} from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";

const WITHIN_MS = 20_000;

beforeEach(() => setVariables({ GATEWAY_TOOLS: "sessions" }));
// Each test has its own home.
afterEach(reset);

const newId = () => crypto.randomUUID();

/** A step that took these tokens, and asks for the list of sessions. */
function costing(tokens: number): Step {
  const delta = { tool_calls: [{ index: 0, id: "c", function: { name: "sessions_list", arguments: "{}" } }] };
  const chunks = [
    { choices: [{ index: 0, delta, finish_reason: "tool_calls" }] },
    { choices: [], usage: { prompt_tokens: tokens, completion_tokens: 0 } },
  ];
  return { raw: `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n` };
}

describe("sessions_spawn", () => {
  test(
    "begins a conversation of its own, and its end is a message in the one that began it",
    async () => {
      const id = newId();
      const task = script({ text: "the sum is 42" });
      const steps = [{ text: "begun: $results" }, { text: "told: $notes" }];
      const { body } = await say(id, script(spawn(task, { label: "sums" }), ...steps));
      expect(body.answer).toMatch(/^begun: Accepted: session session-\S+ is at work\./);
      const turns = await endedTurns(id, 2);
      expect(turns[1]?.answer).toMatch(
        /^told: \[edgecall\] The session session-\S+ \("sums"\) has ended\. Its answer:\nthe sum is 42$/,
      );
      // Its result took the place of "accepted", with what it used.
      expect(turns[0]).toMatchObject({
        calls: [{ name: "sessions_spawn", status: "success", result: "the sum is 42" }],
        agents_usage: { input_tokens: 10, output_tokens: 5 },
      });
      const session = await sessionNamed("sums");
      expect(await turnsOf(session)).toMatchObject([{ text: task, answer: "the sum is 42", status: "done" }]);
      const asked = await modelRequest(task);
      expect(JSON.stringify(asked?.messages[0])).toContain("You are given one task by another agent");
      expect(await gatewayLines()).toEqual([["sessions_spawn", "success"]]);
    },
    WITHIN_MS,
  );

  test(
    "with timeout_seconds it answers at once, and there is no message",
    async () => {
      const id = newId();
      const task = script({ text: "42" });
      const { body } = await say(id, script(spawn(task, { timeout_seconds: 60 }), results));
      expect(body).toMatchObject({ status: "done", answer: "42" });
      // The session knows that its end was told, so nothing more comes.
      expect(await turnsOf(id)).toHaveLength(1);
    },
    WITHIN_MS,
  );

  test(
    "that is at work after timeout_seconds goes on, and its end is a message",
    async () => {
      const [id, held] = [newId(), newId()];
      const task = script({ hold: held, step: { text: "late" } });
      const asked = script(spawn(task, { timeout_seconds: 1 }), { text: "$results" }, { text: "$notes" });
      const { body } = await say(id, asked);
      expect(body.answer).toMatch(/^Accepted: session \S+ is at work/);
      await releaseModel(held);
      const turns = await endedTurns(id, 2);
      expect(turns[1]?.answer).toMatch(/has ended\. Its answer:\nlate$/);
    },
    WITHIN_MS,
  );

  test(
    "three sessions may be above one, and no more",
    async () => {
      const within = (task: string) => script(spawn(task, { timeout_seconds: 100 }), results);
      const { body } = await say(newId(), within(within(within(within(script({ text: "too deep" }))))));
      expect(body.answer).toContain("Error: There are 3 sessions above this already, which is the most.");
      expect(await spawned()).toHaveLength(3);
    },
    WITHIN_MS,
  );

  test(
    "five may run at once, the sixth of a reply is refused, and a failed one counts for nothing",
    async () => {
      const [id, held] = [newId(), newId()];
      const task = () => tool("sessions_spawn", { task: script({ hold: held, step: { text: "x" } }) });
      const wrong = tool("sessions_spawn", { task: "x", model: "none" });
      const made = [wrong, task(), task(), task(), task(), task(), task()];
      const { body } = await say(id, script(calls(...made), { text: "begun" }));
      expect(body.calls.map(({ status }) => status)).toEqual([
        "error",
        "success",
        "success",
        "success",
        "success",
        "success",
        "error",
      ]);
      expect(body.calls.at(-1)?.error).toContain("5 sessions that were begun here have not ended");
      expect(body.calls[0]?.error).toContain("There is no model 'none', only");
      await releaseModel(held);
    },
    WITHIN_MS,
  );

  test("twenty are begun in an hour", async () => {
    const made = () => tool("sessions_spawn", { task: script({ text: "x" }), timeout_seconds: 100 });
    const five = () => calls(made(), made(), made(), made(), made());
    const text = script(five(), five(), five(), five(), calls(made()), { text: "done" });
    const { body } = await say(newId(), text);
    expect(body.calls.filter(({ status }) => status === "success")).toHaveLength(20);
    expect(body.calls.at(-1)?.error).toContain("20 sessions were begun here in the last hour");
  }, 30_000);

  test(
    "ends when its budget is used up, and says so to the one that began it",
    async () => {
      const task = script(costing(1_500), { text: "never said" });
      const more = { timeout_seconds: 60, budget_tokens: 1_000, label: "dear" };
      const { body } = await say(newId(), script(spawn(task, more), { text: "heard $results" }));
      expect(body.answer).toContain("The budget of this session is used up: 1500 of 1000 tokens.");
      expect(body).toMatchObject({ agents_usage: { input_tokens: 1_500 } });
      const [turn] = await turnsOf(await sessionNamed("dear"));
      expect(turn).toMatchObject({ status: "failed", error: { code: "budget" } });
    },
    WITHIN_MS,
  );

  test(
    "gets no more than its conversation has left, and sessions that run keep theirs",
    async () => {
      setVariables({ GATEWAY_TOOLS: "sessions", BUDGET_CONVERSATION_TOKENS: "4000" });
      const held = newId();
      const task = () => script({ hold: held, step: { text: "x" } });
      const all = spawn(task(), { budget_tokens: 100_000, label: "all" });
      const { body } = await say(newId(), script(all, spawn(task()), { text: "done" }));
      expect(body.calls.map(({ status }) => status)).toEqual(["success", "error"]);
      expect(body.calls[1]?.error).toContain("The budget here has too little left for a session");
      const info = await say(
        newId(),
        script(calls(tool("session_status", { session: await sessionNamed("all") })), results),
      );
      expect(JSON.parse(info.body.answer).tokens_left).toBeLessThan(4_000);
      await releaseModel(held);
    },
    WITHIN_MS,
  );

  test(
    "the limits of the caller hold in it, and may be narrower",
    async () => {
      const bridge = await TestBridge.connect([
        agent("pi", { tools: [CPU, SIREN] }),
        agent("nas", { tools: [CPU] }),
      ]);
      bridge.onCall = () => ({ status: "success", result: "fine" });
      const on = (agent_id: string, action: string) => ({ arguments: { agent_id, action } });
      const task = script({ calls: [on("pi", "siren"), on("nas", "cpu"), on("pi", "cpu")] }, results);
      const limits = { timeout_seconds: 60, reads_only: true, agents: ["pi"] };
      const { body } = await say(newId(), script(spawn(task, limits), results));
      const [only] = body.calls;
      expect(only?.calls).toMatchObject([
        { agent: "pi", action: "siren", error_type: "permission_denied" },
        { agent: "nas", action: "cpu", error_type: "permission_denied" },
        { agent: "pi", action: "cpu", status: "success" },
      ]);
      expect(bridge.calls().map(({ agent: to }) => to)).toEqual(["pi"]);
    },
    WITHIN_MS,
  );

  test(
    "a stranger's text taints its task, its answer and what follows from it",
    async () => {
      const bridge = await TestBridge.connect([
        agent("pi", { features: ["tool", "prompt", "cancel", "ack"], tools: [CPU, SIREN] }),
        agent("nas", { tools: [CPU] }),
      ]);
      bridge.onCall = () => ({ status: "success", result: "fine" });
      const on = (agent_id: string, action: string) => ({ arguments: { agent_id, action } });
      const sounding = () => script({ calls: [on("pi", "siren")] }, results);
      // The task has nas's words: the session asks.
      const id = newId();
      const first = say(
        id,
        script({ calls: [on("nas", "cpu")] }, spawn(sounding(), { timeout_seconds: 60 }), results),
      );
      const question = await until(async () => (await openQuestions())[0], {
        what: "the siren is asked for",
      });
      expect(question.conversation).toMatch(/^session-/);
      await answerQuestion(question.id, "deny");
      expect((await first).body.answer).toContain("it was not approved");
      // A clean one does not, and what it read taints the one that began it.
      const reading = script({ calls: [on("nas", "cpu")] }, results);
      const other = newId();
      const text = script(spawn(reading, { timeout_seconds: 60 }), { calls: [on("pi", "siren")] }, results);
      const second = say(other, text);
      const asked = await questionOf(other);
      await answerQuestion(asked.id, "approve");
      expect((await second).body.answer).toContain("fine");
      const clean = await say(newId(), script(spawn(sounding(), { timeout_seconds: 60 }), results));
      expect(clean.body.answer).toContain("fine");
    },
    WITHIN_MS,
  );

  test(
    "an approval in it is shown where it was begun too, also when that turn is over, and closed there",
    async () => {
      const bridge = await TestBridge.connect([
        agent("pi", { features: ["tool", "prompt", "cancel", "ack"], tools: [CPU, SIREN] }),
        agent("nas", { tools: [CPU] }),
      ]);
      bridge.onCall = () => ({ status: "success", result: "fine" });
      const on = (agent_id: string, action: string) => ({ arguments: { agent_id, action } });
      const task = script({ calls: [on("nas", "cpu")] }, { calls: [on("pi", "siren")] }, { text: "sounded" });
      const id = newId();
      const { body } = await say(
        id,
        script(spawn(task, { label: "siren" }), { text: "begun" }, { text: "$notes" }),
      );
      expect(body.status).toBe("done");
      const session = await sessionNamed("siren");
      const question = await questionOf(session);
      const shown = async () => (await turnsOf(id))[0]?.questions ?? [];
      expect(await shown()).toMatchObject([{ id: question.id, agent: "pi" }]);
      expect((await turnsOf(session))[0]?.questions).toMatchObject([{ id: question.id }]);
      await answerQuestion(question.id, "approve");
      const turns = await endedTurns(id, 2);
      expect(turns[1]?.answer).toMatch(/sounded$/);
      expect(await shown()).toMatchObject([{ answer: "approve", answered_by: "anna" }]);
    },
    WITHIN_MS,
  );

  test(
    "a cancel ends the session that a turn waits for, and none that goes on by itself",
    async () => {
      const [id, held] = [newId(), newId()];
      const task = script({ hold: held, step: { text: "x" } });
      const begun = tool("sessions_spawn", {
        task: script({ hold: held, step: { text: "free" } }),
        label: "free",
      });
      const waits = tool("sessions_spawn", { task, label: "waited", timeout_seconds: 600 });
      const waiting = say(id, script(calls(begun, waits), { text: "never" }, { text: "$notes" }));
      const [free, waited] = [await sessionNamed("free"), await sessionNamed("waited")];
      expect((await cancel(id)).status).toBe(200);
      expect((await waiting).body).toMatchObject({ status: "cancelled" });
      await until(async () => (await turnsOf(waited))[0]?.status === "cancelled", {
        what: "it is cancelled",
      });
      expect((await turnsOf(free))[0]?.status).toBe("running");
      await releaseModel(held);
      await endedTurns(id, 2);
      expect((await turnsOf(free))[0]).toMatchObject({ status: "done", answer: "free" });
    },
    WITHIN_MS,
  );

  test(
    "one that is deleted tells the one that waits; sessions are deleted with the one that began them",
    async () => {
      const [id, held] = [newId(), newId()];
      const task = script({ hold: held, step: { text: "x" } });
      const waiting = say(id, script(spawn(task, { label: "gone", timeout_seconds: 600 }), results, results));
      const gone = await sessionNamed("gone");
      expect((await ask(`/v1/conversations/${gone}`, { method: "DELETE" })).status).toBe(204);
      expect((await waiting).body.answer).toContain("Cancelled.");
      expect(await turnsOf(gone)).toEqual([]);

      const [parent, inner] = [newId(), script({ hold: held, step: { text: "x" } })];
      const outer = script(spawn(inner, { label: "inner" }), { text: "begun" });
      await say(parent, script(spawn(outer, { label: "outer", timeout_seconds: 60 }), results));
      const [first, second] = [await sessionNamed("outer"), await sessionNamed("inner")];
      expect((await ask(`/v1/conversations/${parent}`, { method: "DELETE" })).status).toBe(204);
      for (const session of [parent, first, second]) expect(await turnsOf(session), session).toEqual([]);
      expect(await spawned()).toEqual([]);
      await releaseModel(held);
    },
    WITHIN_MS,
  );
});

describe("sessions_send", () => {
  test(
    "asks another conversation of the same person and waits for its answer",
    async () => {
      const [id, other] = [newId(), newId()];
      await say(other, script({ text: "hello" }));
      const message = script({ text: "the other one says 7" });
      const { body } = await say(
        id,
        script(calls(tool("sessions_send", { session: other, message })), results),
      );
      expect(body.answer).toBe("the other one says 7");
      expect(await turnsOf(other)).toMatchObject([{}, { text: message, answer: "the other one says 7" }]);
      expect(await gatewayLines()).toEqual([["sessions_send", "success"]]);
    },
    WITHIN_MS,
  );

  test(
    "does not wait with 0, takes OpenClaw's names, and the answer comes as a message",
    async () => {
      const [id, other] = [newId(), newId()];
      await say(other, script({ text: "hello" }));
      const args = { sessionKey: other, message: script({ text: "7" }), timeoutSeconds: 0 };
      await say(id, script(calls(tool("sessions_send", args)), { text: "sent" }, { text: "$notes" }));
      const turns = await endedTurns(id, 2);
      expect(turns[1]?.answer).toMatch(/has ended\. Its answer:\n7$/);
    },
    WITHIN_MS,
  );

  test(
    "reaches no other person's, no chat, not itself, and nothing that is not there",
    async () => {
      const mias = newId();
      await say(mias, script({ text: "mine" }), { token: TOKENS.member });
      const id = newId();
      const to = (session: string) => tool("sessions_send", { session, message: "hello" });
      const made = calls(to(mias), to(id), to("telegram/family.7"), to("never-begun"));
      // An owner may read mia's, and does not write to it by a model.
      const { body } = await say(id, script(made, { text: "done" }));
      expect(body.calls.map(({ error }) => error)).toEqual([
        expect.stringContaining("There is no session"),
        expect.stringContaining("That is this session itself."),
        expect.stringContaining("expected a session's id"),
        expect.stringContaining("There is no session 'never-begun'."),
      ]);
      expect(await turnsOf(mias)).toHaveLength(1);
    },
    WITHIN_MS,
  );
});

describe("the tools that read", () => {
  test(
    "sessions_list and sessions_history show what there is, and a conversation's status its state",
    async () => {
      const [id, other] = [newId(), newId()];
      await say(other, script({ text: "first answer" }));
      await say(other, script({ text: "second answer" }));
      const made = calls(
        tool("sessions_list", { active_minutes: 5 }),
        tool("sessions_history", { session: other, limit: 1 }),
        tool("session_status"),
        tool("session_status", { session: other }),
        tool("agents_list"),
      );
      const { body } = await say(id, script(made, { text: "done" }));
      const [list, history, own, status, agents] = body.calls.map(({ result }) => JSON.parse(result ?? "{}"));
      expect(list.sessions).toMatchObject([{ session: id, this: true }, { session: other }]);
      expect(history).toMatchObject({
        session: other,
        turns: [{ status: "done", answer: "second answer" }],
        before: expect.any(Number),
      });
      expect(own).toMatchObject({ session: id, status: "running", turns: 1 });
      expect(status).toMatchObject({ session: other, status: "idle", turns: 2, tokens: 30 });
      expect(agents).toEqual({ agents: [], of: 0 });
      // The words there taint.
      const before = calls(tool("sessions_history", { session: other, before: history.before }));
      const more = await say(id, script(before, results));
      expect(JSON.parse(more.body.answer).turns).toMatchObject([{ answer: "first answer" }]);
    },
    WITHIN_MS,
  );

  test(
    "agents_list pages, and says who is busy",
    async () => {
      const nas = agent("nas", { line: "storage" });
      const capabilities = JSON.stringify({ ...JSON.parse(nas.capabilities ?? "{}"), group: "stores" });
      const bridge = await TestBridge.connect([
        { ...nas, capabilities },
        agent("pi", { tools: [CPU, SIREN] }),
        agent("zero", { online: false }),
      ]);
      const cpu = { arguments: { agent_id: "pi", action: "cpu" } };
      const busy = say(newId(), script({ calls: [cpu] }, { text: "done" }));
      await until(() => bridge.calls().length > 0, { what: "pi is called" });
      const made = calls(
        tool("agents_list", { limit: 2 }),
        tool("agents_list", { after: "pi" }),
        tool("agents_list", { query: "storage" }),
        tool("agents_list", { group: "stores" }),
        tool("agents_list", { group: "lathes" }),
      );
      const { body } = await say(newId(), script(made, { text: "done" }));
      const [first, next, found, grouped, none] = body.calls.map(({ result }) => JSON.parse(result ?? "{}"));
      expect(first).toMatchObject({
        agents: [
          { agent_id: "nas", status: "idle", group: "stores", capabilities: "storage", actions: ["cpu"] },
          { agent_id: "pi", status: "running", actions: ["cpu", "siren"] },
        ],
        of: 3,
        after: "pi",
      });
      expect(next).toMatchObject({ agents: [{ agent_id: "zero", status: "offline" }] });
      expect(found).toMatchObject({ agents: [{ agent_id: "nas" }], of: 1 });
      expect(grouped).toMatchObject({ agents: [{ agent_id: "nas", group: "stores" }], of: 1 });
      expect(none).toEqual({ agents: [], of: 0 });
      bridge.report(bridge.calls()[0]?.id ?? "", "pi", { status: "success", result: "x" });
      await busy;
    },
    WITHIN_MS,
  );

  test(
    "session_status cancels a session of one's own, and no turn of the one that asks",
    async () => {
      const [id, held] = [newId(), newId()];
      const task = script({ hold: held, step: { text: "x" } });
      await say(id, script(spawn(task, { label: "held" }), { text: "begun" }, { text: "$notes" }));
      const session = await sessionNamed("held");
      const made = calls(
        tool("session_status", { session, cancel: true }),
        tool("session_status", { cancel: true }),
      );
      const { body } = await say(newId(), script(made, { text: "done" }));
      expect(body.calls).toMatchObject([
        { status: "success", result: `The turn of session ${session} has ended: cancelled.` },
        { status: "error", error: expect.stringContaining("A session cannot end its own turn.") },
      ]);
      const turns = await endedTurns(id, 2);
      expect(turns[1]?.answer).toContain("has ended. It did not succeed:\nCancelled.");
      await releaseModel(held);
    },
    WITHIN_MS,
  );
});

test(
  "a conversation that others read or write reaches only the sessions that it began",
  async () => {
    const [id, own] = [newId(), newId()];
    await say(own, script({ text: "private" }));
    const looks = () =>
      calls(
        tool("sessions_list"),
        tool("sessions_history", { session: own }),
        tool("sessions_send", { session: own, message: "hello" }),
      );
    const task = script({ text: "42" });
    await say(id, script(spawn(task, { label: "own", timeout_seconds: 60 }), results));
    const statuses = async (...steps: Step[]) =>
      (await say(id, script(...steps, { text: "done" }))).body.calls.map(({ status }) => status);
    expect(await statuses(looks())).toEqual(["success", "success", "success"]);
    const body = JSON.stringify({ with: ["gus"] });
    await ask(`/v1/conversations/${id}/share`, { method: "POST", body });
    expect(await statuses(looks())).toEqual(["error", "error", "error"]);
    const session = await sessionNamed("own");
    expect(await statuses(calls(tool("sessions_history", { session })))).toEqual(["success"]);
    // Gus wrote here: it stays so when it is shared no longer.
    await say(id, script({ text: "hello" }), { token: TOKENS.guest });
    await ask(`/v1/conversations/${id}/share`, { method: "POST", body: JSON.stringify({ with: [] }) });
    expect(await statuses(looks())).toEqual(["error", "error", "error"]);
  },
  WITHIN_MS,
);

test(
  "they are offered in conversations that go on and not where they are switched off",
  async () => {
    const offered = async (text: string) =>
      (await modelRequest(text))?.tools.map(({ function: { name } }) => name) ?? [];
    const names = [
      "agents_list",
      "session_status",
      "sessions_history",
      "sessions_list",
      "sessions_send",
      "sessions_spawn",
    ];
    const on = script({ text: "hello" });
    await say(newId(), on);
    expect(await offered(on)).toEqual(names);
    const once = script({ text: "hello" });
    await ask("/ask", { method: "POST", body: JSON.stringify({ text: once }) });
    expect(await offered(once)).toEqual([]);
    const openai = script({ text: "hello" });
    const body = JSON.stringify({ model: "scripted", messages: [{ role: "user", content: openai }] });
    await ask("/v1/chat/completions", { method: "POST", body });
    expect(await offered(openai)).toEqual([]);

    setVariables({ GATEWAY_TOOLS: "none" });
    const off = script(calls(tool("sessions_list")), results);
    const { body: answer } = await say(newId(), off);
    expect(await offered(off)).toEqual([]);
    expect(answer.answer).toContain("Tool 'sessions_list' not found.");
  },
  WITHIN_MS,
);
