import { randomUUID } from "node:crypto";
import { HEARTBEAT_LOST_MS, parseTopic } from "@edgecall/core/protocol/names.ts";
import { beforeEach, describe, expect, test } from "vitest";
import type { Published } from "./broker.ts";
import {
  FIRST_PROBE_AFTER_MS,
  ForeignAgentQueue,
  type ForeignCall,
  LATE_WITHIN_MS,
  PROBE_EVERY_MS,
  QUEUE_MAX,
} from "./foreign-agent-queue.ts";
import { Roster } from "./presence.ts";

const HEARD: Published = { kind: "delivered", listening: true };
const settled = () => new Promise((resolve) => setImmediate(resolve));

let now = 0;
let roster: Roster;
let queue: ForeignAgentQueue;
let outcome: Published;
let published: { agent: string; payload: string }[];
let answers: string[];
let retries: number[];
const DEAF_TO_CALLS = expect.stringMatching(/sends heartbeats but did not answer .* restart it/);

beforeEach(() => {
  now = 1_000;
  outcome = HEARD;
  published = [];
  answers = [];
  retries = [];
  roster = new Roster({ now: () => now, wall: () => now });
  roster.brokerConnected();
  queue = new ForeignAgentQueue({
    prefix: "evoclaw",
    clock: { now: () => now, wall: () => now },
    roster,
    broker: {
      up: true,
      publish: (topic, payload) => {
        published.push({ agent: parseTopic("evoclaw", topic)?.agentId ?? "", payload });
        return Promise.resolve(outcome);
      },
    },
    outbox: {
      accepted: (id) => answers.push(`taken ${id}`),
      refuse: ({ id }, code, _, retryAfterMs) => {
        answers.push(`${code} ${id}`);
        if (retryAfterMs !== undefined) retries.push(retryAfterMs);
      },
    },
  });
  heartbeat("claw");
  heartbeat("other");
});

function heartbeat(agent: string): void {
  roster.heartbeat(agent);
  queue.heartbeat(agent);
}

function call(id: string, options: Partial<ForeignCall> & { budget?: number } = {}): ForeignCall {
  const { budget = 30_000, ...rest } = options;
  return { id, agent: "claw", payload: id, command: "prompt", deadline: now + budget, ...rest };
}

/** Lets time pass as in the running bridge: a tick each second, and a heartbeat every 30 s from these agents. */
function pass(ms: number, beating: string[] = []): void {
  for (const end = now + ms; now < end; ) {
    now += Math.min(1_000, end - now);
    if (now % 30_000 < 1_000) for (const agent of beating) heartbeat(agent);
    queue.tick();
  }
}

const commands = () => published.map((message) => message.payload);
const probes = () => published.filter((message) => message.payload.includes('"command":"ping"'));

