import { NO_TOOL_CALLED, type Outcome } from "@edgecall/core/loop/history.ts";
import { expect, test } from "vitest";
import { withResult } from "./store/row-cache.ts";
import type { StoredEntry } from "./store/rows.ts";
import { lateNote, tryAgain } from "./texts.ts";

function storedCall(outcome: Outcome) {
  const args = { agent_id: "pi", action: "cpu" };
  const open = { submittedAt: null, settledAt: null, settledSeq: null };
  const call = { id: "c", turn: 1, modelCallId: "m", name: "edge_call", args, ...open };
  return withResult(call, { seq: 3, turn: 1, kind: "result", body: { call: "c", outcome, at: 1 } });
}

const asked = (outcome: Outcome) =>
  [{ turn: 1, role: "assistant", text: "", calls: [storedCall(outcome)] }] as unknown as StoredEntry[];

const QUEUED = "Queued: agent 'pi' is not online. Nothing has run yet.";

test("C10 a failed turn's text for the person has no advice; the model's note has it", () => {
  const outcome: Outcome = {
    status: "success",
    text: QUEUED,
    advice: "Say so.",
    job: "job-12345",
    elapsedMs: 0,
    sources: [],
  };
  expect(tryAgain(asked(outcome))).toBe(`Before that I got: ${QUEUED}`);
  expect(lateNote(storedCall(outcome), outcome)).toContain(`Result:\n${QUEUED}\nSay so.`);
});

test("C10 a row of 0.2.0 has the advice in its text, and does not show it to people", () => {
  const text = `${QUEUED} Tell the user that.`;
  const old: Outcome = { status: "success", text, job: "job-12345", elapsedMs: 0 };
  expect(storedCall(old).outcome).toEqual({ ...old, text: QUEUED, advice: "Tell the user that." });
  expect(tryAgain(asked(old))).toBe(`Before that I got: ${QUEUED}`);
  // A result is the tool's own text, whatever it says.
  const result: Outcome = { status: "success", text: "Tell the user that.", elapsedMs: 0 };
  expect(storedCall(result).outcome).toEqual(result);
  const now: Outcome = { status: "error", text: "Error: 1.\nTell the user.", elapsedMs: 0, sources: [] };
  expect(storedCall(now).outcome).toEqual(now);
});

test("L15: a late answer for which the device's model called no tool says so", () => {
  const outcome = { status: "success", text: "Done!", elapsedMs: 1, asked: false } as const;
  expect(lateNote(storedCall(outcome), outcome)).toContain(`Result:\n[${NO_TOOL_CALLED}]\nDone!`);
});
