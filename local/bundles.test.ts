import { expect, test } from "vitest";
import { bundleAgent } from "./bundles.ts";

test("the agent as it is shipped has its tools, and none of those that only tests have", async () => {
  const code = await bundleAgent();
  expect(code).toContain("Run a shell command");
  // In the description of each of them.
  expect(code).not.toContain("For tests only");
  expect(code).not.toContain("EDGECALL_TEST_TOOLS is");
  expect(code).not.toMatch(/vitest|startScriptedModel|PI_ZERO/);
});
