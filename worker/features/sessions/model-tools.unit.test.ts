import { textTokens } from "@edgecall/core/loop/tokens.ts";
import { SESSION_TOOL_NAMES } from "@edgecall/core/tools/session-tools.ts";
import { expect, test } from "vitest";
import { sessionTools } from "./model-tools.ts";

test("the session tools cost at most 380 tokens of each model call", () => {
  const tokens = sessionTools
    .definitions(false)
    .map(({ function: { name, description, parameters } }) =>
      textTokens(name + description + JSON.stringify(parameters)),
    );
  expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(380);
});

test("they are sorted, and all have the parameters that they cannot do without", () => {
  const definitions = sessionTools.definitions(false).map(({ function: tool }) => tool);
  expect(definitions.map(({ name }) => name)).toEqual(SESSION_TOOL_NAMES.toSorted());
  expect(definitions.map(({ parameters }) => parameters.required ?? [])).toEqual([
    [],
    [],
    ["session"],
    [],
    ["session", "message"],
    ["task"],
  ]);
});
