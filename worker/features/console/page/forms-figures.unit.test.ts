import { expect, test } from "vitest";
import {
  type AuditLine,
  byAgent,
  byHour,
  costOfDay,
  errorsByKind,
  money,
  unpricedModels,
} from "./figures.ts";
import { fieldsOf, valuesOf } from "./form-values.ts";

const fields = fieldsOf({
  properties: {
    limit: { type: "integer" },
    path: { type: "string", description: "Where" },
    deep: { type: ["boolean", "null"] },
    unit: { enum: ["celsius", "kelvin"] },
    edits: { type: "array" },
  },
  required: ["path"],
});

test("a form has a field for each property, the required ones first", () => {
  expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    "path text",
    "limit number",
    "deep flag",
    "unit choice",
    "edits json",
  ]);
});

test("typed text becomes values of the schema's types; empty fields are left out", () => {
  const typed = { path: "0", limit: "3", deep: "false", edits: "[1]", unit: "" };
  expect(valuesOf(fields, new Map(Object.entries(typed)))).toEqual({
    ok: true,
    value: { path: "0", limit: 3, deep: false, edits: [1] },
  });
  expect(valuesOf(fields, new Map([["limit", "many"]]))).toEqual({
    ok: false,
    error: "limit: expected a number",
  });
  expect(valuesOf(fields, new Map([["edits", "[1"]]))).toMatchObject({ ok: false });
});

const line = (
  agent_id: string,
  timestamp: string,
  elapsed_ms: number,
  result: AuditLine["result"] = "success",
) => ({
  agent_id,
  timestamp,
  elapsed_ms,
  result,
  tool: "cpu",
  parameters: {},
  exit_code: null,
  call_id: "c",
  request_id: "c",
  caller: { principal: "anna", role: "owner", channel: "api" },
});

test("p50 and p95 count only the agent's own calls", () => {
  const lines = Array.from({ length: 20 }, (_, at) => line("pi", "2026-11-22T10:00:00Z", at + 1));
  expect(byAgent([...lines, line("eye", "2026-11-22T10:00:00Z", 7, "error")])).toEqual([
    { agent: "pi", calls: 20, errors: 0, p50: 10, p95: 19 },
    { agent: "eye", calls: 1, errors: 1, p50: 7, p95: 7 },
  ]);
});

test("errors are counted by kind, with their devices", () => {
  const failed = (agent: string, error_type?: string) => ({
    ...line(agent, "2026-11-22T10:00:00Z", 1, "error"),
    ...(error_type && { error_type }),
  });
  const lines = [
    failed("pi", "timeout"),
    failed("eye", "timeout"),
    failed("pi"),
    line("pi", "2026-11-22T10:00:00Z", 1),
  ];
  expect(errorsByKind(lines)).toEqual([
    { kind: "timeout", count: 2, agents: ["eye", "pi"] },
    { kind: "failed", count: 1, agents: ["pi"] },
  ]);
});

test("a day's cost covers the models with a price; the others are named", () => {
  const tokens = { input_tokens: 1, output_tokens: 1 };
  const models = [
    { name: "mini", ...tokens, usd: 0.25 },
    { name: "large", ...tokens, usd: 1.5 },
    { name: "local", ...tokens },
  ];
  const day = { day: "2026-11-22", tokens: 6, model_calls: 3, models };
  expect(costOfDay(day)).toBe(1.75);
  expect(unpricedModels([day, day])).toEqual(["local"]);
  expect([0, 0.000_04, 0.5, 1.234].map(money)).toEqual(["$0.00", "under $0.0001", "$0.5000", "$1.23"]);
});

test("each call counts in its hour; older ones in none", () => {
  const lines = ["10:59:59.999", "11:00:00", "11:30:00", "08:59:59"].map((time) =>
    line("pi", `2026-11-22T${time}Z`, 1, time === "11:30:00" ? "error" : "success"),
  );
  const hours = byHour(lines, Date.parse("2026-11-22T11:40:00Z"), 3);
  expect(hours.map(({ success, error }) => [success, error])).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
  ]);
});
