import type { ReadReport } from "@edgecall/core/protocol/mqtt.ts";
import { expect, test } from "vitest";
import { outcomeOf } from "./outcome.ts";

const PI = { agent: "pi", advert: undefined };

const report = (payload: Record<string, unknown>): ReadReport => ({
  requestId: "r",
  type: "result",
  payload: { status: "success", result: "Edited a.txt.", ...payload },
});

test.each<[string, Record<string, unknown>, object]>([
  ["the device's own time", { elapsed_ms: 1_100 }, { elapsedMs: 1_100, waitedMs: 83_400 }],
  ["a prompt's own time", { metadata: { elapsed_ms: 84_000 } }, { elapsedMs: 84_000 }],
  ["no time of its own", {}, { elapsedMs: 84_500 }],
  ["more than there was", { elapsed_ms: 84_501 }, { elapsedMs: 84_500 }],
  ["less than none", { elapsed_ms: -1 }, { elapsedMs: 84_500 }],
  ["no number", { elapsed_ms: "3", metadata: null }, { elapsedMs: 84_500 }],
  ["a fraction", { elapsed_ms: 0.4 }, { elapsedMs: 0, waitedMs: 84_500 }],
])("D11 time is the device's, and a wait stands apart: %s", (_, payload, times) => {
  const { elapsedMs, waitedMs } = outcomeOf(report(payload), 84_500, PI);
  expect({ elapsedMs, ...(waitedMs !== undefined && { waitedMs }) }).toEqual(times);
});

test.each<[string, Record<string, unknown>, string | undefined]>([
  ["a diff", { for_user: "-a\n+b" }, "-a\n+b"],
  ["none", {}, undefined],
  ["an empty one", { for_user: "" }, undefined],
  ["not a text", { for_user: { a: 1 } }, undefined],
  ["a silent result", { for_user: "-a\n+b", silent: true }, undefined],
])("D10 what a result has for the person: %s", (_, payload, forUser) => {
  const outcome = outcomeOf(report(payload), 5, PI);
  expect(outcome.forUser).toBe(forUser);
  expect(outcome.text).toBe("Edited a.txt.");
});

test("D10 a text for the person is bounded", () => {
  const { forUser = "" } = outcomeOf(report({ for_user: "x".repeat(200_000) }), 5, PI);
  expect(forUser.length).toBeLessThan(52_000);
});
