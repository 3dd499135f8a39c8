import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { describe, expect, test } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { until } from "../../../../test/wait.ts";
import {
  type Answer,
  agent,
  ask,
  type CallFrame,
  CPU,
  SIREN,
  say,
  TestBridge,
} from "../../../../test/workerd.ts";

const sound = { calls: [{ arguments: { agent_id: "pi", action: "siren", params: { loud: true } } }] };
const results = { text: "$results" };
const success = { status: "success", tool: "siren", result: "it sounds" };
const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "watch"];

type Asked = { id: string; text: string; approval?: unknown; conversation: string; options: string[] };

async function openQuestion(conversation: string): Promise<Asked> {
  return await until(async () => {
    const { questions } = (await (await ask("/v1/questions")).json()) as { questions: Asked[] };
    return questions.find((question) => question.conversation === conversation);
  });
}

function answer(id: string, text: string, token = TOKENS.owner): Promise<Response> {
  return ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer: text }), token });
}

/** An agent that asks before it sounds the siren, and obeys the answer. */
async function askingAgent(features = FEATURES, siren = SIREN) {
  const bridge = await TestBridge.connect([agent("pi", { features, tools: [CPU, siren] })]);
  let asking: CallFrame | undefined;
  const answers: unknown[] = [];
  bridge.onCall = (call) => {
    const command = JSON.parse(call.payload) as {
      command: string;
      payload: { tool: string; parameters: Record<string, unknown>; answer: string; hash?: string };
    };
    if (command.command === "answer" && asking) {
      answers.push(command.payload);
      bridge.report(call.id, "pi", { status: "answered" });
      const approved = command.payload.answer === "approve";
      bridge.report(
        asking.id,
        "pi",
        approved
          ? success
          : { status: "error", tool: "siren", error: "Error: not approved", error_type: "permission_denied" },
      );
      return undefined;
    }
    asking = call;
    void bridgeAsks(bridge, call.id, command.payload);
    return undefined;
  };
  return { bridge, answers };
}

async function bridgeAsks(
  bridge: TestBridge,
  id: string,
  { tool, parameters }: { tool: string; parameters: Record<string, unknown> },
  hash?: string,
) {
  const approval = {
    tool,
    parameters,
    reason: "the policy says ask",
    hash: hash ?? (await approvalHash("pi", tool, parameters)),
    // A device writes no card: what a person reads is the gateway's own.
    card: { verb: "Nothing", decline: "Yes", asker: "the owner", facts: [], shows: ["none"] },
  };
  const event = {
    type: "question",
    request_id: id,
    question_id: "q1",
    text: `May I run ${tool}?`,
    approval,
    expires_in_ms: 60_000,
  };
  bridge.send({ t: "event", id, agent: "pi", payload: JSON.stringify(event) });
}

const share = (conversation: string, names: string[]) =>
  ask(`/v1/conversations/${conversation}/share`, { method: "POST", body: JSON.stringify({ with: names }) });

