import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { modelRequests } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";

const cpu = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };
const success = { status: "success", tool: "cpu", result: "load 0.5" };

async function connected() {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU, SIREN] })]);
  bridge.onCall = () => success;
  return bridge;
}

describe("a turn", () => {
  test("is answered by the model alone when it calls no tool", async () => {
    await connected();
    const { status, body } = await say("plain", script({ text: "Hello." }));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: "done",
      answer: "Hello.",
      calls: [],
      usage: { input_tokens: 10, output_tokens: 5 },
    });
  });

  test("is one model call without tools where TOOL_LOOP_ENABLED is false", async () => {
    await connected();
    setVariables({ TOOL_LOOP_ENABLED: "false" });
    const question = script({ ...cpu, text: "I would ask pi." }, { text: "asked again" });
    const { body } = await say("no-loop", question);
    expect(body).toMatchObject({ status: "done", answer: "I would ask pi.", calls: [] });
    const requests = await modelRequests({ question });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.tools ?? []).toEqual([]);
    expect(JSON.stringify(requests[0]?.messages[0])).not.toContain("pi:");
  });

  test("asks a device in action mode and answers from its result", async () => {
    const bridge = await connected();
    const { body } = await say("action", script(cpu, { text: "It says: $results" }));
    expect(body.answer).toBe("It says: load 0.5");
    expect(body.calls).toMatchObject([
      { name: "edge_call", agent: "pi", action: "cpu", status: "success", result: "load 0.5" },
    ]);
    const command = JSON.parse(bridge.calls()[0]?.payload ?? "{}");
    expect(command).toMatchObject({
      command: "tool",
      payload: { tool: "cpu", parameters: {}, timeout_ms: 10_000 },
      request_id: body.calls[0]?.id,
      caller: { principal: "anna", role: "owner", channel: "api" },
    });
    await until(() => bridge.acks().includes(body.calls[0]?.id ?? ""), { what: "the report's ack" });
  });

  test("keeps the order of several calls, in whatever order their results arrive", async () => {
    const bridge = await connected();
    const held: string[] = [];
    bridge.onCall = (call) => {
      held.push(call.id);
      if (held.length === 3)
        for (const id of held.toReversed())
          bridge.report(id, "pi", { status: "success", tool: "cpu", result: `r${held.indexOf(id)}` });
      return undefined;
    };
    const three = {
      calls: [1, 2, 3].map((n) => ({ arguments: { agent_id: "pi", action: "cpu", params: { n } } })),
    };
    const { body } = await say("order", script(three, { text: "$results" }));
    expect(body.answer).toBe("r0 | r1 | r2");
  });

  test("is the same turn for the same Idempotency-Key", async () => {
    await connected();
    const text = script({ text: "once" }, { text: "twice" });
    const first = await say("idem", text, { headers: { "idempotency-key": "k1" } });
    const second = await say("idem", text, { headers: { "idempotency-key": "k1" } });
    expect(second.body).toEqual(first.body);
  });

  test("waits for the previous one", async () => {
    const bridge = await connected();
    bridge.onCall = () => undefined;
    const first = say("queue", script(cpu, { text: "first $results" }));
    await until(() => bridge.calls().length > 0);
    const second = say("queue", script({ text: "second" }));
    const call = bridge.calls()[0];
    bridge.report(call?.id ?? "", "pi", success);
    expect((await first).body.answer).toBe("first load 0.5");
    expect((await second).body.answer).toBe("second");
  });

  test("that is cancelled ends at once, and reports what is unknown", async () => {
    const bridge = await connected();
    bridge.onCall = () => undefined;
    const waiting = say("cancel", script(cpu, { text: "never" }));
    const call = await until(() => bridge.calls()[0]);
    const turns = await until(async () => {
      const response = await ask("/v1/conversations/cancel");
      return response.ok && ((await response.json()) as { turns: Array<{ turn: string }> }).turns;
    });
    const response = await ask(`/v1/conversations/cancel/turns/${turns[0]?.turn}/cancel`, { method: "POST" });
    expect(await response.json()).toMatchObject({
      status: "cancelled",
      calls: [{ id: call.id, error_type: "outcome_unknown" }],
    });
    expect((await waiting).body.status).toBe("cancelled");
    const cancel = await until(() => bridge.received.find((frame) => frame.t === "publish"));
    expect(JSON.parse(cancel.t === "publish" ? cancel.payload : "")).toMatchObject({
      command: "cancel",
      payload: { request_id: call.id },
    });
    // The next turn finds a valid history.
    bridge.onCall = () => success;
    expect((await say("cancel", script(cpu, { text: "$results" }))).body.answer).toBe("load 0.5");
  });
});

