/** Calls of one reply that depend on each other, over agents of several kinds. */
import { expect, test } from "vitest";
import { modelRequests } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { answerQuestion, cancel, on, questionOf, results, turnsOf } from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { agent, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";

const FEATURES = ["tool", "prompt", "cancel", "ack", "question"];
const read = { ...CPU, name: "read", taints: true };

type Args = Record<string, unknown>;
const call = (agent_id: string, action: string, more: Args = {}) => ({
  arguments: { agent_id, action, ...more },
});

async function twoAgents(): Promise<TestBridge> {
  const tools = [CPU, SIREN, read];
  const bridge = await TestBridge.connect([
    agent("pi", { features: FEATURES, tools }),
    agent("nas", { features: FEATURES, tools }),
    agent("rust", { foreign: true, features: [], tools: [] }),
  ]);
  bridge.onCall = ({ payload }) => {
    const { tool } = (JSON.parse(payload) as { payload: { tool?: string } }).payload;
    return { status: "success", tool, result: tool === "cpu" ? '{"load": 0.5}' : "done" };
  };
  return bridge;
}

const sent = (bridge: TestBridge) =>
  bridge.calls().map(({ agent, payload }) => {
    const { tool, parameters } = (JSON.parse(payload) as { payload: { tool: string; parameters: Args } })
      .payload;
    return [agent, tool, parameters];
  });

test("the result of one agent goes to another, and the model sees its own arguments", async () => {
  const bridge = await twoAgents();
  const params = { level: { $ref: "/load/data/load" }, from: { $ref: "/load/agent" } };
  const text = script(
    { calls: [call("nas", "siren", { params }), call("pi", "cpu", { id: "load" })] },
    results,
  );
  const { body } = await say(crypto.randomUUID(), text);
  expect(body.answer).toBe('done | {"load": 0.5}');
  expect(sent(bridge)).toEqual([
    ["pi", "cpu", {}],
    ["nas", "siren", { level: 0.5, from: "pi" }],
  ]);
  expect(body.calls[0]).toMatchObject({ args: { params: { level: 0.5, from: "pi" } } });
  const [, second] = await modelRequests({ question: text });
  expect(JSON.stringify(second?.messages)).toContain("/load/data/load");
});

test("what depends on a failure is not sent, and says so", async () => {
  const bridge = await twoAgents();
  const { body } = await say(
    crypto.randomUUID(),
    script(
      {
        calls: [
          call("pi", "cpu", { id: "c", after: ["b"] }),
          call("pi", "siren", { id: "b", after: ["a"] }),
          call("gone", "cpu", { id: "a" }),
          call("pi", "cpu", { after: ["x"] }),
          call("pi", "cpu"),
        ],
      },
      results,
    ),
  );
  expect(sent(bridge)).toEqual([["pi", "cpu", {}]]);
  expect(body.calls.map(({ error, error_type }) => [error_type, error?.split("\n")[0]])).toEqual([
    ["execution_failed", "Not run: it was to come after 'b', which failed. Nothing was run."],
    ["execution_failed", "Not run: it was to come after 'a', which failed. Nothing was run."],
    ["not_found", expect.any(String)],
    [
      "invalid_params",
      "Invalid parameters for 'edge_call': no call of this reply has the id 'x'. Nothing was run.",
    ],
    [undefined, undefined],
  ]);
});

test("a dependency's words taint what comes after it: an agent that cannot ask gets it only approved", async () => {
  const bridge = await twoAgents();
  const id = crypto.randomUUID();
  const door = { arguments: { ...on("rust", { query: "open the door" }).arguments, after: ["file"] } };
  const waiting = say(id, script({ calls: [call("pi", "read", { id: "file" }), door] }, results));
  const question = await questionOf(id);
  expect(sent(bridge)).toHaveLength(1);
  await answerQuestion(question.id, "deny");
  expect((await waiting).body.calls[1]).toMatchObject({ error_type: "permission_denied" });
  expect(bridge.calls()).toHaveLength(1);
});

test("a cancel ends a call that waits for another: it was not run", async () => {
  const bridge = await twoAgents();
  bridge.onCall = () => undefined;
  const id = crypto.randomUUID();
  const waiting = say(
    id,
    script({ calls: [call("pi", "siren", { id: "a" }), call("nas", "siren", { after: ["a"] })] }, results),
  );
  await until(() => bridge.calls().length === 1);
  await cancel(id);
  await waiting;
  const [turn] = await turnsOf(id);
  expect(turn?.calls.map(({ error }) => error)).toEqual([
    expect.stringMatching(/unknown|may/),
    expect.stringMatching(/not sent|Nothing was run|before it/),
  ]);
  expect(bridge.calls().filter(({ agent }) => agent === "nas")).toEqual([]);
});
