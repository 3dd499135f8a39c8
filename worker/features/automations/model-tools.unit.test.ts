/** What the tool costs in each turn. */
import { textTokens } from "@edgecall/core/loop/tokens.ts";
import { expect, test } from "vitest";
import { automationTools } from "./model-tools.ts";

test("the tool's definition has at most 350 tokens, and none in a large home", () => {
  const definitions = automationTools.definitions(false);
  expect(definitions).toHaveLength(1);
  expect(textTokens(JSON.stringify(definitions))).toBeLessThanOrEqual(350);
  expect(automationTools.definitions(true)).toEqual([]);
});
