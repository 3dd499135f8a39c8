/** An agent without a model: a model at the gateway calls its tools by name. */
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { Observer, payloadOf } from "./observer.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "plain-pi" });
  await stack.gateway.online("plain-pi");
});

const call = (args: Record<string, unknown>) => ({ calls: [{ arguments: args }] });

test("the action names in the advert are enough for a direct call", {
  tags: ["needs/git", "needs/ripgrep", "needs/bubblewrap"],
}, async () => {
  const observer = await Observer.start(stack.mqttUrl);
  try {
    const question = script(call({ agent_id: "plain-pi", action: "temperature" }), {
      text: "It has $results",
    });
    const turn = await stack.gateway.ask(question);
    expect(turn).toMatchObject({
      status: "done",
      answer: "It has cpu-thermal: 48.3 °C",
      calls: [{ agent: "plain-pi", action: "temperature", status: "success" }],
    });
    const offered = stack.model.requests.at(-2)?.tools[0]?.function;
    expect(offered?.description).toMatch(
      /^Call an edge agent to handle a query using its own tools and sensors\. Online edge agents:\n {2}- plain-pi: .*\[has no model, only actions: .*\bcpu, .*\bmemory, .*, …\]$/,
    );
    const command = await until(() => observer.commands("plain-pi", "tool")[0]);
    expect(payloadOf(command.body)).toEqual({
      tool: "temperature",
      parameters: {},
      timeout_ms: 10_000,
    });
    const report = await observer.answerTo("plain-pi", command.body.request_id);
    expect(payloadOf(report.body)).toMatchObject({
      status: "success",
      tool: "temperature",
      result: "cpu-thermal: 48.3 °C",
      stderr: "",
      exit_code: 0,
      elapsed_ms: expect.any(Number),
    });
  } finally {
    await observer.stop();
  }
});

test("a question in words is answered with the list of actions, and the second call works", async () => {
  const turn = await stack.gateway.ask(
    script(
      call({ agent_id: "plain-pi", query: "How much memory is free?" }),
      call({ agent_id: "plain-pi", action: "memory" }),
      { text: "$results" },
    ),
  );
  expect(turn.calls).toMatchObject([
    {
      status: "error",
      error_type: "invalid_params",
      error: expect.stringMatching(/has no model.*use 'action'/),
    },
    { status: "success", action: "memory" },
  ]);
  expect(turn.calls[0]?.error).toMatch(/Actions of 'plain-pi': .*\bcpu, .*\bmemory\b/);
  expect(turn.answer).toContain("RAM 50% used");
});

test("wrong params are answered with the action's schema", async () => {
  const turn = await stack.gateway.ask(
    script(
      call({ agent_id: "plain-pi", action: "disk", params: { path: 7 } }),
      call({ agent_id: "plain-pi", action: "disk", params: { path: "/boot/firmware" } }),
      { text: "$results" },
    ),
  );
  expect(turn.calls).toMatchObject([
    { status: "error", error_type: "invalid_params", error: expect.stringContaining("Schema of 'disk'") },
    { status: "success" },
  ]);
});

test("thirty questions at once: each gets its own answer, and each call of a turn its own result", async () => {
  await stack.startAgent({ id: "wordy", model: true });
  await stack.gateway.online("wordy");
  const ask = async (n: number) => {
    const query = script({ calls: [{ name: "cpu", arguments: {} }] }, { text: `word ${n}` });
    const calls = [
      { arguments: { agent_id: "wordy", query } },
      { arguments: { agent_id: "plain-pi", action: n % 2 ? "memory" : "temperature" } },
    ];
    const turn = await stack.gateway.ask(script({ calls }, { text: "$results" }));
    expect(turn.answer).toMatch(n % 2 ? `word ${n} | RAM` : `word ${n} | cpu-thermal`);
  };
  await Promise.all(Array.from({ length: 30 }, (_, n) => ask(n)));
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
