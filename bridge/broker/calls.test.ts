import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { FOREIGN_COMMAND_MAX_BYTES } from "@edgecall/core/protocol/names.ts";
import { StallDetector, TICK_MS } from "@edgecall/node/stall-detector.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Counts } from "../counts.ts";
import { HomeOutbox } from "../gateway/outbox.ts";
import type { Published } from "./broker.ts";
import { type CallFrame, Calls, COMMAND_MAX_BYTES, TAKEN_AFTER_MS } from "./calls.ts";
import { ForeignAgentQueue } from "./foreign-agent-queue.ts";
import { Roster } from "./presence.ts";
import { ReportBuffer } from "./report-buffer.ts";

const HEARD: Published = { kind: "delivered", listening: true };
const settled = async () => {
  await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(TAKEN_AFTER_MS);
};
const noLog = () => {};

let now = 0;
let brokerUp: boolean;
let outcome: Published | Promise<Published>;
let published: { topic: string; payload: string; expiresInMs: number | undefined }[];
let sent: BridgeFrame[];
let roster: Roster;
let stall: StallDetector;
let reports: ReportBuffer;
let calls: Calls;

afterEach(() => void vi.useRealTimers());

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  now = 1_000;
  brokerUp = true;
  outcome = HEARD;
  published = [];
  sent = [];
  roster = new Roster({ now: () => now, wall: () => now });
  roster.brokerConnected();
  stall = new StallDetector({ afterMs: TICK_MS, now: () => now });
  reports = new ReportBuffer(noLog);
  const publish = (topic: string, payload: string, expiresInMs?: number) => {
    published.push({ topic, payload, expiresInMs });
    return Promise.resolve(outcome);
  };
  const log = noLog;
  const clock = { now: () => now, wall: () => now };
  const gateway = { up: true, send: (frame: BridgeFrame) => sent.push(frame) > 0 };
  const outbox = new HomeOutbox({ gateway, roster, reports, counts: new Counts(), clock, log });
  const broker = {
    publish,
    get up() {
      return brokerUp;
    },
  };
  const parts = { prefix: "evoclaw", log, clock, stall, roster, reports, broker, outbox };
  calls = new Calls({ ...parts, foreign: new ForeignAgentQueue(parts) });
  roster.advertised("pi", "{}", { capabilities: "", features: [] }, true);
  roster.onPresence("pi", "{}", { state: "online" }, true);
  roster.advertised("claw", "{}", { capabilities: "" }, true);
  roster.heartbeat("claw");
});

function callFrame(id: string, agent: string, over: Partial<CallFrame> = {}): CallFrame {
  const payload = JSON.stringify({ command: "tool", payload: {}, request_id: id });
  return { t: "call", id, agent, payload, expires_in_ms: 30_000, ...over };
}

/** Makes a payload with `bytes` bytes. */
function payloadOf(id: string, bytes: number): string {
  const empty = JSON.stringify({ command: "tool", payload: { pad: "" }, request_id: id }).length;
  return JSON.stringify({ command: "tool", payload: { pad: "x".repeat(bytes - empty) }, request_id: id });
}

