import { NO_TOOL_CALLED, outcomeForModel } from "@edgecall/core/loop/history.ts";
import type { ReadReport } from "@edgecall/core/protocol/mqtt.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { outcomeOf, withoutAdvice } from "./outcome.ts";

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
])("D11 time is the device's, and a wait is separate: %s", (_, payload, times) => {
  const { elapsedMs, waitedMs } = outcomeOf(report(payload), 84_500, PI);
  expect({ elapsedMs, ...(waitedMs !== undefined && { waitedMs }) }).toEqual(times);
});

test.each<[string, Record<string, unknown>, string | undefined]>([
  ["a diff", { for_user: "-a\n+b" }, "-a\n+b"],
  ["none", {}, undefined],
  ["an empty one", { for_user: "" }, undefined],
  ["not a text", { for_user: { a: 1 } }, undefined],
  ["a silent result", { for_user: "-a\n+b", silent: true }, undefined],
])("D10 a result's part for the person: %s", (_, payload, forUser) => {
  const outcome = outcomeOf(report(payload), 5, PI);
  expect(outcome.forUser).toBe(forUser);
  expect(outcome.text).toBe("Edited a.txt.");
});

test("D10 a text for the person is bounded", () => {
  const { forUser = "" } = outcomeOf(report({ for_user: "x".repeat(200_000) }), 5, PI);
  expect(forUser.length).toBeLessThan(52_000);
});

const outcomeFrom = (payload: Record<string, unknown>) =>
  outcomeOf({ requestId: "r", type: "result", payload }, 5, PI);

test("C10 advice for a model has its own field; in one text of older agents it is recognised by its words", () => {
  const error = "Error: /dev/video0 is in use.\nTry again later, or tell the user.";
  const advice = "Try again later, or tell the user.";
  const failed = {
    status: "error",
    error,
    error_type: "execution_failed",
    stderr: "Tell the user.",
    exit_code: 1,
  };
  const told = { text: "Error: /dev/video0 is in use.\nstderr: Tell the user.\nexit code 1", advice };
  expect(outcomeFrom({ ...failed, advice })).toMatchObject(told);
  expect(outcomeFrom(failed)).toMatchObject(told);
  // It marks that no part of it is only for a model.
  expect(outcomeFrom({ ...failed, advice: "" }).text).toBe(`${error}\nstderr: Tell the user.\nexit code 1`);
  expect(outcomeFrom({ ...failed, advice: "" })).not.toHaveProperty("advice");
  expect(outcomeFrom({ ...failed, advice: 5 })).toMatchObject(told);
  expect(outcomeFrom({ status: "accepted", job: "job-12345", result: "begun" })).toMatchObject({
    text: "begun\nAccepted, not done: the result arrives later as a message of its own.",
    advice: "Tell the user that.",
  });
  const { calls } = outcomeFrom({
    content: "sorry",
    calls: [{ id: "i", name: "snapshot", status: "error", error, advice }],
  });
  expect(calls).toMatchObject([{ status: "error", error: "/dev/video0 is in use." }]);
});

test("C10 a client of the API gets a report without advice", () => {
  const error = "Error: No disk could be read.";
  const advice = "Say that it is not known.";
  expect(withoutAdvice({ status: "error", error: `${error}\n${advice}`, advice, code: "io" })).toEqual({
    status: "error",
    error,
    code: "io",
  });
  expect(withoutAdvice({ error: `${error}\nTell the user.` })).toEqual({ error });
  expect(withoutAdvice({ success: false, error: null })).toEqual({ success: false, error: null });
  expect(withoutAdvice({ result: "Tell the user." })).toEqual({ result: "Tell the user." });
});

test("C10 a foreign agent's text is not split: a person reads all of it", () => {
  const error = "Pressure is 3 bar\nDo not open the valve.";
  const payload = {
    status: "error",
    error,
    advice: "vent first",
    calls: [{ name: "valve", status: "error", error }],
  };
  const outcome = outcomeOf({ requestId: "r", type: "result", payload }, 5, { ...PI, foreign: true });
  expect(outcome.text).toBe(`Error: ${error}`);
  expect(outcome).not.toHaveProperty("advice");
  expect(outcome.calls).toMatchObject([{ error }]);
});

test("calls within calls: three levels, and as many in all as an agent's own", () => {
  type Nested = { calls?: Nested[] };
  const made = (levels: number): object[] =>
    levels === 0
      ? []
      : Array.from({ length: 60 }, (_, at) => ({
          name: `c${at}`,
          status: "success",
          calls: at < 2 || at > 40 ? made(levels - 1) : [],
        }));
  const levelsOf = ({ calls = [] }: Nested): number => 1 + Math.max(0, ...calls.map(levelsOf));
  const countOf = ({ calls = [] }: Nested): number =>
    calls.length + calls.map(countOf).reduce((sum, n) => sum + n, 0);
  const outcome: Nested = outcomeOf(report({ calls: made(4) }), 5, PI);
  expect(outcome.calls).toHaveLength(50);
  expect(countOf(outcome)).toBe(100);
  expect(levelsOf(outcome)).toBe(4);
});

test("any report's payload becomes a bounded outcome", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.anything()),
      fc.constantFrom("result", "error", "other" as const),
      (payload, type) => {
        const outcome = outcomeOf(
          { type: type as "result", requestId: "r", payload: JSON.parse(JSON.stringify(payload)) },
          1,
          PI,
        );
        expect(typeof outcome.text).toBe("string");
        expect(new TextEncoder().encode(outcome.text).length).toBeLessThan(52_000);
        if (outcome.status === "error") expect(outcome.errorType).toBeDefined();
      },
    ),
  );
});

const CALLED = [{ name: "disk", status: "success", result: "81 %" }];

test.each<[string, Record<string, unknown>, boolean]>([
  ["no tool", { asked: false, calls: [] }, true],
  ["a tool", { calls: CALLED }, false],
  ["a tool, whatever it says", { asked: false, calls: CALLED }, false],
  ["an older agent, which does not say", { calls: [] }, false],
  ["EvoClaw's, which does not say", { tools_executed: [] }, false],
  ["no tool, for a task", { asked: false, tool: "task" }, true],
  ["not a boolean", { asked: "false" }, false],
  ["a failure", { asked: false, status: "error", error: "no" }, false],
])("L15: an answer in words for which the device's model called %s", (_, payload, calledNoTool) => {
  const outcome = outcomeFrom({ status: "success", content: "Done!", ...payload });
  expect(outcome.asked).toBe(calledNoTool ? false : undefined);
  expect(outcomeForModel(outcome).startsWith(`[${NO_TOOL_CALLED}]\n`)).toBe(calledNoTool);
});

test("L15: a device's call to another one whose model called no tool is marked among its calls", () => {
  const asks = { name: "edge_call", status: "success", result: "Done!", agent: "eye" };
  const { calls } = outcomeFrom({
    status: "success",
    content: "ok",
    calls: [{ ...asks, asked: false }, asks],
  });
  expect(calls?.map(({ asked }) => asked)).toEqual([false, undefined]);
});
