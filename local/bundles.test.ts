import { readFileSync } from "node:fs";
import { parse as parseToml } from "smol-toml";
import { expect, test } from "vitest";
import { bundleAgent, bundleWorker, WORKER_ALIAS } from "./bundles.ts";

test("the released agent has its tools, and none of those for tests", async () => {
  const code = await bundleAgent();
  expect(code).toContain("Run a shell command");
  // Each of them has these words in its description.
  expect(code).not.toContain("For tests only");
  expect(code).not.toContain("EDGECALL_TEST_TOOLS is");
  expect(code).not.toMatch(/vitest|startScriptedModel|PI_ZERO/);
});

test("the upload and the local run replace the same modules", async () => {
  const toml = readFileSync(new URL("../wrangler.toml", import.meta.url), "utf8");
  expect(parseToml(toml).alias).toEqual(WORKER_ALIAS);
  const code = await bundleWorker();
  expect(code).toContain("// worker/frontends/mcp/sdk-shims.ts");
  expect(code.includes("shortCircuit")).toBe(false);
});
