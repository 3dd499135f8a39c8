import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sampleOf } from "../../test/sample-of.ts";
import { promtoolSays } from "../testkit/prometheus.ts";
import { exposition } from "./exposition.ts";
import { newHistogram, observe } from "./histogram.ts";
import { callFamilies, countCall, countTurn, newCallCounts, newTurnCounts, turnFamilies } from "./tally.ts";

test("a page, word for word", () => {
  const histogram = newHistogram([0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) observe(histogram, value);
  const page = exposition([
    { name: "edgecall_x_total", help: "What\nit \\ is.", type: "counter", samples: [{ value: 3 }] },
    { name: "edgecall_none", help: "Nothing.", type: "gauge", samples: [] },
    {
      name: "edgecall_y",
      help: "Y.",
      type: "gauge",
      samples: [{ labels: { a: 'q"b\\c\nd', b: "2" }, value: 0.5 }],
    },
    {
      name: "edgecall_z_seconds",
      help: "Z.",
      type: "histogram",
      series: [{ labels: { tool: "t" }, histogram }],
    },
  ]);
  expect(page).toBe(`# HELP edgecall_x_total What\\nit \\\\ is.
# TYPE edgecall_x_total counter
edgecall_x_total 3
# HELP edgecall_y Y.
# TYPE edgecall_y gauge
edgecall_y{a="q\\"b\\\\c\\nd",b="2"} 0.5
# HELP edgecall_z_seconds Z.
# TYPE edgecall_z_seconds histogram
edgecall_z_seconds_bucket{tool="t",le="0.1"} 2
edgecall_z_seconds_bucket{tool="t",le="1"} 3
edgecall_z_seconds_bucket{tool="t",le="+Inf"} 4
edgecall_z_seconds_sum{tool="t"} 7.65
edgecall_z_seconds_count{tool="t"} 4
`);
});

test("calls and turns: errors add up, and recovered ones had an error and succeeded", () => {
  const calls = newCallCounts();
  countCall(calls, 20);
  countCall(calls, 31_000, "timeout");
  countCall(calls, 2, "not_found");
  const turns = newTurnCounts();
  const turn = { iterations: 2, failedCalls: 0, durationMs: 900, inputTokens: 10, outputTokens: 3 };
  countTurn(turns, { ...turn, status: "done" });
  countTurn(turns, { ...turn, status: "done", failedCalls: 1 });
  countTurn(turns, { ...turn, status: "failed", failedCalls: 3 });
  countTurn(turns, { ...turn, status: "cancelled" });
  const page = exposition([
    ...callFamilies("agent", [{ labels: { tool: "t" }, counts: calls }]),
    ...turnFamilies("agent", [{ labels: {}, counts: turns }]),
  ]);
  const values = {
    'edgecall_agent_tool_calls_total{tool="t",status="success"}': 1,
    'edgecall_agent_tool_calls_total{tool="t",status="error"}': 2,
    'edgecall_agent_tool_errors_total{tool="t",error_type="timeout"}': 1,
    'edgecall_agent_tool_duration_seconds_bucket{tool="t",le="30"}': 2,
    'edgecall_agent_tool_duration_seconds_count{tool="t"}': 3,
    'edgecall_agent_turns_total{status="done"}': 2,
    'edgecall_agent_turns_total{status="failed"}': 1,
    edgecall_agent_turns_with_failures_total: 2,
    edgecall_agent_turns_recovered_total: 1,
    'edgecall_agent_model_tokens_total{direction="input"}': 40,
    'edgecall_agent_turn_iterations_bucket{le="2"}': 4,
    edgecall_agent_turn_duration_seconds_count: 3,
  };
  for (const [left, value] of Object.entries(values))
    expect([left, sampleOf(page, left)]).toEqual([left, value]);
});

describe("with promtool (apt-get install prometheus)", { tags: ["needs/prometheus"] }, () => {
  test("it accepts a page with the strangest labels, and would report an error", () => {
    const strange = fc.sample(fc.string({ unit: "binary" }), { numRuns: 200, seed: 1 });
    const series = [...new Set(["", "\n", '"', "\\", ...strange])].map((tool) => ({
      labels: { tool: tool.toWellFormed() },
      counts: newCallCounts(),
    }));
    const page = exposition(callFamilies("agent", series));
    expect(promtoolSays(page)).toBe("");
    expect(promtoolSays(page.replace('tool=""', "tool="))).not.toBe("");
  });
});
