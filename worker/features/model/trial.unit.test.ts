import { expect, test, vi } from "vitest";
import { trialStream } from "./trial.ts";

test("a client that hangs up gets no more signs, also while the model answers nothing", async () => {
  vi.useFakeTimers();
  try {
    const silent = () => new Promise<Response>(() => {});
    const model = { name: "x", model: "x", baseUrl: "https://llm.example/v1", maxTokens: 100 };
    const reader = trialStream(model, silent, new AbortController().signal).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toContain("event: habit");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await read()).toBe(": it goes on\n\n");
    const ended = reader.cancel();
    // A sign to a stream that takes nothing more would be an error that nothing catches.
    vi.advanceTimersByTime(10_000);
    await ended;
    expect(() => vi.advanceTimersByTime(60_000)).not.toThrow();
  } finally {
    vi.useRealTimers();
  }
});