describe("an approval", () => {
  test("parks the turn, shows exactly what would be run, and resumes the turn", async () => {
    const { answers } = await askingAgent();
    const turn = say("approve", script(sound, results));
    const question = await openQuestion("approve");
    expect(question).toMatchObject({
      agent: "pi",
      // The gateway's own sentence about what is hashed, whatever the device says of it.
      text: "Run siren on pi with 1 value?",
      approval: {
        tool: "siren",
        parameters: { loud: true },
        card: { verb: "Run", decline: "No", asker: "You asked", facts: [], partial: true },
      },
    });
    const response = await answer(question.id, "approve");
    expect(await response.json()).toMatchObject({ answer: "approve", answered_by: "anna" });
    const { body } = await turn;
    expect(body.answer).toBe("it sounds");
    expect(answers).toEqual([
      {
        question_id: "q1",
        answer: "approve",
        by: "anna",
        how: "token",
        hash: await approvalHash("pi", "siren", { loud: true }),
      },
    ]);
    // Several people may read the conversation.
    const own = { principal: "anna", text: "You asked", name: "anna" };
    expect(body).toMatchObject({
      questions: [
        {
          ...{ id: question.id, answer: "approve", answered_by: "anna" },
          approval: { card: { asker: "anna asked", own } },
        },
      ],
    });
  });

  test("of the same call, which may run again without harm, is asked once in a turn", async () => {
    const { answers } = await askingAgent(FEATURES, { ...SIREN, idempotent: true });
    const turn = say("twice", script(sound, sound, results));
    await answer((await openQuestion("twice")).id, "approve");
    const { body } = await turn;
    expect(body.calls.map(({ status }) => status)).toEqual(["success", "success"]);
    expect(body).toMatchObject({ questions: [{ answer: "approve", answered_by: "anna" }] });
    // The device gets the person's answer for each, with its hash.
    expect(answers).toHaveLength(2);
    expect(answers[1]).toEqual(answers[0]);
  });

  test("denied: nothing is run, and the model is told", async () => {
    await askingAgent();
    const turn = say("deny", script(sound, results));
    await answer((await openQuestion("deny")).id, "deny");
    expect((await turn).body.calls[0]?.error_type).toBe("permission_denied");
  });

  test("cannot be given by a token without the scope, twice, or in other words", async () => {
    await askingAgent();
    const turn = say("who", script(sound, results));
    const { id } = await openQuestion("who");
    expect((await answer(id, "approve", TOKENS.guest)).status).toBe(404);
    await share("who", ["gus"]);
    expect((await answer(id, "approve", TOKENS.guest)).status).toBe(403);
    expect((await answer(id, "approve", TOKENS.otherHome)).status).toBe(404);
    const wrong = await answer(id, "sure");
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({
      error: { message: "answer: expected one of 'approve', 'deny'" },
    });
    expect((await answer(id, "approve")).status).toBe(200);
    expect((await answer(id, "deny")).status).toBe(409);
    await turn;
  });

  test("whose hash does not match what is shown is never asked", async () => {
    const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [SIREN] })]);
    bridge.onCall = (call) => {
      void bridgeAsks(bridge, call.id, { tool: "siren", parameters: { loud: false } }, "0".repeat(64)).then(
        () => bridge.report(call.id, "pi", success),
      );
      return undefined;
    };
    const { body } = await say("hash", script(sound, results));
    expect(body).not.toHaveProperty("questions");
  });

  test.each(["evict", "abort"] as const)("survives an %s of everything", async (how) => {
    await askingAgent();
    const turn = say(`asked-${how}`, script(sound, results));
    const { id } = await openQuestion(`asked-${how}`);
    if (how === "evict") {
      await evictDurableObject(env.HOME.getByName("a"));
      await evictDurableObject(env.CONVERSATION.getByName(`a/api/asked-${how}`));
      await answer(id, "approve");
    } else {
      await abortAllDurableObjects();
      const again = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [SIREN] })]);
      const call = await until(() => again.calls()[0]);
      await answer(id, "approve");
      const told = await until(() =>
        again.calls().find(({ payload }) => JSON.parse(payload).command === "answer"),
      );
      again.report(told.id, "pi", { status: "answered" });
      again.report(call.id, "pi", success);
    }
    expect((await turn).body.answer).toBe("it sounds");
  });

  test("is closed when its call ends", async () => {
    const { bridge } = await askingAgent();
    const turn = say("closed", script(sound, results));
    const { id } = await openQuestion("closed");
    bridge.report(bridge.calls()[0]?.id ?? "", "pi", success);
    await turn;
    expect((await answer(id, "approve")).status).toBe(409);
  });
});

describe("a question", () => {
  test("accepts one of its options; repeated by the agent it is asked once", async () => {
    const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [SIREN] })]);
    bridge.onCall = (call) => {
      const command = JSON.parse(call.payload) as { command: string; payload: { answer: string } };
      if (command.command === "answer") {
        bridge.report(call.id, "pi", { status: "answered" });
        bridge.report(bridge.calls()[0]?.id ?? "", "pi", {
          status: "success",
          result: `you said ${command.payload.answer}`,
        });
        return undefined;
      }
      const event = {
        type: "question",
        request_id: call.id,
        question_id: "q2",
        text: "Which lamp?",
        options: ["left", "right"],
        expires_in_ms: 60_000,
      };
      for (let times = 0; times < 3; times += 1)
        bridge.send({ t: "event", id: call.id, agent: "pi", payload: JSON.stringify(event) });
      return undefined;
    };
    const turn = say("options", script(sound, results));
    const { id, options } = await openQuestion("options");
    expect(options).toEqual(["left", "right"]);
    expect((await answer(id, "middle")).status).toBe(400);
    expect((await answer(id, "left", TOKENS.guest)).status).toBe(404);
    await share("options", ["gus"]);
    // A plain question needs no approval right: a guest who reads the conversation may answer.
    expect((await answer(id, "left", TOKENS.guest)).status).toBe(200);
    const { body } = await turn;
    expect(body.answer).toBe("you said left");
    expect(body).toMatchObject({ questions: [{ id, answer: "left", answered_by: "gus" }] });
  });
});

