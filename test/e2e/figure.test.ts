/** A figure changes on the device, and with it the answer. The wire shows the command and the report. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { RESULTS, tool } from "./edge-calls.ts";
import { Observer, payloadOf } from "./observer.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "alex-eye", model: true });
  await stack.gateway.online("alex-eye");
});

/** The gateway's model asks the device in these words, and the device's own model calls the tool. */
async function ask(words: string, name: string) {
  const query = `${words}\n${script(tool(name), RESULTS)}`;
  const call = { calls: [{ arguments: { agent_id: "alex-eye", query } }] };
  return { query, turn: await stack.gateway.ask(script(call, RESULTS)) };
}

test("a question in words is answered with the device's own figure, and follows its changes", async () => {
  const before = await ask("How warm is the CPU?", "temperature");
  expect(before.turn).toMatchObject({ status: "done", answer: expect.stringContaining("48.3 °C") });
  expect((await stack.gateway.ask("How warm is alex-eye?")).answer).toContain("48.3 °C");

  writeFileSync(join(stack.rootOf("alex-eye"), "sys/class/thermal/thermal_zone0/temp"), "61234\n");
  const after = await ask("How warm is the CPU?", "temperature");
  expect(after.turn.answer).toContain("61.2 °C");
  expect(after.turn.answer).not.toContain("48.3");
  expect(after.turn.calls).toMatchObject([
    { name: "edge_call", agent: "alex-eye", query: after.query, status: "success" },
  ]);
  // The same without a model.
  const plain = await stack.gateway.ask("How warm is alex-eye?");
  expect(plain).toMatchObject({ model: "edgecall", calls: [{ agent: "alex-eye", status: "success" }] });
  expect(plain.answer).toContain("61.2 °C");
  expect(plain.answer).not.toContain("48.3");
});

test("an MQTT client sees the command and the report, with the documented fields", async () => {
  const observer = await Observer.start(stack.mqttUrl);
  try {
    const asked = Date.now();
    const { turn, query } = await ask("How much memory is in use?", "memory");
    const [command, ...more] = observer.commands("alex-eye", "prompt");
    expect(more).toEqual([]);
    expect(command?.retained).toBe(false);
    expect(command?.body).toMatchObject({
      command: "prompt",
      payload: { prompt: query, enable_tools: true },
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      expires_in_ms: expect.any(Number),
      expires_at: expect.any(Number),
      caller: { principal: "anna", role: "owner", channel: "api" },
      n: expect.any(Number),
    });
    expect(command?.body.expires_at).toBeGreaterThan(asked);

    const id = command?.body.request_id;
    const report = await observer.answerTo("alex-eye", id);
    expect(report.retained).toBe(false);
    expect(report.body).toMatchObject({
      agent_id: "alex-eye",
      agent_type: "monitor",
      report_type: "result",
      timestamp: expect.any(Number),
    });
    expect(payloadOf(report.body)).toMatchObject({
      status: "success",
      content: expect.stringMatching(/^RAM 50% used/),
      model: expect.any(String),
      agent_id: "alex-eye",
      calls: [{ name: "memory", status: "success" }],
      tools_executed: [{ tool: "memory", success: true }],
    });
    expect(turn.calls[0]?.result).toBe(payloadOf(report.body).content);
    // `accepted` is sent when the result takes longer; a prompt reports the tools that it uses.
    for (const { body } of observer.of("alex-eye", "events")) {
      expect(body).toMatchObject({ type: expect.stringMatching(/^(accepted|progress)$/), request_id: id });
    }
  } finally {
    await observer.stop();
  }
});

test("retained messages tell a new client which agents exist and what they can do", async () => {
  const observer = await Observer.start(stack.mqttUrl);
  try {
    const retained = (kind: string) => observer.of("alex-eye", kind).find((one) => one.retained)?.body;
    // The broker sends them one by one, in an order of its own.
    for (const kind of ["tools", "capabilities", "presence"])
      await expect.poll(() => retained(kind)).toBeDefined();
    expect(retained("capabilities")).toMatchObject({
      agent_id: "alex-eye",
      capabilities: expect.stringContaining("alex-eye sensor node"),
      agent_type: "monitor",
      version: expect.any(String),
      features: expect.arrayContaining(["tool", "prompt", "ack"]),
    });
    expect(retained("presence")).toMatchObject({ state: "online", boot_id: expect.any(String) });
    expect(retained("tools")).toMatchObject({ hash: expect.any(String), tools: expect.any(Array) });
    expect(retained("commands")).toBeUndefined();
    expect(retained("reports")).toBeUndefined();
  } finally {
    await observer.stop();
  }
});

test("G15 the gateway writes one JSON object a line", async () => {
  await ask("How much memory is in use?", "memory");
  expect(stack.worker.events("turn.ended").at(-1)).toMatchObject({ status: "done", iterations: 2 });
  const odd = stack.worker.lines.filter((line) => /turn\.|call\./.test(line) && !line.startsWith("{"));
  expect(odd).toEqual([]);
});
