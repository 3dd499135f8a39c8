import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { OtelCollector } from "./otel-collector.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const VITEST = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

test("O14: a collector whose program is missing is an error at once, and can be stopped", async () => {
  const collector = await OtelCollector.make();
  await expect(collector.start("/nowhere/rotel-agent")).rejects.toThrow("ENOENT");
  await collector.stop();
});

test("O14: without the collector's program its tests are left out by name, and the run ends", {
  timeout: 60_000,
}, async () => {
  const env = { ...process.env, CI: "", PYTHON_CLIENTS: "/nowhere/bin/python" };
  const args = [VITEST, "run", "--project=slow", "test/e2e/tracing.test.ts"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env, timeout: 50_000 });
  expect(stdout).toMatch(/^\d+ tests were left out: they need otel-collector\./m);
});
