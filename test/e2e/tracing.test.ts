// @module-tag needs/otel-collector
/** One question is one trace in a real collector, from the asker's own span to the tool on the device, and has nobody's words. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CollectedSpan, OtelCollector } from "../otel-collector.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import type { Turn } from "./gateway-client.ts";
import { useStack } from "./stack.ts";

const collector = await OtelCollector.make();
beforeAll(() => collector.start());
afterAll(() => collector.stop());

const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
const AGENT = "pi-in-the-cellar";
const stack = useStack({ vars: { ...env }, bridge: { ...env } }, async (stack) => {
  await stack.startAgent({
    id: AGENT,
    model: true,
    env: { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" },
    // By agent.toml here, and by the environment at the others.
    top: { trace: { endpoint: collector.url } },
  });
  await stack.gateway.online(AGENT);
});

const hex = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");

type Asked = { traceId: string; spanId: string; conversation: string; turn: Turn };

/** Asks as a program does that has a span of its own, and sends that span, too. */
async function ask(text: string, flags = "01"): Promise<Asked> {
  const [traceId, spanId, conversation] = [hex(16), hex(8), crypto.randomUUID()];
  const begun = BigInt(Date.now()) * 1_000_000n;
  const response = await stack.gateway.fetch(`/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body: JSON.stringify({ text }),
    headers: { traceparent: `00-${traceId}-${spanId}-${flags}` },
  });
  const first = (await response.json()) as Turn;
  const turn = first.status === "running" ? await stack.gateway.settled(conversation, first.turn) : first;
  const ended = BigInt(Date.now()) * 1_000_000n;
  const span = {
    traceId,
    spanId,
    name: "asker",
    kind: 3,
    startTimeUnixNano: String(begun),
    endTimeUnixNano: String(ended),
  };
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "asker" } }] };
  await fetch(`${collector.url}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }),
  });
  return { traceId, spanId, conversation, turn };
}

/** The spans of a trace, once it has as many. */
function traceOf(traceId: string, count: number): Promise<CollectedSpan[]> {
  const found = () => collector.spans().filter((span) => span.traceId === traceId);
  return until(() => (found().length >= count ? found() : undefined), {
    within: 10_000,
    what: `${count} spans of the trace`,
  }).catch((error: unknown) => {
    throw new Error(`${error}\n${tree(found()).join("\n")}`);
  });
}

/** Each span as a line below its parent, in the order of their beginnings. */
function tree(spans: readonly CollectedSpan[], below = "", depth = 0): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans
    .filter(({ parentId }) => (depth === 0 ? !ids.has(parentId) : parentId === below))
    .sort((a, b) => Number(a.startNs - b.startNs))
    .flatMap((span) => {
      const { service, scope, name, isError, message } = span;
      const line = `${"  ".repeat(depth)}${service}${scope && service.endsWith("gateway") ? `/${scope}` : ""}: ${name}`;
      return [`${line}${isError ? ` !${message}` : ""}`, ...tree(spans, span.spanId, depth + 1)];
    });
}

test("one question with a call is one trace of four programs", async () => {
  const asked = await ask(script(action(AGENT, "disk"), RESULTS));
  expect(asked.turn.status).toBe("done");
  const spans = await traceOf(asked.traceId, 10);
  expect(tree(spans)).toEqual([
    "asker: asker",
    "  edgecall-gateway/http: POST /v1/conversations/:id/messages",
    "    edgecall-gateway/conversation: invoke_agent edgecall",
    "      edgecall-gateway/conversation: chat scripted",
    "      edgecall-gateway/conversation: execute_tool edge_call",
    "        edgecall-gateway/home: home.call",
    "          edgecall-bridge: send evoclaw/agents/{agent}/commands",
    "            edgecall-agent: process tool",
    "              edgecall-agent: execute_tool disk",
    "      edgecall-gateway/conversation: chat scripted",
  ]);
  // All clocks are this machine's, so each span lies within its parent.
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  for (const span of spans) {
    const above = byId.get(span.parentId);
    expect(span.endNs).toBeGreaterThanOrEqual(span.startNs);
    if (!above || above.name === "asker") continue;
    expect(span.startNs, span.name).toBeGreaterThanOrEqual(above.startNs);
    expect(span.endNs, span.name).toBeLessThanOrEqual(above.endNs + 100_000_000n);
  }
  const ids = spans.flatMap(({ attributes }) => attributes["messaging.message.id"] ?? []);
  expect(new Set(ids)).toEqual(new Set([asked.turn.calls[0]?.id]));
});

test("a call that fails is an error at each program that knows, and the turn is none", async () => {
  const asked = await ask(script(action(AGENT, "read", { path: "no-such-file" }), RESULTS));
  expect(asked.turn.calls[0]).toMatchObject({ status: "error" });
  const type = asked.turn.calls[0]?.error_type;
  const spans = await traceOf(asked.traceId, 10);
  const failed = spans.filter(({ isError }) => isError);
  expect(failed.map(({ name, message }) => `${name} ${message}`).sort()).toEqual(
    ["execute_tool edge_call", "execute_tool read", "home.call", "process tool"].map(
      (name) => `${name} ${type}`,
    ),
  );
});

