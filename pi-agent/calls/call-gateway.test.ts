import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { textOf } from "@edgecall/core/tools/contract.ts";
import { expect, test } from "vitest";
import { callGateway } from "./call-gateway.ts";
import type { CommandCall } from "./command.ts";

test("L15: the answer of another agent whose model called no tool says so to this agent's model", async () => {
  const outcome = { status: "success" as const, text: "Done!", elapsed_ms: 3, agent: "eye", asked: false };
  const parts = { gatewayCalls: { call: async () => outcome } };
  const command = { budget: { pause: () => () => {} } } as unknown as CommandCall;
  const asked = { requestId: "r", callId: "c", name: "edge_call", args: {} };
  const result = await callGateway(asked, new AbortController().signal, command, parts);
  expect(textOf(result)).toBe(`[${NO_TOOL_CALLED}]\nDone!`);
  expect(result.details).toEqual({ agent: "eye", asked: false });
});
