import { expect, test } from "vitest";
import { bundleAgent, bundleBridge, bundleCommand, bundleWorker } from "./bundles.ts";

test("the released agent has its tools, and none of those for tests", async () => {
  const code = await bundleAgent();
  expect(code).toContain("Run a shell command");
  // Each of them has these words in its description.
  expect(code).not.toContain("For tests only");
  expect(code).not.toContain("EDGECALL_TEST_TOOLS is");
  expect(code).not.toMatch(/vitest|startScriptedModel|PI_ZERO/);
});

test.each([bundleAgent, bundleBridge, bundleCommand])("%o makes a program of ASCII alone", async (bundle) => {
  // With one other character V8 keeps all of it in two bytes a character.
  expect((await bundle()).match(/[^\0-\x7f]/g)).toBeNull();
});

test("the MCP server in the Worker is our own", async () => {
  // The SDK's would be 60 KiB of gzip.
  expect(await bundleWorker()).not.toContain("@modelcontextprotocol/server");
});
