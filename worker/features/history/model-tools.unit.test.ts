/** What the tool costs in each turn. */
import { textTokens } from "@edgecall/core/loop/tokens.ts";
import { expect, test } from "vitest";
import { historyTools } from "./model-tools.ts";

test("the tool's definition has at most 180 tokens, in a home of any size", () => {
  for (const isLarge of [false, true]) {
    const definitions = historyTools.definitions(isLarge);
    expect(definitions).toHaveLength(1);
    expect(textTokens(JSON.stringify(definitions))).toBeLessThanOrEqual(180);
  }
});
