import { turnMetrics } from "@edgecall/core/loop/metrics.ts";
import { expect, test } from "vitest";
import type { TurnResult } from "./shapes.ts";
import { applied, newTurn, type TurnEvent, type TurnView } from "./turns.ts";

const pending = { id: "c1", name: "edge_call", agent: "pi", status: "pending" as const };

function after(...events: TurnEvent[]): TurnView {
  return events.reduce((turn, event, at) => applied(turn, event, at), newTurn("hi"));
}

test("text that comes twice, or is taken back, is shown once", () => {
  const turn = after(
    { event: "turn", data: { turn: "t" } },
    { event: "delta", data: { text: "Hel", at: 0 } },
    { event: "delta", data: { text: "lo", at: 3 } },
    { event: "delta", data: { text: "lo you", at: 3 } },
  );
  expect(turn).toMatchObject({ id: "t", status: "running", saying: "Hello you" });
  expect(applied(turn, { event: "reset", data: {} }, 9).saying).toBe("");
});

test("a call goes from sent over accepted to its result, each once", () => {
  let turn = after({ event: "message", data: { text: "I look.", calls: [pending] } });
  turn = applied(turn, { event: "message", data: { text: "", calls: [pending] } }, 5);
  turn = applied(turn, { event: "accepted", data: { call: "c1" } }, 10);
  turn = applied(turn, { event: "accepted", data: { call: "c1" } }, 11);
  turn = applied(turn, { event: "progress", data: { call: "c1", text: "a" } }, 20);
  turn = applied(turn, { event: "progress", data: { call: "c1", text: "b" } }, 30);
  turn = applied(turn, { event: "call", data: { ...pending, status: "success", result: "ok" } }, 40);
  expect(turn.said).toEqual(["I look."]);
  expect(turn.calls).toHaveLength(1);
  expect(turn.calls[0]).toMatchObject({
    status: "success",
    output: "ab",
    stages: [
      { name: "sent", at: 0 },
      { name: "accepted", at: 10 },
      { name: "ended", at: 40 },
    ],
  });
});

test("what was said of an answer that is stopped stays; the end of any other says it all", () => {
  const half: TurnEvent = { event: "delta", data: { text: "I begin", at: 0 } };
  const end: TurnResult = {
    turn: "t",
    status: "cancelled",
    answer: "Cancelled.",
    model: null,
    calls: [],
    usage: { input_tokens: 0, output_tokens: 0 },
    metrics: turnMetrics([], 0, 0, 40),
  };
  const stopped = after(half, { event: "done", data: end });
  expect(stopped).toMatchObject({ saying: "I begin", answer: "Cancelled.", status: "cancelled" });
  const done: TurnResult = { ...end, status: "done", answer: "I begin." };
  expect(after(half, { event: "done", data: done })).toMatchObject({ saying: "", answer: "I begin." });
});

test("a question is replaced by its answer, and the end by what the gateway says", () => {
  const question = { id: "q", call: "c1", agent: "pi", text: "?", options: [], expires_at: 1 };
  const result: TurnResult = {
    turn: "t",
    status: "cancelled",
    answer: "Cancelled.",
    model: "m",
    calls: [{ ...pending, status: "error" }],
    usage: { input_tokens: 1, output_tokens: 2 },
    metrics: turnMetrics([], 1, 0, 40),
  };
  const turn = after(
    { event: "message", data: { text: "", calls: [pending] } },
    { event: "question", data: question },
    { event: "question", data: { ...question, answer: "yes" } },
    { event: "done", data: result },
  );
  expect(turn.questions).toEqual([{ ...question, answer: "yes" }]);
  expect(turn).toMatchObject({
    status: "cancelled",
    answer: "Cancelled.",
    tokens: 3,
    durationMs: 40,
    calls: [{ status: "error" }],
  });
});
