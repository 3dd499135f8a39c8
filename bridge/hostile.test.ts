/** Properties: for any published or sent input nothing throws, and only valid frames go to Home. */
import { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { TOPIC_KINDS } from "@edgecall/core/protocol/names.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Published } from "./broker/broker.ts";
import { Calls, TAKEN_AFTER_MS } from "./broker/calls.ts";
import { ForeignAgentQueue } from "./broker/foreign-agent-queue.ts";
import { Inbound } from "./broker/inbound.ts";
import { BROKER_GRACE_MS, Roster } from "./broker/presence.ts";
import { ReportBuffer } from "./broker/report-buffer.ts";
import { ReportVerifier } from "./broker/report-verifier.ts";
import { Counts } from "./counts.ts";
import { HomeOutbox } from "./gateway/outbox.ts";
import { snapshotFrames } from "./gateway/snapshot.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** The whole bridge without its two connections; it records every log line and every frame. */
function bench() {
  let now = 0;
  const sent: BridgeFrame[] = [];
  const logged: string[] = [];
  const log = (level: string, event: string, fields = {}) =>
    logged.push(JSON.stringify({ level, event, ...fields }));
  const roster = new Roster({ now: () => now, wall: () => now });
  const outcomes: Published[] = [
    { kind: "delivered", listening: true },
    { kind: "delivered", listening: false },
    { kind: "unsure" },
    { kind: "offline" },
  ];
  let turn = 0;
  const broker = {
    publish: () => Promise.resolve(outcomes[turn++ % outcomes.length] ?? { kind: "offline" as const }),
    get up() {
      return turn % 5 !== 4;
    },
  };
  const clock = { now: () => now, wall: () => now };
  const reports = new ReportBuffer(log);
  const gateway = {
    up: true,
    send: (frame: BridgeFrame, onSent?: () => void) => {
      sent.push(frame);
      onSent?.();
      return true;
    },
  };
  const outbox = new HomeOutbox({ gateway, roster, reports, counts: new Counts(), clock, log });
  // By now the broker's retained topics count as read, so the snapshot is sent at once.
  now = BROKER_GRACE_MS;
  outbox.welcomed({ texts: undefined, keyed: [], hasFlowControl: false });
  const stall = { arrival: () => now };
  const parts = { prefix: "evoclaw", log, clock, stall, roster, reports, broker, outbox };
  const foreign = new ForeignAgentQueue(parts);
  const calls = new Calls({ ...parts, foreign });
  const inbound = new Inbound({ ...parts, verifier: new ReportVerifier(), foreign, calls });
  inbound.acceptUnsolicited(["pi", "__proto__"]);
  const tick = (ms: number) => {
    now += ms;
    vi.advanceTimersByTime(ms);
    foreign.tick();
    calls.tick();
    outbox.sendChanges();
  };
  return { inbound, calls, roster, sent, logged, tick };
}

const id = fc.constantFrom("pi", "claw", "__proto__", "constructor", "a".repeat(64));
const callId = fc.oneof(fc.constantFrom("c1", "c2", "__proto__", ""), fc.uuid(), fc.string());
const field = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.jsonValue());

const nearly = fc.record(
  {
    agent_id: field,
    capabilities: fc.oneof(fc.string(), field),
    features: fc.oneof(fc.array(fc.string()), field),
    state: fc.oneof(fc.constantFrom("online", "offline"), field),
    boot_id: field,
    reason: field,
    hash: field,
    tools: fc.oneof(fc.array(fc.record({ name: fc.oneof(fc.string(), field) })), field),
    report_type: fc.oneof(fc.constantFrom("result", "error", "heartbeat", "metric"), field),
    payload: fc.oneof(fc.record({ request_id: fc.oneof(callId, field), pong: field }), field),
    type: fc.oneof(fc.constantFrom("accepted", "progress", "question", "event"), field),
    request_id: fc.oneof(callId, field),
    status: field,
    content: field,
  },
  { requiredKeys: [] },
);

const payload = fc.oneof(
  fc.string().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((text) => Buffer.from(text)),
  nearly.map((value) => Buffer.from(JSON.stringify(value))),
);

const topic = fc.oneof(
  fc.string(),
  fc.tuple(id, fc.constantFrom(...TOPIC_KINDS)).map(([agent, kind]) => `evoclaw/agents/${agent}/${kind}`),
  fc.string().map((text) => `evoclaw/agents/${text}`),
);

const command = fc.oneof(
  fc.string(),
  callId.map((request_id) => JSON.stringify({ command: "tool", payload: {}, request_id })),
);

