import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { timersLeftBy } from "../test/timers-left.ts";
import { allReady } from "./all-ready.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A worker that listens, and bridge and agent that are on their way. */
function starting(foreignBroker?: string) {
  const [bridge, agent] = [Promise.withResolvers<object>(), Promise.withResolvers<object>()];
  const said: string[] = [];
  const children = {
    worker: { ready: Promise.resolve({}) },
    bridge: { ready: bridge.promise as Promise<Record<string, unknown>> },
    agent: { ready: agent.promise as Promise<Record<string, unknown>> },
  };
  const lines: Record<string, string> = { bridge: "bridge.starting" };
  const done = allReady({
    children,
    foreignBroker,
    lastLine: (name) => lines[name],
    say: (line) => said.push(line),
  });
  let end: unknown = "waits";
  done.then(
    () => (end = "ready"),
    (error: Error) => (end = error.message),
  );
  return { bridge, agent, said, end: () => end };
}

test("own broker, slow machine: it waits as long as its programs run, says for what, and never speaks of a broker", async () => {
  const { bridge, agent, said, end } = starting();
  await vi.advanceTimersByTimeAsync(59_000);
  expect(end()).toBe("waits");
  const words = "not connected: bridge, agent\n  bridge wrote last: bridge.starting";
  expect(said).toEqual([`still waiting after 20 s: ${words}`, `still waiting after 40 s: ${words}`]);
  bridge.resolve({});
  await vi.advanceTimersByTimeAsync(2_000);
  expect(said.at(-1)).toBe("still waiting after 60 s: not connected: agent");
  agent.resolve({});
  await vi.advanceTimersByTimeAsync(0);
  expect(end()).toBe("ready");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said).toHaveLength(3);
});

test("a program that ends fails the start at once", async () => {
  const { agent, end } = starting();
  await vi.advanceTimersByTimeAsync(1_000);
  agent.reject(new Error("agent ended before it was ready (exit code 2)"));
  await vi.advanceTimersByTimeAsync(0);
  expect(end()).toBe("agent ended before it was ready (exit code 2)");
});

test("no timer outlives the wait, whether all are ready or one has ended", async () => {
  vi.useRealTimers();
  const left = await timersLeftBy(async () => {
    const one = starting();
    one.bridge.resolve({});
    one.agent.resolve({});
    await vi.waitFor(() => expect(one.end()).toBe("ready"));
    const other = starting();
    other.agent.reject(new Error("agent ended"));
    await vi.waitFor(() => expect(other.end()).toBe("agent ended"));
  });
  expect(left).toBe(0);
});

test("after five minutes it gives up with the same words", async () => {
  const { end } = starting();
  await vi.advanceTimersByTimeAsync(299_000);
  expect(end()).toBe("waits");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(end()).toBe(
    "gave up after 300 s: not connected: bridge, agent\n  bridge wrote last: bridge.starting",
  );
});

test("a broker that is not its own is named", async () => {
  const { said } = starting("broker.lan:1883");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(said).toEqual([
    "still waiting after 20 s: not connected: bridge, agent; is there a broker at broker.lan:1883?\n  bridge wrote last: bridge.starting",
  ]);
});
