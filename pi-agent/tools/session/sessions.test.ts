import { SESSION_TOOL_NAMES } from "@edgecall/core/tools/session-tools.ts";
import { expect, test } from "vitest";
import { edgeCall, findAgents } from "./edge-call.ts";
import { sessionTools } from "./sessions.ts";

test("each tool of the gateway's is a read that taints, for this agent's own model, with the permission session", () => {
  const tools = [edgeCall(), findAgents(), ...sessionTools()];
  expect(tools.map(({ name }) => name)).toEqual(["edge_call", "find_agents", ...SESSION_TOOL_NAMES]);
  for (const { own, effect, permission, taints } of tools)
    expect({ own, effect, permission, taints }).toEqual({
      own: true,
      effect: "read",
      permission: "session",
      taints: true,
    });
});
