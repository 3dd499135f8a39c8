import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { timersLeftBy } from "../test/timers-left.ts";
import { withTimeLimit } from "./time-limit.ts";

test("O9: the signal aborts when the time is over, and no timer outlives the work", async () => {
  const left = await timersLeftBy(async () => {
    const aborted = withTimeLimit(10, (signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    });
    await expect(aborted).rejects.toMatchObject({ name: "TimeoutError" });
    expect(await withTimeLimit(60_000, async () => "done")).toBe("done");
    const failed = withTimeLimit(60_000, async () => {
      throw new Error("failed");
    });
    await expect(failed).rejects.toThrow("failed");
  });
  expect(left).toBe(0);
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
