import { describe, expect, test } from "vitest";
import { shownArguments, type Waiting, waitingOf } from "./dependencies.ts";
import type { Call, Outcome } from "./history.ts";

const done = (text: string): Outcome => ({ status: "success", text, elapsedMs: 1 });
const failed: Outcome = { status: "error", text: "Error: no", errorType: "execution_failed", elapsedMs: 1 };
const unknown: Outcome = { ...failed, errorType: "outcome_unknown" };
const accepted: Outcome = { ...done("Accepted"), job: "t" };

function call(args: Record<string, unknown>, outcome?: Outcome): Call {
  const id = crypto.randomUUID();
  return { id, modelCallId: id, name: "edge_call", args, ...(outcome && { outcome }) };
}

/** The state of the last call. */
const last = (...batch: Call[]): Waiting => waitingOf(batch.at(-1) as Call, batch);
const ready = (args: Record<string, unknown>) => ({ state: "ready", args });
const invalid = (words: RegExp) => ({
  state: "ended",
  errorType: "invalid_params",
  words: { text: expect.stringMatching(words) },
});
const neverRan = (words: string) => ({
  state: "ended",
  errorType: "execution_failed",
  words: { text: `Error: Not run: it was to come after 'a', ${words}. Nothing was run.` },
});
const a = (outcome?: Outcome) => call({ id: "a", agent_id: "pi", action: "cpu" }, outcome);

describe("a call that depends on none", () => {
  test.each([
    ["plain", { agent_id: "pi" }],
    ["named", { agent_id: "pi", id: "b" }],
    ["empty texts", { agent_id: "pi", id: "", after: "" }],
    ["null", { agent_id: "pi", id: null, after: null }],
    ["an empty list", { agent_id: "pi", after: [] }],
    ["an empty list as a text", { agent_id: "pi", after: "[]" }],
  ])("%s", (_, args) => {
    expect(last(a(), call(args))).toEqual(ready({ agent_id: "pi" }));
  });

  test("unreadable arguments are answered where they would run", () => {
    expect(last(a(), { ...call({}), problem: "not JSON" })).toEqual(ready({}));
  });
});

describe("a call that comes after another", () => {
  test.each([
    ["a list", ["a"]],
    ["a text", "a"],
    ["a list as a text", '["a"]'],
    ["twice", ["a", "a"]],
  ])("%s", (_, after) => {
    expect(last(a(), call({ x: 1, after }))).toEqual({ state: "waits" });
    expect(last(a(done("ok")), call({ x: 1, after }))).toEqual(ready({ x: 1 }));
  });

  test("a reference is enough, and becomes the result", () => {
    const args = {
      params: { text: { $ref: "/a/result" }, from: { $ref: "/a/agent" }, n: { $ref: "/a/data/n" } },
    };
    expect(last(a(), call(args))).toEqual({ state: "waits" });
    expect(last(a(done('{"n": 2}')), call(args))).toEqual(
      ready({ params: { text: '{"n": 2}', from: "pi", n: 2 } }),
    );
  });

  test("order in the reply does not matter", () => {
    const second = call({ after: ["a"] });
    expect(waitingOf(second, [second, a()])).toEqual({ state: "waits" });
  });

  test("of two dependencies both have to succeed", () => {
    const b = (outcome?: Outcome) => call({ id: "b" }, outcome);
    const c = call({ after: ["a", "b"] });
    expect(last(a(done("1")), b(), c)).toEqual({ state: "waits" });
    expect(last(a(done("1")), b(done("2")), c)).toEqual(ready({}));
    expect(last(a(failed), b(), c)).toEqual(neverRan("which failed"));
  });

  test.each<[string, Outcome, string]>([
    ["failed", failed, "which failed"],
    ["is unknown", unknown, "whose outcome is unknown"],
    ["timed out", { ...failed, errorType: "timeout" }, "which failed"],
    ["was accepted as a job", accepted, "whose result comes later"],
  ])("it never runs when that %s", (_, outcome, words) => {
    expect(last(a(outcome), call({ after: ["a"] }))).toEqual(neverRan(words));
  });

  test("a chain ends from its beginning", () => {
    const b = call({ id: "b", after: ["a"] }, failed);
    expect(last(a(failed), b, call({ after: ["b"] }))).toMatchObject({ state: "ended" });
  });
});

