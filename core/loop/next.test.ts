import { expect, test } from "vitest";
import type { Call, Entry } from "./history.ts";
import { DEFAULT_LIMITS, limitNote, modelCalls, nextOf } from "./next.ts";

const LIMITS = { maxModelCalls: 4, maxFailedBatches: 2, maxParallel: 5 };

let number = 0;
const call = (status?: "success" | "error"): Call => ({
  id: `id-${++number}`,
  modelCallId: `m-${number}`,
  name: "read",
  args: {},
  ...(status && { outcome: { status, text: status, elapsedMs: 1 } }),
});
const user: Entry = { role: "user", text: "hello" };
const says = (text: string): Entry => ({ role: "assistant", text, calls: [] });
const batch = (...statuses: Array<"success" | "error" | undefined>): Entry => ({
  role: "assistant",
  text: "",
  calls: statuses.map(call),
});

const MODEL = { do: "model", tools: true };
const ERRORS = { do: "model", tools: false, limit: "errors" };
const ITERATIONS = { do: "model", tools: false, limit: "iterations" };

test.each<[string, Entry[], object]>([
  ["nothing yet", [], MODEL],
  ["a question", [user], MODEL],
  ["an answer", [user, says("hi")], { do: "done", text: "hi" }],
  ["results", [user, batch("success")], MODEL],
  ["an answer after results", [user, batch("success"), says("hi")], { do: "done", text: "hi" }],
  ["one failed batch", [user, batch("error")], MODEL],
  ["failed batches at the limit", [user, batch("error"), batch("error", "error")], ERRORS],
  ["a batch that failed in part does not count", [user, batch("error"), batch("error", "success")], MODEL],
  ["a success between failures starts anew", [user, batch("error"), batch("success"), batch("error")], MODEL],
  ["a message between failures starts anew", [user, batch("error"), user, batch("error")], MODEL],
  ["steps at the limit", [user, ...Array.from({ length: 4 }, () => batch("success"))], ITERATIONS],
  [
    "steps at the limit, then a message",
    [user, ...Array.from({ length: 4 }, () => batch("success")), user],
    ITERATIONS,
  ],
  ["both limits", [user, batch("success"), batch("success"), batch("error"), batch("error")], ERRORS],
  [
    "the summary after a limit",
    [user, batch("error"), batch("error"), says("sorry")],
    { do: "done", text: "sorry" },
  ],
])("%s", (_, turn, next) => {
  expect(nextOf(turn, LIMITS)).toEqual(next);
});

test("unanswered calls are out, and only those", () => {
  const entry = batch("success", undefined, "error", undefined);
  const open = entry.role === "assistant" ? [entry.calls[1], entry.calls[3]] : [];
  expect(nextOf([user, entry], LIMITS)).toEqual({ do: "calls", calls: open });
});

test("the defaults are the design's", () => {
  expect(DEFAULT_LIMITS).toEqual({ maxModelCalls: 10, maxFailedBatches: 3, maxParallel: 5 });
});

test("modelCalls counts replies", () => {
  expect(modelCalls([user, batch("success"), user, says("hi")])).toBe(2);
});

test("the note at a limit says which one", () => {
  expect(limitNote("iterations", LIMITS)).toContain("limit of 4 steps");
  expect(limitNote("errors", LIMITS)).toContain("2 attempts in a row failed");
});
