import { afterEach, expect, test, vi } from "vitest";
import { verdictOf } from "./policy.ts";
import { PersonQuestions } from "./questions.ts";

afterEach(() => void vi.useRealTimers());

/** @param now monotonic ms; absent: the real clock, or the test's fake one */
function harness(now?: () => number) {
  const said: Array<{ question_id: string } & Record<string, unknown>> = [];
  const questions = new PersonQuestions((event) => void said.push(event), now && { now });
  const control = new AbortController();
  return { said, questions, control };
}

test("asks, and gives the answer to the asking call; the same answer again has no effect", async () => {
  // The event contains the remaining time, to the millisecond.
  const { said, questions, control } = harness(() => 0);
  const answered = questions.ask({ requestId: "r", text: "Which?", options: ["a", "b"] }, control.signal);
  expect(said).toEqual([
    {
      type: "question",
      request_id: "r",
      question_id: expect.any(String),
      text: "Which?",
      options: ["a", "b"],
      expires_in_ms: 600_000,
    },
  ]);
  const question_id = said[0]?.question_id ?? "";
  expect(questions.answer({ question_id, answer: "c", by: "anna" }, "1")).toEqual({
    ok: false,
    error: "answer: right would be one of: a, b",
  });
  expect(questions.answer({ question_id, answer: "b", by: "anna" }, "2")).toEqual({ ok: true });
  expect(await answered).toEqual({ by: "person", text: "b", hash: undefined, principal: "anna" });
  expect(questions.answer({ question_id, answer: "b", by: "anna" }, "2")).toEqual({ ok: true });
  expect(questions.answer({ question_id, answer: "a", by: "anna" }, "3")).toEqual({
    ok: false,
    error: `question ${question_id} was answered already`,
  });
  expect(questions.answer({ question_id: "other", answer: "a", by: "anna" }, "4")).toEqual({
    ok: false,
    error: "no open question other",
  });
});

test("without an answer its time ends, and a late answer is refused", async () => {
  vi.useFakeTimers();
  const { said, questions, control } = harness();
  const answered = questions.ask({ requestId: "r", text: "?", expiresInMs: 5_000 }, control.signal);
  await vi.advanceTimersByTimeAsync(4_999);
  const question_id = said[0]?.question_id ?? "";
  await vi.advanceTimersByTimeAsync(1);
  expect(await answered).toEqual({ by: "nobody", afterMs: 5_000 });
  expect(questions.answer({ question_id, answer: "a", by: "anna" }, "1")).toEqual({
    ok: false,
    error: `question ${question_id} is no longer open: its time was over`,
  });
});

test("after a stop of the process, an answer that is read before the timers ran is still late", async () => {
  const said: Array<{ question_id: string }> = [];
  let now = 0;
  const questions = new PersonQuestions((event) => void said.push(event), { now: () => now });
  const answered = questions.ask({ requestId: "r", text: "?" }, new AbortController().signal);
  now = 600_000;
  const question_id = said[0]?.question_id ?? "";
  expect(questions.answer({ question_id, answer: "approve", by: "anna" }, "1")).toMatchObject({
    ok: false,
    error: expect.stringContaining("its time was over"),
  });
  expect(await answered).toEqual({ by: "nobody", afterMs: 600_000 });
});

test("the end of the call ends its question", async () => {
  const { said, questions, control } = harness();
  const answered = questions.ask({ requestId: "r", text: "?" }, control.signal);
  control.abort();
  expect(await answered).toEqual({ by: "end" });
  const question_id = said[0]?.question_id ?? "";
  expect(questions.answer({ question_id, answer: "a", by: "anna" }, "1")).toMatchObject({
    ok: false,
    error: expect.stringContaining("its call has ended"),
  });
  expect(await questions.ask({ requestId: "r", text: "?" }, control.signal)).toEqual({ by: "end" });
  expect(said).toHaveLength(1);
});

test("it is repeated, with the remaining time, for clients that were away; and not after it is closed", async () => {
  vi.useFakeTimers();
  const { said, questions, control } = harness();
  const one = questions.ask({ requestId: "one", text: "1" }, control.signal);
  void questions.ask({ requestId: "two", text: "2" }, control.signal);
  questions.announce("two");
  expect(said.map(({ request_id }) => request_id)).toEqual(["one", "two", "two"]);
  expect(said[2]?.question_id).toBe(said[1]?.question_id);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said[3]).toMatchObject({ request_id: "one", expires_in_ms: 540_000 });
  questions.answer({ question_id: said[0]?.question_id ?? "", answer: "x", by: "anna" }, "a");
  await one;
  said.length = 0;
  questions.announce();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(new Set(said.map(({ request_id }) => request_id))).toEqual(new Set(["two"]));
  control.abort();
});

test("S7 a question that the gateway refuses to show fails with the reason, and an approval counts as denied", async () => {
  const { said, questions, control } = harness();
  const answered = questions.ask({ requestId: "r", text: "Which?", options: ["a", "b"] }, control.signal);
  const question_id = said[0]?.question_id ?? "";
  const refused = "Not asked: 3 questions of this call wait for an answer already.";
  expect(questions.answer({ question_id, answer: refused, refused, by: "gateway" }, "1")).toEqual({
    ok: true,
  });
  expect(await answered).toEqual({ by: "gateway", why: refused });
  expect(verdictOf("bash", { by: "gateway", why: refused }, "00", "anna")).toEqual({
    approved: false,
    advice: expect.any(String),
    text: expect.stringContaining("the gateway asked nobody: Not asked: 3 questions"),
  });
});
