import { expect, test } from "vitest";
import { boundCalls, sharedOutcome } from "./bounded-calls.ts";
import type { Call } from "./history.ts";

let count = 0;
const call = (args: Record<string, unknown>, more: Partial<Call> = {}): Call => {
  count += 1;
  return { id: `id-${count}`, modelCallId: `call_${count}`, name: "write", args, ...more };
};

test("L14: equal calls name the first of them, whatever the order of their arguments", () => {
  const [first, other, same] = boundCalls([
    call({ path: "a", content: { x: 1, y: 2 } }),
    call({ path: "b" }),
    call({ content: { y: 2, x: 1 }, path: "a" }),
  ]);
  expect(first?.same).toBeUndefined();
  expect(other?.same).toBeUndefined();
  expect(same).toMatchObject({ same: first?.id });
});

test.each<[string, Call, Call]>([
  ["another tool", call({ path: "a" }), call({ path: "a" }, { name: "read" })],
  ["another argument", call({ path: "a" }), call({ path: "b" })],
  ["another place in the order", call({ path: "a", id: "x" }), call({ path: "a", after: ["x"] })],
  ["arguments that cannot be read", call({}), call({}, { problem: "the arguments are not JSON: {" })],
])("L14: calls with %s are different", (_, one, other) => {
  expect(boundCalls([one, other]).map(({ same }) => same)).toEqual([undefined, undefined]);
});

test("L14: the 65th different call is refused in words; the equal ones of the first 64 are not counted", () => {
  const calls = Array.from({ length: 100 }, (_, at) => [call({ at }), call({ at })]).flat();
  const bounded = boundCalls(calls);
  expect(bounded).toHaveLength(200);
  const open = bounded.filter(({ outcome, same }) => !outcome && same === undefined);
  expect(open).toHaveLength(64);
  const refused = bounded.filter(({ outcome, same }) => outcome && same === undefined);
  expect(refused).toHaveLength(36);
  expect(refused[0]?.outcome).toMatchObject({
    status: "error",
    unsent: true,
    text: expect.stringContaining("the first 64 different ones run"),
    advice: expect.stringContaining("further step"),
  });
  // Equal to a refused one: answered as well.
  expect(bounded.filter(({ outcome, same }) => !outcome && same !== undefined)).toHaveLength(64);
});

test("L14: of a reply with thousands of calls a row's worth is kept", () => {
  const bounded = boundCalls(Array.from({ length: 20_000 }, (_, at) => call({ at })));
  expect(JSON.stringify(bounded).length).toBeLessThan(500_000);
  expect(bounded.at(-1)?.outcome?.text).toContain("20000 calls");
});

test("L14: calls of another program are left as they are", () => {
  const calls = [call({}, { name: "theirs" }), call({}, { name: "theirs" })];
  expect(boundCalls(calls, ({ name }) => name === "theirs")).toEqual(calls);
});

test("L14: a shared result says where it stands, and counts and shows nothing twice", () => {
  const outcome = {
    status: "error" as const,
    errorType: "timeout" as const,
    text: "Error: too slow",
    elapsedMs: 5,
    usage: { input_tokens: 1, output_tokens: 1 },
    media: [{ id: "x", media_type: "image/png", bytes: 1, sha256: "0" }],
    unsent: true as const,
  };
  expect(sharedOutcome(call({}, { modelCallId: "call_x" }), outcome)).toEqual({
    status: "error",
    errorType: "timeout",
    text: "Error: Equal to the call call_x of this reply. Equal calls run once: the result stands there.",
    elapsedMs: 0,
    sources: [],
    unsent: true,
  });
});
