import { exposition } from "@edgecall/core/metrics/exposition.ts";
import {
  callFamilies,
  countCall,
  countTurn,
  newCallCounts,
  newTurnCounts,
  turnFamilies,
} from "@edgecall/core/metrics/tally.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { expect, test } from "vitest";
import { readSamples, total } from "./exposition.ts";
import { loopFigures } from "./metrics.ts";
import { toolMetrics } from "./tool-metrics.ts";

const line = (tool: string, more: Partial<AuditLine> = {}): AuditLine => ({
  timestamp: "2026-11-22T10:00:00.000Z",
  agent_id: "pi",
  tool,
  parameters: {},
  result: "success",
  exit_code: null,
  elapsed_ms: 100,
  call_id: "c",
  request_id: "r",
  caller: { principal: "anna", role: "owner", channel: "api" },
  ...more,
});

test("each tool's calls, errors, time-outs, latency and last error, the most used tools first", () => {
  const failed = { result: "error", error_type: "timeout", error: "too slow" } as const;
  const lines = [
    line("bash", { ...failed, timestamp: "2026-11-22T12:00:00.000Z", elapsed_ms: 300 }),
    line("read"),
    line("bash", { ...failed, error_type: "execution_failed", error: "older" }),
    line("bash", { elapsed_ms: 200 }),
    line("read", { agent_id: "zero" }),
  ];
  expect(toolMetrics(lines)).toEqual([
    {
      ...{ agent: "pi", tool: "bash", total_calls: 3, success_count: 1, error_count: 2, timeout_count: 1 },
      ...{ error_rate: 2 / 3, avg_latency_ms: 200, errors: { timeout: 1, execution_failed: 1 } },
      ...{ last_error: "too slow", last_error_time: "2026-11-22T12:00:00.000Z" },
    },
    expect.objectContaining({ agent: "pi", tool: "read", error_count: 0, last_error: null }),
    expect.objectContaining({ agent: "zero", tool: "read", avg_latency_ms: 100 }),
  ]);
});

test("the gateway's own metrics page is parsed, whatever a label contains", () => {
  const labels = { home: "a", agent: 'p"i\\\n}', tool: "x y" };
  const calls = newCallCounts();
  countCall(calls, 1_500);
  countCall(calls, 500, "timeout");
  const turns = newTurnCounts();
  const ended = { durationMs: 4_000, inputTokens: 10, outputTokens: 5 };
  countTurn(turns, { status: "done", iterations: 3, failedCalls: 1, ...ended });
  countTurn(turns, { status: "failed", iterations: 2, failedCalls: 1, ...ended });
  const page = exposition([
    ...callFamilies("gateway", [{ labels, counts: calls }]),
    ...turnFamilies("gateway", [{ labels: { home: "a", channel: "api" }, counts: turns }]),
  ]);
  const samples = readSamples(page);
  expect(samples.find(({ name }) => name === "edgecall_gateway_tool_calls_total")?.labels).toMatchObject(
    labels,
  );
  expect(total(samples, "edgecall_gateway_tool_calls_total", { status: "error", tool: "x y" })).toBe(1);
  expect(loopFigures(samples)).toEqual({
    requests: { done: 1, failed: 1, cancelled: 0 },
    avg_iterations_per_request: 2.5,
    calls_per_request: 1,
    avg_time_to_final_response_s: 4,
    tool_calls: { success: 1, error: 1 },
    errors: { timeout: 1 },
    recovery_success_rate: 0.5,
    tokens: { input: 20, output: 10 },
  });
});

test("without any counts nothing is divided", () => {
  expect(loopFigures(readSamples("# HELP x\nnot a sample\n"))).toMatchObject({
    ...{ avg_iterations_per_request: null, recovery_success_rate: null, calls_per_request: null },
  });
});