const frame = fc.oneof(
  fc.record({
    t: fc.constant("call" as const),
    id: callId,
    agent: id,
    payload: command,
    expires_in_ms: fc.integer({ min: 0, max: 2 ** 53 - 1 }),
  }),
  callId.map((id) => ({
    t: "call" as const,
    id,
    agent: "claw",
    payload: JSON.stringify({ command: "prompt", payload: {}, request_id: id }),
    expires_in_ms: 30_000,
  })),
  fc.record({ t: fc.constant("publish" as const), agent: id, payload: command }),
  fc.record({ t: fc.constant("ack" as const), id: callId, agent: id, payload: command }),
);

const step = fc.oneof(
  fc.record({ kind: fc.constant("message" as const), topic, payload, retained: fc.boolean() }),
  fc.record({ kind: fc.constant("frame" as const), frame }),
  fc.record({ kind: fc.constant("time" as const), ms: fc.integer({ min: 0, max: 200_000 }) }),
  fc.record({ kind: fc.constant("broker" as const), up: fc.boolean() }),
);

test("any messages, frames, times and broker failures in any order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { inbound, calls, roster, sent, logged, tick } = bench();
      roster.brokerConnected();
      for (const step of steps) {
        if (step.kind === "message") inbound.message(step);
        else if (step.kind === "time") tick(step.ms);
        else if (step.kind === "broker") step.up ? roster.brokerConnected() : roster.brokerLost();
        else {
          const known = check(HomeFrame, step.frame);
          if (!known.ok) continue;
          if (known.value.t === "call") calls.call(known.value);
          else if (known.value.t === "publish") calls.publish(known.value);
          else if (known.value.t === "ack") calls.ack(known.value);
        }
      }
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(TAKEN_AFTER_MS);
      expect(logged.filter((line) => line.includes("bridge.internal_error"))).toEqual([]);
      for (const frame of [...sent, ...snapshotFrames(roster.snapshot())]) {
        expect(check(BridgeFrame, frame)).toMatchObject({ ok: true });
      }
    }),
    { numRuns: 1_000 },
  );
}, 30_000);

/** A call to a foreign agent that is open, and what its agent publishes on the topic of its reports. */
function openForeignCall(report: (id: string) => string) {
  const { inbound, calls, roster, sent, logged, tick } = bench();
  roster.brokerConnected();
  const topic = (kind: string) => `evoclaw/agents/claw/${kind}`;
  const say = (kind: string, text: string) =>
    inbound.message({ topic: topic(kind), payload: Buffer.from(text), retained: false });
  say("capabilities", JSON.stringify({ capabilities: "runs scripts" }));
  say("reports", JSON.stringify({ report_type: "heartbeat", payload: {} }));
  const id = "00000000-0000-4000-8000-000000000007";
  const payload = JSON.stringify({ command: "prompt", payload: { prompt: "list" }, request_id: id });
  calls.call({ t: "call", id, agent: "claw", payload, expires_in_ms: 60_000 });
  return {
    logged,
    async answered() {
      await vi.advanceTimersByTimeAsync(1);
      say("reports", report(id));
      tick(10);
      return sent.filter((frame) => frame.t === "report");
    },
  };
}

const large = (bytes: number, of: object) =>
  JSON.stringify({
    report_type: "result",
    payload: { status: "success", content: "x".repeat(bytes), ...of },
  });

test.each([
  ["a result above the bound", 500_000, (id: string) => large(500_000, { request_id: id })],
  ["one without an id, as older programs send it", 500_000, () => large(500_000, {})],
  ["one that is too large to be read", 3_000_000, (id: string) => large(3_000_000, { request_id: id })],
])("O7: %s ends the foreign agent's call at once, in words", async (_, bytes, report) => {
  const reports = await openForeignCall(report).answered();
  expect(reports).toHaveLength(1);
  const { payload } = JSON.parse((reports[0] as { payload: string }).payload);
  expect(payload).toMatchObject({ error_type: "outcome_unknown" });
  expect(payload.error).toMatch(
    new RegExp(
      `^Error: claw has answered, but its answer of ${Math.floor(bytes / 1024)
        .toString()
        .slice(0, 2)}\\d+ KB is too large`,
    ),
  );
});

test.each([
  ["a heartbeat", () => JSON.stringify({ report_type: "heartbeat", payload: { pad: "x".repeat(500_000) } })],
  ["no JSON", () => "x".repeat(500_000)],
])("O7: a report above the bound that is %s ends nothing", async (_, report) => {
  const call = openForeignCall(report);
  expect(await call.answered()).toEqual([]);
  expect(call.logged.join()).toContain("bytes, and 409600 are allowed");
});