test("an agent's own model, its tools, and the time in which a person is asked are in the trace", async () => {
  const loop = ownLoop(AGENT, tool("append", { path: "note.txt", text: "milk and honey" }), {
    text: "written",
  });
  const asking = ask(script(loop, RESULTS));
  const question = await until(
    async () => {
      const response = await stack.gateway.fetch("/v1/questions");
      return ((await response.json()) as { questions: Array<{ id: string }> }).questions[0];
    },
    { within: 10_000, what: "the question" },
  );
  await stack.gateway.fetch(`/v1/questions/${question.id}`, {
    method: "POST",
    body: JSON.stringify({ answer: "deny" }),
  });
  const asked = await asking;
  const lines = tree(await traceOf(asked.traceId, 13)).map((line) => line.trim());
  expect(lines).toContain("edgecall-gateway/home: wait_for_approval");
  expect(lines).toContain("edgecall-agent: process prompt");
  expect(lines.filter((line) => line === "edgecall-agent: chat scripted")).toHaveLength(2);
  expect(lines).toContain("edgecall-agent: execute_tool append !permission_denied");
});

test("a call of an MCP client is a trace, too", async () => {
  const traceId = hex(16);
  const args = { agent_id: AGENT, action: "temperature" };
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "edge_call", arguments: args },
  };
  const response = await stack.gateway.fetch("/mcp", {
    method: "POST",
    body: JSON.stringify(call),
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
      traceparent: `00-${traceId}-${hex(8)}-01`,
    },
  });
  expect(await response.text()).toContain("result");
  expect(tree(await traceOf(traceId, 5))).toEqual([
    "edgecall-gateway/http: POST /mcp",
    "  edgecall-gateway/home: home.call",
    "    edgecall-bridge: send evoclaw/agents/{agent}/commands",
    "      edgecall-agent: process tool",
    "        edgecall-agent: execute_tool temperature",
  ]);
});

test("a trace that its asker does not record is not recorded by anybody, and no stranger begins one", async () => {
  const before = collector.spans().length;
  const asked = await ask(script(action(AGENT, "disk"), RESULTS), "00");
  const stranger = await fetch(`${stack.gateway.url}/v1/conversations/x/messages`, {
    method: "POST",
    headers: { traceparent: `00-${hex(16)}-${hex(8)}-01` },
  });
  expect(stranger.status).toBe(401);
  // The next trace comes whole, so what came before it has come.
  const next = await ask(script(action(AGENT, "disk"), RESULTS));
  await traceOf(next.traceId, 10);
  const after = collector.spans().slice(before);
  expect(after.filter(({ traceId }) => traceId === asked.traceId).map(({ name }) => name)).toEqual(["asker"]);
  expect(after.filter(({ traceId }) => traceId !== asked.traceId && traceId !== next.traceId)).toEqual([]);
});

test("no question, result, name of a person or device, and no id of a conversation or turn is in any span", async () => {
  const asked = await ask(
    script(action(AGENT, "temperature"), { text: "It is warm in the cellar: $results" }),
  );
  await traceOf(asked.traceId, 10);
  const all = collector.text();
  expect(asked.turn.answer).toContain("°C");
  for (const secret of [
    AGENT,
    "anna",
    asked.conversation,
    asked.turn.turn,
    TOKENS.owner,
    "milk and honey",
    "note.txt",
    "no-such-file",
    "warm in the cellar",
    "°C",
  ])
    expect(all, secret).not.toContain(secret);
});

test("a turn that goes on after the gateway was killed is one trace: what ended before hangs on the turn that ends after", async () => {
  const [traceId, conversation] = [hex(16), crypto.randomUUID()];
  const response = await stack.gateway.fetch(`/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body: JSON.stringify({ text: script(action(AGENT, "disk"), { hang: "before" }, RESULTS) }),
    headers: { accept: "text/event-stream", traceparent: `00-${traceId}-${hex(8)}-01` },
  });
  const turn = response.headers.get("edgecall-turn") ?? "";
  const named = (name: string) =>
    collector.spans().filter((span) => span.traceId === traceId && span.name === name);
  await until(() => named("execute_tool edge_call").length > 0, { within: 10_000, what: "the call's span" });
  await stack.worker.kill();
  await stack.startWorker();
  const ended = await stack.gateway.settled(conversation, turn);
  expect(ended.status).toBe("done");
  await until(() => named("invoke_agent edgecall").length > 0, { within: 10_000, what: "the turn's span" });
  const [invoked, ...more] = named("invoke_agent edgecall");
  expect(more).toEqual([]);
  expect(named("execute_tool edge_call").map(({ parentId }) => parentId)).toEqual([invoked?.spanId]);
});
