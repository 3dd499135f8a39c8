import { describe, expect, test } from "vitest";
import type { Call, Entry } from "./history.ts";
import { DEFAULT_LIMITS, limitNote, modelCalls, nextOf } from "./next.ts";

const LIMITS = { maxModelCalls: 4, maxFailedBatches: 2, maxParallel: 5 };

let number = 0;
const call = (status?: "success" | "error"): Call => ({
  id: `id-${++number}`,
  modelCallId: `m-${number}`,
  name: "read",
  // A different call each time, because the same failing call has a limit of its own.
  args: { path: `/${number}` },
  ...(status && { outcome: { status, text: status, elapsedMs: 1 } }),
});
const user: Entry = { role: "user", text: "hello" };
const note: Entry = { role: "note", text: "the result of the job: done" };
const says = (text: string): Entry => ({ role: "assistant", text, calls: [] });
const batch = (...statuses: Array<"success" | "error" | undefined>): Entry => ({
  role: "assistant",
  text: "",
  calls: statuses.map(call),
});

const waiting = { role: "assistant" as const, text: "", calls: [call()] };

const MODEL = { do: "model", tools: true };
const ERRORS = { do: "model", tools: false, limit: "errors" };
const ITERATIONS = { do: "model", tools: false, limit: "iterations" };

test.each<[string, Entry[], object]>([
  ["nothing yet", [], MODEL],
  ["a question", [user], MODEL],
  ["an answer", [user, says("hi")], { do: "done", text: "hi" }],
  ["results", [user, batch("success")], MODEL],
  ["an answer after results", [user, batch("success"), says("hi")], { do: "done", text: "hi" }],
  [
    "a note while a call is out",
    [user, waiting, { role: "note", text: "late" }],
    { do: "calls", calls: waiting.calls },
  ],
  ["a note after an answer", [user, says("hi"), { role: "note", text: "late" }], MODEL],
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
  ["a note between failures starts nothing anew", [user, batch("error"), note, batch("error")], ERRORS],
  ["a note is no failed batch", [user, batch("error"), note, note], MODEL],
  ["a turn that a note began", [note], MODEL],
  ["both limits", [user, batch("success"), batch("success"), batch("error"), batch("error")], ERRORS],
  [
    "the summary after a limit",
    [user, batch("error"), batch("error"), says("sorry")],
    { do: "done", text: "sorry" },
  ],
])("%s", (_, turn, next) => {
  expect(nextOf(turn, LIMITS)).toEqual(next);
});

test("only unanswered calls are run", () => {
  const entry = batch("success", undefined, "error", undefined);
  const open = entry.role === "assistant" ? [entry.calls[1], entry.calls[3]] : [];
  expect(nextOf([user, entry], LIMITS)).toEqual({ do: "calls", calls: open });
});

test("the defaults are those of the design", () => {
  expect(DEFAULT_LIMITS).toEqual({ maxModelCalls: 10, maxFailedBatches: 3, maxParallel: 5, maxRepeats: 3 });
});

describe("the same call that fails", () => {
  const same = (more: Partial<Call> = {}): Call => ({
    ...call("error"),
    args: { path: "/x", options: { a: 1, b: 2 } },
    ...more,
  });
  const one = (made: Call): Entry => ({ role: "assistant", text: "", calls: [made] });
  const limits = { ...DEFAULT_LIMITS, maxFailedBatches: 100 };
  const after = (...turn: Entry[]) => nextOf([user, ...turn], limits);
  const REPEATS = { do: "model", tools: false, limit: "repeats" };

  test("three times, with any calls in between", () => {
    expect(after(one(same()), one(same()))).toEqual(MODEL);
    expect(after(one(same()), one(same()), one(same()))).toEqual(REPEATS);
    expect(after(one(same()), batch("success"), note, one(same()), batch("success"), one(same()))).toEqual(
      REPEATS,
    );
  });

  test("with its arguments in any order", () => {
    const turned = () => one(same({ args: { options: { b: 2, a: 1 }, path: "/x" } }));
    expect(after(one(same()), turned(), turned())).toEqual(REPEATS);
  });

  test("in one batch too", () => {
    expect(after({ role: "assistant", text: "", calls: [same(), same(), same()] })).toEqual(REPEATS);
  });

  test("another tool, other arguments and a success are not the same failure", () => {
    const ok = { outcome: { status: "success" as const, text: "", elapsedMs: 1 } };
    for (const other of [same({ name: "write" }), same({ args: { path: "/y" } }), same(ok)])
      expect(after(one(same()), one(same()), one(other))).toEqual(MODEL);
  });

  test("arguments that could not be read are compared as they were", () => {
    const broken = (problem: string) => one(same({ args: {}, problem }));
    expect(after(broken("a"), broken("b"), broken("c"))).toEqual(MODEL);
    expect(after(broken("a"), broken("a"), broken("a"))).toEqual(REPEATS);
  });

  test("a message of the person resets the count", () => {
    expect(after(one(same()), one(same()), user, one(same()))).toEqual(MODEL);
  });

  test("the limit can be set, and has priority over that of failed batches", () => {
    const turn = [user, one(same()), one(same())];
    expect(nextOf(turn, { ...DEFAULT_LIMITS, maxRepeats: 2 })).toEqual(REPEATS);
    expect(nextOf([...turn, one(same())], DEFAULT_LIMITS)).toEqual(REPEATS);
  });
});

test("modelCalls counts replies", () => {
  expect(modelCalls([user, batch("success"), user, says("hi")])).toBe(2);
});

test("the note at a limit names it", () => {
  expect(limitNote("iterations", LIMITS)).toContain("limit of 4 steps");
  expect(limitNote("errors", LIMITS)).toContain("2 attempts in a row failed");
  expect(limitNote("repeats", LIMITS)).toContain("The same call failed 3 times.");
  expect(limitNote("repeats", { ...LIMITS, maxRepeats: 2 })).toContain("failed 2 times");
});
