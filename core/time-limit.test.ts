import { globSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { withTimeLimit } from "./time-limit.ts";

test("O9: the signal aborts when the time is over, and no timer outlives the work", async () => {
  vi.useFakeTimers();
  try {
    const aborted = withTimeLimit(1_000, (signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    });
    const refused = expect(aborted).rejects.toMatchObject({ name: "TimeoutError" });
    await vi.advanceTimersByTimeAsync(1_000);
    await refused;
    expect(await withTimeLimit(1_000, async () => "done")).toBe("done");
    await expect(
      withTimeLimit(1_000, async () => {
        throw new Error("failed");
      }),
    ).rejects.toThrow("failed");
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("O9: what runs in a Durable Object has no timer that cannot be ended", () => {
  const root = new URL("..", import.meta.url).pathname;
  const files = globSync(
    [
      "core/**/*.ts",
      "worker/*.ts",
      "worker/kernel/*.ts",
      "worker/kernel/{home,conversation,models}/**/*.ts",
      "worker/features/*/{home,conversation,platforms}/**/*.ts",
      "worker/features/push/*.ts",
    ],
    {
      cwd: root,
    },
  ).filter((file) => !file.endsWith(".test.ts") && file !== "core/time-limit.ts");
  expect(files.length).toBeGreaterThan(300);
  const found = files.filter((file) =>
    /AbortSignal\.timeout\(/.test(readFileSync(`${root}/${file}`, "utf8")),
  );
  expect(found).toEqual([]);
});