describe("a stranger's text in the conversation", () => {
  const readFile = { ...CPU, name: "read", taints: true };
  test("is reported to agents of ours, which ask by themselves", async () => {
    const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [readFile, SIREN] })]);
    bridge.onCall = () => success;
    await say(
      "taint",
      script({ calls: [{ arguments: { agent_id: "pi", action: "read" } }] }, sound, results),
    );
    const [first, second] = bridge.calls().map(({ payload }) => JSON.parse(payload));
    expect(first.tainted).toBeUndefined();
    expect(second.tainted).toBe(true);
  });

  test("is none if the report says so, whatever the advert says about the tool", async () => {
    const canvas = { ...CPU, name: "canvas", taints: true };
    const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [canvas, SIREN] })]);
    bridge.onCall = () => ({ status: "success", tool: "canvas", result: "shown", tainted: false });
    const shows = { calls: [{ arguments: { agent_id: "pi", action: "canvas" } }] };
    await say("taint-none", script(shows, sound, results));
    expect(bridge.calls().map(({ payload }) => JSON.parse(payload).tainted)).toEqual([undefined, undefined]);
  });

  test("makes the gateway ask for an agent that cannot, before anything is sent", async () => {
    const bridge = await TestBridge.connect([agent("rust", { foreign: true, features: [], tools: [] })]);
    bridge.onCall = () => ({
      status: "success",
      content: "done",
      tools_executed: [{ tool: "read_file", success: true }],
    });
    const query = { calls: [{ arguments: { agent_id: "rust", query: "open the door" } }] };
    const turn = say("taint-foreign", script(query, query, results));
    const { id, approval } = await openQuestion("taint-foreign");
    expect(approval).toMatchObject({ tool: "prompt", parameters: { prompt: "open the door" } });
    expect(bridge.calls()).toHaveLength(1);
    await answer(id, "approve");
    const { body } = await turn;
    expect(body.answer).toBe("done | done");
    expect(bridge.calls()).toHaveLength(2);
    // The agent has no audit log of its own, so Home has one, with the person who approved.
    const line = {
      timestamp: expect.any(String),
      agent_id: "rust",
      tool: "prompt",
      parameters: expect.objectContaining({ prompt: "open the door" }),
      result: "success",
      exit_code: null,
      elapsed_ms: expect.any(Number),
      caller: expect.objectContaining({ principal: "anna", channel: "api" }),
    };
    const [first, second] = body.calls.map((call) => ({ ...line, call_id: call.id, request_id: call.id }));
    expect(await recordOf("rust", body)).toEqual([
      first,
      { ...second, approval: { approved: true, by: "anna", how: "token", at: expect.any(String) } },
    ]);
  });

  test("denied: the call is not sent", async () => {
    const bridge = await TestBridge.connect([agent("rust", { foreign: true, features: [], tools: [] })]);
    bridge.onCall = () => ({
      status: "success",
      content: "done",
      tools_executed: [{ tool: "read_file", success: true }],
    });
    const query = { calls: [{ arguments: { agent_id: "rust", query: "open the door" } }] };
    const turn = say("taint-denied", script(query, query, results));
    await answer((await openQuestion("taint-denied")).id, "deny");
    const { body } = await turn;
    expect(body.calls[1]?.error_type).toBe("permission_denied");
    expect(bridge.calls()).toHaveLength(1);
    expect((await recordOf("rust", body))[1]).toMatchObject({
      result: "error",
      error_type: "permission_denied",
      approval: { approved: false, by: "anna" },
    });
  });
});

/** Returns Home's audit lines of a turn's calls, in order. */
async function recordOf(agentId: string, { calls }: Answer): Promise<unknown[]> {
  const response = await ask(`/v1/audit?agent=${agentId}`);
  const { entries } = (await response.json()) as { entries: Array<{ call_id: string }> };
  return calls.flatMap(({ id }) => entries.filter(({ call_id }) => call_id === id));
}
