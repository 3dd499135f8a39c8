import { turnMetrics } from "@edgecall/core/loop/metrics.ts";
import { expect, test } from "vitest";
import { announcement } from "./announce.ts";
import { applied, newTurn, type TurnEvent, type TurnView } from "./turns.ts";

const T = { turn: "t" };
const pending = { id: "c1", name: "edge_call", agent: "pi", action: "cpu", status: "pending" as const };
const question = { id: "q", call: "c1", agent: "pi", text: "Which room?", options: [], expires_at: 1 };
const asked = { ...question, text: "Run siren on pi?" };
const approval = { tool: "siren", parameters: {}, reason: "" };

/** Returns the announcements after each event. */
function said(...events: TurnEvent[]): string[] {
  let turn: TurnView = { ...newTurn("hi"), id: "t", status: "running" };
  return events.map((event, at) => {
    turn = applied(turn, event, at);
    return announcement(turn);
  });
}

test("each step is one sentence, and arriving letters are not announced", () => {
  expect(announcement(undefined)).toBe("");
  expect(announcement(newTurn("hi"))).toBe("Sent.");
  expect(
    said(
      { event: "delta", data: { ...T, text: "I", at: 0 } },
      { event: "message", data: { ...T, text: "I look.", calls: [pending] } },
      { event: "accepted", data: { ...T, call: "c1", at: 0 } },
      { event: "question", data: { ...T, ...asked, approval } },
      { event: "question", data: { ...T, ...asked, approval, answer: "approve" } },
      { event: "question", data: { ...T, ...question, id: "q2" } },
      { event: "question", data: { ...T, ...question, id: "q2", answer: "kitchen" } },
      { event: "call", data: { ...T, ...pending, status: "error" } },
      {
        event: "done",
        data: {
          turn: "t",
          status: "done",
          answer: "7 %",
          model: "m",
          calls: [{ ...pending, status: "error" }],
          usage: { input_tokens: 1, output_tokens: 1 },
          metrics: turnMetrics([], 1, 0, 40),
        },
      },
    ),
  ).toEqual([
    "",
    "cpu on pi is running.",
    "cpu on pi is running.",
    "Run siren on pi?",
    "cpu on pi is running.",
    "pi asks: Which room?",
    "cpu on pi is running.",
    "cpu on pi: failed.",
    "Answer: 7 %",
  ]);
});