describe("what cannot be is refused in words", () => {
  test.each<[string, RegExp, Call[]]>([
    ["an unknown label", /no call of this reply has the id 'b'/, [a(), call({ after: ["b"] })]],
    ["an unknown label in a reference", /has the id 'b'/, [a(), call({ x: { $ref: "/b/result" } })]],
    [
      "a label given twice",
      /more than one call of this reply has the id 'a'/,
      [a(), a(), call({ after: ["a"] })],
    ],
    ["its own label given twice", /more than one call/, [a(), a()]],
    ["itself", /it would wait for itself/, [call({ id: "a", after: ["a"] })]],
    ["itself by a reference", /wait for itself/, [call({ id: "a", x: { $ref: "/a/result" } })]],
    ["a circle", /wait for itself/, [call({ id: "a", after: ["b"] }), call({ id: "b", after: ["a"] })]],
    ["a label with a blank", /id: right would be/, [call({ id: "a b" })]],
    ["a label that is too long", /id: right would be/, [call({ id: "a".repeat(33) })]],
    ["a label that is an object", /id: right would be/, [call({ id: {} })]],
    ["after an object", /after: right would be/, [a(), call({ after: {} })]],
    ["after half a list", /after: right would be/, [a(), call({ after: '["a"' })]],
    ["a missing value", /no 'data'/, [a(done("text")), call({ x: { $ref: "/a/data" } })]],
    ["arguments that become a text", /is not an object/, [a(done("text")), call({ $ref: "/a/result" })]],
    ["too much", /at most 65536/, [a(done("x".repeat(70_000))), call({ x: { $ref: "/a/result" } })]],
  ])("%s", (_, words, batch) => {
    expect(last(...batch)).toEqual(invalid(words));
  });

  test("who waits for a circle without being in it waits for its end", () => {
    const circle = [call({ id: "a", after: ["b"] }), call({ id: "b", after: ["a"] })];
    expect(last(...circle, call({ after: ["a"] }))).toEqual({ state: "waits" });
  });

  test("a label `__proto__` is a label", () => {
    const odd = call({ id: "__proto__" }, done("text"));
    expect(last(odd, call({ x: { $ref: "/__proto__/result" } }))).toEqual(ready({ x: "text" }));
    expect(last(a(done("1")), call({ x: { $ref: "/a/__proto__" } }))).toEqual(invalid(/no '__proto__'/));
  });
});

test("parameters of a tool stay its own", () => {
  const parametersOf = (tool: string) => (tool === "edge_call" ? ["id", "after"] : []);
  const own = call({ id: "anything at all", after: 3 });
  expect(waitingOf(own, [own], parametersOf)).toEqual(ready({ id: "anything at all", after: 3 }));
});

test("all arguments may be one reference to an object", () => {
  expect(last(a(done('{"n": 1}')), call({ $ref: "/a/data", id: "b" }))).toEqual(ready({ n: 1 }));
});

test("the agent of a result is the one that was chosen, whatever the call names", () => {
  const args = { agent_id: { $ref: "/a/agent" }, action: "cpu" };
  const routed = { agent: "pi-2", why: "chosen of 3" };
  const any = (outcome: Outcome) => call({ id: "a", agent_id: "any", action: "cpu" }, outcome);
  expect(last(any({ ...done("1 %"), routed }), call(args))).toEqual(
    ready({ agent_id: "pi-2", action: "cpu" }),
  );
  expect(last(any(done("1 %")), call(args))).toEqual(ready({ agent_id: "any", action: "cpu" }));
});

test("people see what it ran with", () => {
  const second = call({ agent_id: "pi", params: { x: { $ref: "/a/result" } } });
  expect(shownArguments(second, [a(done("7")), second])).toEqual({ agent_id: "pi", params: { x: "7" } });
  expect(shownArguments(second, [a(), second])).toEqual(second.args);
  const plain = call({ id: "b", agent_id: "pi" });
  expect(shownArguments(plain, [plain])).toEqual(plain.args);
});
