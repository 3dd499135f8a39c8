/** What the tool costs in each turn. */
import { textTokens } from "@edgecall/core/loop/tokens.ts";
import { expect, test } from "vitest";
import { automationTools } from "./model-tools.ts";

test("the tool has at most 350 tokens, and none in a large home", () => {
  const [definition, ...others] = automationTools.definitions(false);
  expect(textTokens(JSON.stringify(definition?.function))).toBeLessThanOrEqual(350);
  expect(others).toEqual([]);
  expect(automationTools.definitions(true)).toEqual([]);
});
