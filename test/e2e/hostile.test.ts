/** Strangers send garbage on every topic while a turn runs: nothing crashes, and the turn is answered. */
import { Capabilities, Presence, ToolsAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { TOPIC_KINDS, type TopicKind } from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { GatewayClient } from "./gateway-client.ts";
import { Observer } from "./observer.ts";
import { useStack } from "./stack.ts";

const MESSAGES = 600;

const stack = useStack({ vars: { ALLOW_UNSIGNED_AGENTS: "*" } }, async (stack) => {
  await stack.startAgent({ id: "pi", model: true });
  await stack.gateway.online("pi");
});

/** Payloads in our form with arbitrary content. */
const lookalike = fc.record(
  {
    command: fc.oneof(fc.constantFrom("tool", "prompt", "cancel", "ack", "answer", "ping"), fc.string()),
    payload: fc.oneof(
      fc.jsonValue(),
      fc.record({ tool: fc.constantFrom("read", "disk", "nothing"), parameters: fc.jsonValue() }),
      fc.record({ request_id: fc.oneof(fc.uuid(), fc.jsonValue()), content: fc.jsonValue() }),
    ),
    request_id: fc.oneof(fc.uuid(), fc.jsonValue()),
    expires_in_ms: fc.oneof(fc.integer(), fc.jsonValue()),
    n: fc.jsonValue(),
    caller: fc.jsonValue(),
    agent_id: fc.jsonValue(),
    report_type: fc.oneof(fc.constantFrom("result", "error", "heartbeat", "skill_report"), fc.jsonValue()),
    capabilities: fc.oneof(fc.string(), fc.jsonValue()),
    features: fc.jsonValue(),
    hash: fc.jsonValue(),
    tools: fc.oneof(fc.jsonValue(), fc.array(fc.record({ name: fc.string(), parameters: fc.jsonValue() }))),
    state: fc.oneof(fc.constantFrom("online", "offline"), fc.jsonValue()),
    type: fc.oneof(fc.constantFrom("accepted", "progress", "question", "event"), fc.jsonValue()),
    text: fc.jsonValue(),
    timestamp: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

const payload: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 6, arbitrary: lookalike.map((value) => Buffer.from(JSON.stringify(value))) },
  { weight: 2, arbitrary: fc.json().map((text) => Buffer.from(text)) },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 600_000 }).map((size) => Buffer.alloc(size, "[")) },
);

const message = fc.record({
  agent: fc.constantFrom("pi", "mallory", "a".repeat(64), "a".repeat(65), "no such id"),
  kind: fc.constantFrom<TopicKind | "other">(...TOPIC_KINDS, "other"),
  payload,
  retain: fc.boolean(),
});

/**
 * A valid message about another agent, which any client of an open broker can send. The broker's access control has to
 * forbid that.
 */
function isValidForgery(kind: string, bytes: Buffer): boolean {
  const text = bytes.toString("utf8");
  if (kind === "capabilities") return text === "" || checkJson(Capabilities, text).ok;
  if (kind === "presence") return text === "" || checkJson(Presence, text).ok;
  if (kind === "tools") return text === "" || checkJson(ToolsAdvert, text).ok;
  return false;
}

test("on every topic", async () => {
  const observer = await Observer.start(stack.mqttUrl);
  try {
    const device = script(
      { hold: "storm", step: { calls: [{ name: "memory", arguments: {} }] } },
      {
        text: "$results",
      },
    );
    const asking = stack.gateway.ask(
      script({ calls: [{ arguments: { agent_id: "pi", query: device } }] }, { text: "$results" }),
    );
    await until(() => observer.commands("pi", "prompt").length === 1, {
      what: "the question is at the device",
    });

    const messages = fc
      .sample(message, MESSAGES)
      .filter(({ agent, kind, payload }) => agent !== "pi" || !isValidForgery(kind, payload));
    await Promise.all(
      messages.map(({ agent, kind, payload, retain }) =>
        observer.client.publishAsync(`evoclaw/agents/${agent}/${kind}`, payload, { qos: 1, retain }),
      ),
    );
    // Both come after all garbage: a new agent at bridge and gateway, and the ping at the agent.
    const last = await PlayedAgent.own("last", stack.mqttUrl);
    await stack.gateway.online("last").finally(() => last.stop());
    expect((await stack.gateway.command("pi", "ping")).body).toMatchObject({ payload: { pong: true } });
    stack.model.release("storm");
    expect(await asking).toMatchObject({ status: "done", answer: expect.stringContaining("RAM 50% used") });
  } finally {
    await observer.stop();
  }
  expect([stack.bridge, stack.worker, stack.agent("pi")].every(({ running }) => running)).toBe(true);
  expect(stack.bridge.events("bridge.internal_error")).toEqual([]);
  expect(stack.agent("pi").events("command.failed")).toEqual([]);
  expect(
    stack.worker.lines.filter((line) => /event: '[^']*(failed|error)|Error\b|exception/.test(line)),
  ).toEqual([]);
});

test("a token of one home gets nothing of another home", async () => {
  const other = new GatewayClient(stack.gateway.url, TOKENS.otherHome);
  await stack.gateway.ask(script({ text: "ours" }), "private");
  expect(await other.agents()).toEqual([]);
  expect((await other.fetch("/v1/agents/pi")).status).toBe(404);
  expect((await other.fetch("/v1/conversations/private")).status).toBe(404);
  expect((await other.command("pi", "ping")).status).toBe(404);
  const [turn] = await stack.gateway.turns("private");
  expect((await other.fetch(`/v1/conversations/private/turns/${turn?.turn}`)).status).toBe(404);
  expect((await stack.gateway.fetch("/v1/agents/pi")).status).toBe(200);
});
