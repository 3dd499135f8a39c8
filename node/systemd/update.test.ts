import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { UPDATE_WITHIN_MS, type UpdateFiles, type UpdateOutcomes, updated } from "./update.ts";

const ID = "00000000-0000-0000-0000-000000000001";
const at = "2026-11-22T08:00:00.000Z";
const busy = { done: false, ok: false, text: "", at };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Writes both files, as texts. */
function kept(outcomes: UpdateOutcomes | string = "") {
  const is = { request: undefined as string | undefined, outcomes };
  const files: UpdateFiles = {
    request: async () => is.request,
    ask: async (id) => {
      is.request = id;
    },
    withdraw: async () => {
      is.request = undefined;
    },
    outcomes: async () => (typeof is.outcomes === "string" ? is.outcomes : JSON.stringify(is.outcomes)),
  };
  const control = new AbortController();
  const ask = () => updated(ID, files, { signal: control.signal, again: false });
  return { is, ask, control };
}

test("if no program reads the request, it is removed after a minute, and that is reported", async () => {
  const { is, ask } = kept("{ torn");
  const asked = ask();
  await vi.advanceTimersByTimeAsync(50_000);
  expect(is.request).toBe(ID);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await asked).toEqual({ ok: false, text: expect.stringContaining("takes the request") });
  expect(is.request).toBeUndefined();
});

test("it waits while the timer's update runs", async () => {
  const { is, ask } = kept({ scheduled: busy });
  const asked = ask();
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(is.request).toBe(ID);
  is.outcomes = {
    scheduled: { ...busy, done: true },
    asked: { ...busy, id: ID, done: true, ok: true, text: "yes" },
  };
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await asked).toEqual({ ok: true, text: "yes" });
});

test("an update that never ends is reported as such", async () => {
  const { ask } = kept({ asked: { ...busy, id: ID } });
  const asked = ask();
  await vi.advanceTimersByTimeAsync(UPDATE_WITHIN_MS + 1_000);
  expect(await asked).toEqual({ ok: false, text: "nothing came of it within 30 minutes" });
});

test("a stop ends the waiting, and leaves the request", async () => {
  const { is, ask, control } = kept();
  const asked = ask();
  const ended = expect(asked).rejects.toThrow("stopping");
  await vi.advanceTimersByTimeAsync(1_000);
  control.abort(new Error("stopping"));
  await ended;
  expect(is.request).toBe(ID);
});
