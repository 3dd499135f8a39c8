import { expect, test } from "vitest";
import { sessionTools } from "../../features/sessions/model-tools.ts";
import { isHomeTool } from "./home-tools.ts";

test("find_agents is one of Home's tools, edge_call is not", () => {
  const features = [{ tools: sessionTools }];
  expect(
    ["find_agents", "sessions_send", "edge_call", "webfetch"].map((name) => isHomeTool(features, name)),
  ).toEqual([true, true, false, false]);
});