describe("one call at a time", () => {
  test("the others wait in order, and another agent's calls do not wait", async () => {
    queue.submit(call("a"));
    queue.submit(call("b"));
    queue.submit(call("x", { agent: "other" }));
    await settled();
    expect(commands()).toEqual(["a", "x"]);
    // All three within the 5 s that Home waits.
    expect(answers.sort()).toEqual(["taken a", "taken b", "taken x"]);
    expect(queue.answered("claw", "a", {})).toEqual({ id: "a" });
    expect(commands()).toEqual(["a", "x", "b"]);
  });

  test("the queue is bounded", async () => {
    queue.submit(call("open"));
    for (let i = 0; i < QUEUE_MAX; i++) queue.submit(call(`q${i}`));
    queue.submit(call("over"));
    await settled();
    expect(answers.filter((line) => line.startsWith("agent_busy"))).toEqual(["agent_busy over"]);
    expect(queue.has("over")).toBe(false);
  });

  test("a call that waits longer than its budget is refused as busy, and never published", async () => {
    queue.submit(call("open"));
    queue.submit(call("short", { budget: 5_000 }));
    pass(6_000);
    queue.answered("claw", "open", {});
    await settled();
    expect(answers).toContain("agent_busy short");
    expect(commands()).toEqual(["open"]);
  });

  test("D6 its budget comes from the home: 60 s, or more by the setting", () => {
    queue.submit(call("long", { budget: 120_000 }));
    pass(119_000, ["claw"]);
    expect(roster.judge("claw")?.online).toBe(true);
    pass(32_000, ["claw"]);
    expect(roster.judge("claw")).toMatchObject({ online: false, reason: DEAF_TO_CALLS });
  });

  test("D5 twenty prompts of a second each are all answered", async () => {
    for (let i = 0; i < 20; i += 1) queue.submit(call(`p${i}`, { budget: 60_000 }));
    for (let i = 0; i < 20; i += 1) {
      pass(1_000, ["claw"]);
      expect(queue.answered("claw", `p${i}`, {})).toEqual({ id: `p${i}` });
    }
    await settled();
    expect(commands()).toHaveLength(20);
    expect(answers.filter((line) => !line.startsWith("taken"))).toEqual([]);
  });

  test("D5 a call that cannot be answered in time is refused as soon as that is known, with the time to retry", async () => {
    for (let i = 0; i < 6; i += 1) queue.submit(call(`p${i}`, { budget: 30_000 }));
    pass(10_000, ["claw"]);
    queue.answered("claw", "p0", {});
    await settled();
    // 10 s each, with 20 s left.
    expect(answers.filter((line) => line.startsWith("agent_busy"))).toEqual([
      "agent_busy p3",
      "agent_busy p4",
      "agent_busy p5",
    ]);
    expect(retries).toHaveLength(3);
    for (const ms of retries) expect(ms).toBeGreaterThanOrEqual(10_000);
    queue.submit(call("patient", { budget: 60_000 }));
    queue.submit(call("hasty", { budget: 5_000 }));
    expect(answers.at(-1)).toBe("agent_busy hasty");
    expect(queue.has("patient")).toBe(true);
  });
});

describe("answers", () => {
  test("without request_id belong to the open call", () => {
    queue.submit(call("p", { command: "ping" }));
    expect(queue.answered("claw", undefined, { pong: true })).toEqual({ id: "p" });
  });

  test("a pong is not the answer to a prompt", () => {
    queue.submit(call("a"));
    expect(queue.answered("claw", undefined, { pong: true })).toBeUndefined();
    expect(queue.answered("claw", undefined, { status: "executed" })).toEqual({ id: "a" });
  });

  test("are reported once, in time or late, and only from the agent that was asked", () => {
    queue.submit(call("a"));
    expect(queue.answered("other", "a", {})).toBeUndefined();
    pass(90_000);
    expect(queue.answered("claw", "a", {})).toEqual({ id: "a" });
    expect(queue.answered("claw", "a", {})).toBeUndefined();
    expect(queue.has("a")).toBe(true);
    pass(LATE_WITHIN_MS);
    expect(queue.has("a")).toBe(false);
  });

  test("to a call from before a restart are reported once; those to another orchestrator's calls never", () => {
    const id = randomUUID();
    expect(queue.answered("claw", id, {})).toEqual({ id });
    expect(queue.answered("claw", id, {})).toBeUndefined();
    expect(queue.answered("claw", "prompt-1795294085318", {})).toBeUndefined();
  });
});