describe("a turn survives", () => {
  test.each(["evict", "abort"] as const)("an %s of the conversation while a device works", async (how) => {
    const bridge = await connected();
    bridge.onCall = () => undefined;
    const answer = say(`survive-${how}`, script(cpu, { text: "$results" }));
    const call = await until(() => bridge.calls()[0]);
    if (how === "evict") await evictDurableObject(env.CONVERSATION.getByName(`a/api/survive-${how}`));
    else await abortAllDurableObjects();
    const again = how === "abort" ? await connected() : bridge;
    again.report(call.id, "pi", success);
    const { body } = await answer;
    expect(body).toMatchObject({ status: "done", answer: "load 0.5" });
  });

  test("an abort while the model is being asked", async () => {
    await connected();
    const answer = say("survive-model", script({ hang: "before" }, { text: "second try" }));
    await until(async () => (await ask("/v1/conversations/survive-model")).ok);
    await abortAllDurableObjects();
    expect((await answer).body).toMatchObject({ status: "done", answer: "second try" });
  });
});

describe("a misbehaving model still leads to an answer", () => {
  const text = { text: "fine in the end" };
  const cases: Record<string, { steps: Parameters<typeof script>; answer: RegExp; status?: string }> = {
    "arguments as an object": {
      steps: [
        {
          raw: sse(
            {
              tool_calls: [
                {
                  index: 0,
                  id: "x",
                  function: { name: "edge_call", arguments: { agent_id: "pi", action: "cpu" } },
                },
              ],
            },
            "tool_calls",
          ),
        },
        { text: "$results" },
      ],
      answer: /load 0.5/,
    },
    "broken JSON arguments": {
      steps: [{ calls: [{ arguments: '{"agent_id": "pi", "action": ' }] }, { text: "$results" }],
      answer: /Invalid parameters/,
    },
    "missing call ids": {
      steps: [
        {
          raw: sse(
            {
              tool_calls: [
                { index: 0, function: { name: "edge_call", arguments: '{"agent_id":"pi","action":"cpu"}' } },
              ],
            },
            "stop",
          ),
        },
        { text: "$results" },
      ],
      answer: /load 0.5/,
    },
    "repeated call ids": {
      steps: [
        { calls: [{ id: "same", arguments: { agent_id: "pi", action: "cpu" } }] },
        { calls: [{ id: "same", arguments: { agent_id: "pi", action: "cpu" } }] },
        { text: "$results" },
      ],
      answer: /load 0.5 \| load 0.5/,
    },
    "an unknown tool": {
      steps: [{ calls: [{ name: "git_status", arguments: {} }] }, { text: "$results" }],
      answer: /Tool 'git_status' not found. Available tools: edge_call/,
    },
    "empty content": { steps: [{ text: "" }, text], answer: /fine/ },
    "a finish_reason that does not match": {
      steps: [{ raw: sse({ content: "fine" }, "tool_calls") }],
      answer: /fine/,
    },
    "a stream that breaks off": { steps: [{ breakOff: true }, text], answer: /fine/ },
    "429 with Retry-After": {
      steps: [{ status: 429, headers: { "retry-after": "1" } }, text],
      answer: /fine/,
    },
    "500": { steps: [{ status: 500 }, { status: 500 }, text], answer: /fine/ },
    "401 for ever": {
      steps: [{ status: 401, body: { error: { message: "bad key" } } }],
      answer: /could not get an answer from the model.*401: bad key/,
      status: "failed",
    },
    "500 for ever": {
      steps: [1, 2, 3, 4, 5].map(() => ({ status: 500 })),
      answer: /could not get an answer/,
      status: "failed",
    },
  };
  test.each(Object.entries(cases))("%s", async (name, { steps, answer, status = "done" }) => {
    await connected();
    const id = name.replace(/[^a-z0-9]/gi, "-");
    const { body } = await say(id, script(...steps));
    expect(body.answer).toMatch(answer);
    expect(body.status).toBe(status);
    // In each case the next call gets a valid history, because the endpoint answers 400 to any other.
    expect((await say(id, script({ text: "still here" }))).body.answer).toBe("still here");
  });
});

describe("limits", () => {
  test("ten model calls, then one without tools to sum up", async () => {
    await connected();
    const { body } = await say(
      "limit",
      script(...Array.from({ length: 10 }, () => cpu), { text: "in sum" }, { text: "never" }),
    );
    expect(body.answer).toBe("in sum");
    expect(body.calls).toHaveLength(10);
  });

  test("three failed batches in a row", async () => {
    const bridge = await connected();
    bridge.onCall = () => ({ status: "error", tool: "cpu", error: "broken", error_type: "execution_failed" });
    const { body } = await say("errors", script(cpu, cpu, cpu, { text: "it is broken" }, { text: "never" }));
    expect(body.answer).toBe("it is broken");
    expect(body.calls).toHaveLength(3);
  });
});

function sse(delta: Record<string, unknown>, finish: string): string {
  const chunk = (choice: unknown) => `data: ${JSON.stringify({ model: "scripted", choices: [choice] })}\n\n`;
  return `${chunk({ index: 0, delta })}${chunk({ index: 0, delta: {}, finish_reason: finish })}data: [DONE]\n\n`;
}
