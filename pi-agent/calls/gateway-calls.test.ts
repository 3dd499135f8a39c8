import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GatewayCalls } from "./gateway-calls.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ID = "0b1e58a2-3a53-4d43-9d5c-0b7c6f7f8a11";
const OUTCOME = { status: "success", text: "12 %", elapsed_ms: 3, agent: "pi" };
const asked = { requestId: "r", callId: ID, name: "edge_call", args: { agent_id: "pi", action: "cpu" } };

function harness() {
  const published: object[] = [];
  const calls = new GatewayCalls((event) => void published.push(event));
  const control = new AbortController();
  return { published, calls, control };
}

test("publishes the event at once and again, until its outcome comes, and then no more", async () => {
  const { published, calls, control } = harness();
  const outcome = calls.call(asked, control.signal);
  expect(published).toEqual([
    { type: "call", request_id: "r", call_id: ID, name: "edge_call", args: asked.args },
  ]);
  const times: number[] = [];
  for (let s = 1; s <= 100; s += 1) {
    const before = published.length;
    await vi.advanceTimersByTimeAsync(1_000);
    if (published.length > before) times.push(s);
  }
  expect(times).toEqual([5, 15, 35, 65, 95]);
  expect(calls.onCalled({ call_id: ID, outcome: OUTCOME })).toBeUndefined();
  expect(await outcome).toMatchObject(OUTCOME);
  const count = published.length;
  await vi.advanceTimersByTimeAsync(100_000);
  calls.announce();
  expect(published).toHaveLength(count);
});

test("publishes what is open after a connection, or for the command that came again", async () => {
  const { published, calls, control } = harness();
  const ended = calls.call(asked, control.signal).catch((error: unknown) => error);
  calls.announce("another");
  expect(published).toHaveLength(1);
  calls.announce("r");
  calls.announce();
  expect(published).toHaveLength(3);
  control.abort(new Error("cancelled"));
  expect(await ended).toEqual(new Error("cancelled"));
  calls.announce();
  expect(published).toHaveLength(3);
});

test("an outcome of a call that is over is ignored, and one that is none is named", async () => {
  const { calls } = harness();
  expect(calls.onCalled({ call_id: ID, outcome: OUTCOME })).toBeUndefined();
  expect(calls.onCalled({ call_id: ID, outcome: { status: "fine" } })).toMatch(/^outcome/);
});

test("the tools are offered while gateway and bridge know the event", () => {
  const { calls } = harness();
  expect(calls.areOffered).toBe(false);
  calls.gatewayKnows(["call"]);
  expect(calls.areOffered).toBe(true);
  calls.gatewayKnows([]);
  expect(calls.areOffered).toBe(false);
});