describe("a call", () => {
  test("is published unchanged, and reported as taken when the broker has it", async () => {
    let ack: (published: Published) => void = () => {};
    outcome = new Promise((resolve) => {
      ack = resolve;
    });
    const payload = '{ "command":"tool","payload":{},  "request_id":"c1","sig":"é" }';
    calls.call(callFrame("c1", "pi", { payload }));
    await settled();
    expect(published).toEqual([{ topic: "evoclaw/agents/pi/commands", payload, expiresInMs: 30_000 }]);
    expect(sent).toEqual([]);
    ack(HEARD);
    await settled();
    expect(sent).toEqual([{ t: "taken", id: "c1" }]);
  });

  const refused: { name: string; code: string; frame: () => CallFrame; given?: () => void }[] = [
    { name: "no time left", code: "expired", frame: () => callFrame("c", "pi", { expires_in_ms: 0 }) },
    {
      name: "time that ran out while the bridge stood still",
      code: "expired",
      given: () => {
        now += 31_000;
        stall.tick();
      },
      frame: () => callFrame("c", "pi"),
    },
    {
      name: "the broker away",
      code: "broker_offline",
      given: () => {
        brokerUp = false;
      },
      frame: () => callFrame("c", "pi"),
    },
    {
      name: "the broker just gone",
      code: "broker_offline",
      given: () => {
        outcome = { kind: "offline" };
      },
      frame: () => callFrame("c", "pi"),
    },
    { name: "an unknown agent", code: "agent_offline", frame: () => callFrame("c", "nobody") },
    {
      name: "an offline agent",
      code: "agent_offline",
      given: () => roster.onPresence("pi", "{}", { state: "offline" }, true),
      frame: () => callFrame("c", "pi"),
    },
    {
      name: "nobody listening",
      code: "not_listening",
      given: () => {
        outcome = { kind: "delivered", listening: false };
      },
      frame: () => callFrame("c", "pi"),
    },
    {
      name: "a command too large for a foreign agent",
      code: "too_large",
      frame: () => callFrame("c", "claw", { payload: payloadOf("c", FOREIGN_COMMAND_MAX_BYTES + 1) }),
    },
    {
      name: "a command too large for the broker",
      code: "too_large",
      frame: () => callFrame("c", "pi", { payload: payloadOf("c", COMMAND_MAX_BYTES + 1) }),
    },
    { name: "no JSON", code: "invalid", frame: () => callFrame("c", "pi", { payload: "{" }) },
    {
      name: "another request_id",
      code: "invalid",
      frame: () => ({ ...callFrame("d", "pi"), id: "c" }),
    },
  ];
  test.each(refused)("with $name is refused: $code", async ({ code, frame, given }) => {
    given?.();
    calls.call(frame());
    await settled();
    expect(sent).toMatchObject([{ t: "refused", id: "c", code }]);
  });

  test("of exactly 9 KiB is accepted for a foreign agent", async () => {
    calls.call(callFrame("c", "claw", { payload: payloadOf("c", FOREIGN_COMMAND_MAX_BYTES) }));
    await settled();
    expect(sent).toEqual([{ t: "taken", id: "c" }]);
  });

  test("that is read a second after the bridge was stalled has its full time from then on", async () => {
    now += 31_000;
    stall.tick();
    now += TICK_MS;
    stall.tick();
    roster.heartbeat("pi");
    calls.call(callFrame("c", "pi"));
    await settled();
    expect(sent).toEqual([{ t: "taken", id: "c" }]);
  });
});

describe("a repeated call", () => {
  test("is published again for our own agent, whose ledger recognises it", async () => {
    calls.call(callFrame("c", "pi"));
    await settled();
    calls.call(callFrame("c", "pi"));
    await settled();
    expect(published).toHaveLength(2);
    expect(sent).toEqual([
      { t: "taken", id: "c" },
      { t: "taken", id: "c" },
    ]);
  });

  test("is never refused after it was published, whatever happened to the agent", async () => {
    calls.call(callFrame("c", "pi"));
    await settled();
    roster.onPresence("pi", "{}", { state: "offline" }, true);
    calls.call(callFrame("c", "pi"));
    roster.onPresence("pi", "{}", { state: "online" }, true);
    outcome = { kind: "delivered", listening: false };
    calls.call(callFrame("c", "pi"));
    await settled();
    expect(sent.map((frame) => frame.t)).toEqual(["taken", "taken", "taken"]);
  });

  test("whose first copy reached no agent is not refused while the agent may have the second", async () => {
    const acks: ((published: Published) => void)[] = [];
    const acked = () => new Promise<Published>((resolve) => acks.push(resolve));
    outcome = acked();
    calls.call(callFrame("c", "pi"));
    outcome = acked();
    calls.agentBack("pi");
    acks[0]?.({ kind: "delivered", listening: false });
    await settled();
    expect(sent).toEqual([]);
    acks[1]?.(HEARD);
    await settled();
    expect(published).toHaveLength(2);
    expect(sent).toEqual([{ t: "taken", id: "c" }]);
  });

  test("whose copies reached no agent is refused, once", async () => {
    outcome = { kind: "delivered", listening: false };
    calls.call(callFrame("c", "pi"));
    calls.agentBack("pi");
    await settled();
    expect(sent).toMatchObject([{ t: "refused", id: "c", code: "not_listening" }]);
  });

  test("is not published again for a foreign agent, answered or not", async () => {
    calls.call(callFrame("c", "claw"));
    await settled();
    calls.call(callFrame("c", "claw"));
    calls.foreignReport("claw", "c", "answer", {});
    calls.ack({ t: "ack", id: "c", agent: "claw" });
    calls.call(callFrame("c", "claw"));
    await settled();
    expect(published).toHaveLength(1);
    expect(sent.map((frame) => frame.t)).toEqual(["taken", "taken", "report", "taken"]);
  });

  test("whose report the bridge still has gets the report", async () => {
    calls.call(callFrame("c", "pi"));
    await settled();
    calls.ownReport("pi", "c", "answer");
    calls.call(callFrame("c", "pi"));
    await settled();
    const report = { t: "report", id: "c", agent: "pi", payload: "answer" };
    expect(sent).toEqual([{ t: "taken", id: "c" }, report, report]);
    expect(published).toHaveLength(1);
  });

  test("with another agent's id is refused", async () => {
    roster.advertised("zero", "{}", { capabilities: "", features: [] }, true);
    roster.onPresence("zero", "{}", { state: "online" }, true);
    calls.call(callFrame("c", "pi"));
    calls.call(callFrame("c", "zero"));
    await settled();
    expect(published).toHaveLength(1);
    expect(sent).toMatchObject([{ t: "refused", code: "invalid" }, { t: "taken" }]);
  });
});

