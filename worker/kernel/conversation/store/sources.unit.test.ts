import type { Outcome } from "@edgecall/core/loop/history.ts";
import { expect, test } from "vitest";
import type { StoredCall } from "./rows.ts";
import { outcomeSources } from "./sources.ts";

const call = (name: string, args: Record<string, unknown>) => ({ name, args }) as StoredCall;
const outcome = (more: Record<string, unknown>) =>
  ({ status: "success", text: "x", elapsedMs: 1, ...more }) as Outcome;

test("S5 a tainted outcome of 0.2.0 stays a stranger's text, also for its own device", () => {
  const toPi = call("edge_call", { agent_id: "pi" });
  expect(outcomeSources(toPi, outcome({ tainted: true }))).toEqual(["agent:pi", "*"]);
  expect(outcomeSources(toPi, outcome({ tainted: false }))).toEqual(["agent:pi"]);
  expect(outcomeSources(toPi, outcome({}))).toEqual(["agent:pi"]);
  expect(outcomeSources(toPi, outcome({ tainted: true, sources: [] }))).toEqual([]);
  expect(outcomeSources(call("webfetch", {}), outcome({}))).toEqual(["*"]);
});
