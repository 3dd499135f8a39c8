/** An agent restores its retained messages when another client changes them, with growing pauses. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startBroker } from "../../local/broker.ts";
import { until } from "../../test/wait.ts";
import { memoryLog, Peer, readyAgent, testSettings } from "../testing/home.ts";
import { RetainedGuard } from "./retained-guard.ts";

describe("S10 the guard", () => {
  let now = 0;
  let mended: string[] = [];
  let guard: RetainedGuard;
  beforeEach(() => {
    vi.useFakeTimers();
    now = 0;
    mended = [];
    guard = new RetainedGuard(
      (topic) => mended.push(topic),
      () => now,
    );
  });
  afterEach(() => {
    guard.stop();
    vi.useRealTimers();
  });
  const pass = (ms: number) => {
    now += ms;
    vi.advanceTimersByTime(ms);
  };

  test("S10 ignores its own messages, and those from before its first one", () => {
    guard.seen("tools", "of an earlier run");
    guard.published("tools", "a");
    guard.published("tools", "b");
    guard.seen("tools", "a");
    guard.seen("tools", "b");
    pass(60_000);
    expect(mended).toEqual([]);
  });

  test("S10 restores what another client wrote, more and more rarely", () => {
    for (let second = 0; second < 3_600; second += 1) {
      guard.published("presence", "mine");
      guard.seen("presence", "an old one");
      pass(1_000);
    }
    expect(mended.length).toBeGreaterThan(5);
    expect(mended.length).toBeLessThan(25);
  });
});

test("S10 an agent restores its presence, capabilities and tools", async () => {
  const broker = await startBroker();
  const port = Number(new URL(broker.url).port);
  const peer = await Peer.connect(port);
  const agent = await readyAgent(testSettings(port, { agentId: "kept" }), { log: memoryLog().log });
  try {
    const latest = (kind: string) => peer.raw.findLast((one) => one.id === "kept" && one.kind === kind)?.text;
    for (const [kind, own] of [
      ["presence", '"online"'],
      ["capabilities", '"features"'],
      ["tools", '"hash"'],
    ] as const) {
      await until(() => latest(kind)?.includes(own), { what: `its ${kind}` });
      await peer.send("kept", '{"of":"somebody else"}', { retain: true, kind });
      await until(() => latest(kind)?.includes("somebody else"), { what: "the other text" });
      await until(() => latest(kind)?.includes(own), { within: 20_000, what: `its ${kind} again` });
    }
  } finally {
    await agent.stop();
    await peer.stop();
    await broker.stop();
  }
});