describe("a lost connection to the broker", () => {
  test("leaves a call uncertain: it counts as taken, and is published again for our own agent while there is time", async () => {
    outcome = { kind: "unsure" };
    calls.call(callFrame("c", "pi"));
    calls.call(callFrame("short", "pi", { expires_in_ms: 1_000 }));
    calls.call(callFrame("f", "claw"));
    await settled();
    expect(sent.map((frame) => frame.t)).toEqual(["taken", "taken", "taken"]);
    outcome = HEARD;
    now += 2_000;
    calls.agentBack("pi");
    calls.agentBack("claw");
    await settled();
    expect(published.slice(3).map((message) => JSON.parse(message.payload).request_id)).toEqual(["c"]);
  });

  test("of an agent: open calls are published again, and answered ones are not", async () => {
    calls.call(callFrame("done", "pi"));
    calls.call(callFrame("open", "pi"));
    calls.ownReport("pi", "done", "answer");
    await settled();
    calls.agentBack("pi");
    expect(published.slice(2).map((message) => JSON.parse(message.payload).request_id)).toEqual(["open"]);
  });
});

describe("reports and acks", () => {
  test("a report is stored until it is acknowledged, and the acknowledgement is passed to the agent", async () => {
    calls.ownReport("pi", "c", "answer");
    expect(reports.all()).toEqual([{ id: "c", agent: "pi", payload: "answer" }]);
    calls.ack({ t: "ack", id: "c", agent: "pi", payload: '{"command":"ack"}' });
    expect(reports.all()).toEqual([]);
    expect(published).toMatchObject([{ topic: "evoclaw/agents/pi/commands", payload: '{"command":"ack"}' }]);
  });

  test("an acknowledgement for one agent keeps another agent's report with the same id", () => {
    calls.ownReport("pi", "c", "mine");
    calls.ownReport("thief", "c", "forged");
    calls.ack({ t: "ack", id: "c", agent: "thief" });
    expect(reports.all()).toMatchObject([{ agent: "pi", payload: "mine" }]);
  });

  test("a foreign agent gets no command that it does not know", async () => {
    const cancel = JSON.stringify({ command: "cancel", payload: {}, request_id: "x" });
    calls.publish({ t: "publish", agent: "claw", payload: cancel });
    calls.foreignReport("claw", "00000000-0000-4000-8000-000000000000", "late", {});
    calls.ack({ t: "ack", id: "00000000-0000-4000-8000-000000000000", payload: '{"command":"ack"}' });
    expect(published).toEqual([]);
    expect(reports.all()).toEqual([]);
    calls.publish({ t: "publish", agent: "pi", payload: cancel });
    expect(published).toHaveLength(1);
  });

  test("S19 an agent with endless reports displaces only its own", () => {
    const small = new ReportBuffer(noLog, 10_000);
    small.add({ id: "of the quiet", agent: "eye", payload: "x".repeat(100) });
    for (let n = 0; n < 500; n += 1) small.add({ id: `r${n}`, agent: "pi", payload: "x".repeat(100) });
    expect(small.get("eye", "of the quiet")).toBeDefined();
    expect(small.get("pi", "r499")).toBeDefined();
  });

  test("the buffer is bounded, and the oldest report is dropped first", () => {
    const small = new ReportBuffer(noLog, 100);
    for (const id of ["a", "b", "c"]) small.add({ id, agent: "pi", payload: "x".repeat(40) });
    expect(small.all().map((report) => report.id)).toEqual(["b", "c"]);
    small.add({ id: "b", agent: "pi", payload: "y" });
    expect(small.all().map((report) => report.id)).toEqual(["c", "b"]);
  });
});
