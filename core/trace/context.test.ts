import { expect, test } from "vitest";
import { childOf, newTrace, readTraceparent, spanIdOf, traceparentOf } from "./context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

test("W3C's own example is read and written", () => {
  const context = readTraceparent(`00-${TRACE}-${SPAN}-01`);
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true });
  expect(context && traceparentOf(context)).toBe(`00-${TRACE}-${SPAN}-01`);
  expect(readTraceparent(`00-${TRACE}-${SPAN}-00`)?.sampled).toBe(false);
});

test("other flags, and fields of a later version, are left alone", () => {
  expect(readTraceparent(`00-${TRACE}-${SPAN}-03`)?.sampled).toBe(true);
  expect(readTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future-brings`)?.traceId).toBe(TRACE);
});

test.each([
  ["nothing", undefined],
  ["an empty text", ""],
  ["the version ff", `ff-${TRACE}-${SPAN}-01`],
  ["a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["a field too many in version 00", `00-${TRACE}-${SPAN}-01-more`],
  ["a short id", `00-${TRACE.slice(1)}-${SPAN}-01`],
  ["a long text", `cc-${TRACE}-${SPAN}-01-${"x".repeat(200)}`],
])("%s is no traceparent", (_, text) => {
  expect(readTraceparent(text)).toBeUndefined();
});

test("the same uuid has the same span in every program, and another one with another owner", () => {
  const uuid = "0b7c1a54-58a5-4dd3-b1d4-b0a7a3f0a9a1";
  expect(spanIdOf("call", uuid)).toMatch(/^[0-9a-f]{16}$/);
  expect(spanIdOf("call", uuid)).toBe(spanIdOf("call", uuid));
  const owners = ["turn", "call", "home", "bridge", "agent", "tool"] as const;
  expect(new Set(owners.map((owner) => spanIdOf(owner, uuid))).size).toBe(owners.length);
  expect(spanIdOf("turn", "")).toBe(fnv1a("turn:"));
});

/** FNV-1a over bytes, as its page has it. */
function fnv1a(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash ^= BigInt(byte);
    hash = (hash * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return hash.toString(16).padStart(16, "0");
}

test("a new trace is recorded by its ratio, and its children go along", () => {
  expect(newTrace(1).sampled).toBe(true);
  const none = newTrace(0);
  expect(none.sampled).toBe(false);
  expect(childOf(none)).toMatchObject({ traceId: none.traceId, sampled: false });
  expect(childOf(none).spanId).not.toBe(none.spanId);
});