describe("online but deaf", () => {
  test("a call that expires between heartbeats shows that the agent is deaf, and waiting calls are refused", async () => {
    queue.submit(call("a"));
    queue.submit(call("b", { budget: 39_000 }));
    pass(31_000, ["claw"]);
    await settled();
    expect(roster.judge("claw")).toMatchObject({ online: false, reason: DEAF_TO_CALLS });
    expect(answers).toContain("agent_offline b");
    expect(commands().filter((text) => text === "b")).toEqual([]);
  });

  test("silence until twice the budget counts as work; after that it does not", () => {
    queue.submit(call("a"));
    pass(59_000);
    expect(roster.judge("claw")?.online).toBe(true);
    pass(2_000);
    expect(roster.judge("claw")?.online).toBe(false);
  });

  test("an answer within twice the budget restores the agent", () => {
    queue.submit(call("a"));
    pass(50_000);
    expect(queue.answered("claw", "a", {})).toEqual({ id: "a" });
    expect(roster.judge("claw")).toMatchObject({ online: true });
  });

  test("it is probed after 10 s and then every minute, until it answers", () => {
    queue.submit(call("a"));
    pass(31_000, ["claw"]);
    pass(FIRST_PROBE_AFTER_MS, ["claw"]);
    expect(probes()).toHaveLength(1);
    pass(2 * PROBE_EVERY_MS, ["claw"]);
    expect(probes()).toHaveLength(3);
    expect(queue.answered("claw", undefined, { pong: true })).toBeUndefined();
    expect(roster.judge("claw")?.online).toBe(true);
    pass(2 * PROBE_EVERY_MS, ["claw"]);
    expect(probes()).toHaveLength(3);
  });

  test("a completely silent agent is not probed", () => {
    queue.submit(call("a"));
    pass(61_000 + HEARTBEAT_LOST_MS);
    const before = probes().length;
    pass(5 * PROBE_EVERY_MS);
    expect(probes()).toHaveLength(before);
  });

  test("D7 stopped or deaf: the error text fits what was received, and names the cure", async () => {
    outcome = { kind: "delivered", listening: false };
    queue.submit(call("a"));
    await settled();
    expect(roster.judge("claw")?.reason).toMatch(/nobody listens to its commands: it was stopped/);
    const stopped = now;
    heartbeat("claw");
    expect(roster.judge("claw")?.reason).toMatch(/sends heartbeats but listens to no commands.*restart it/);
    now = stopped + HEARTBEAT_LOST_MS;
    expect(roster.judge("claw")?.reason).toBe("no heartbeat for 90 s");
  });

  test("G12 an agent that was silent since the start gets a ping; its answer brings it online", async () => {
    const advert = JSON.stringify({ capabilities: "x" });
    roster.advertised("sleeper", advert, { capabilities: "x" }, false);
    expect(roster.silentForeign()).toEqual(["sleeper"]);
    queue.ping("sleeper");
    expect(JSON.parse(published.at(-1)?.payload ?? "")).toMatchObject({ command: "ping" });
    queue.answered("sleeper", undefined, { pong: true });
    expect(roster.judge("sleeper")).toMatchObject({ online: true });
    expect(roster.silentForeign()).toEqual([]);
  });

  test("the broker may know at once that no agent subscribes", async () => {
    outcome = { kind: "delivered", listening: false };
    queue.submit(call("a"));
    await settled();
    expect(answers).toEqual(["not_listening a"]);
    expect(roster.judge("claw")).toMatchObject({ online: false });
    // It reached no agent, so it may be sent again.
    expect(queue.has("a")).toBe(false);
  });
});

describe("never twice", () => {
  test("a call whose acknowledgement from the broker was lost counts as published", async () => {
    outcome = { kind: "unsure" };
    queue.submit(call("a"));
    await settled();
    expect(answers).toEqual(["taken a"]);
    expect(queue.has("a")).toBe(true);
  });

  test("when the broker is away the queue moves on", async () => {
    outcome = { kind: "offline" };
    queue.submit(call("a"));
    await settled();
    outcome = HEARD;
    queue.submit(call("b"));
    await settled();
    expect(answers).toEqual(["broker_offline a", "taken b"]);
  });

  test("a fresh advert means that the agent restarted and forgot the open call", async () => {
    queue.submit(call("a"));
    queue.submit(call("b"));
    queue.advertisedAfresh("claw");
    await settled();
    expect(commands()).toEqual(["a", "b"]);
  });
});
