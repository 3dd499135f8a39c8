/** While tracing is off, nothing is sent, computed or added to a message. test/e2e/tracing.test.ts has it on. */
import { spanIdOf } from "@edgecall/core/trace/context.ts";
import { expect, test, vi } from "vitest";
import type { NewTurn } from "./api/turns.ts";
import type { ConversationContext } from "./conversation/context.ts";
import { withTrace } from "./conversation/trace.ts";
import { traceForBridge, traceForDelegated } from "./home/trace.ts";
import { newTracer } from "./trace.ts";

const request: NewTurn = {
  id: "0b7c1a54-58a5-4dd3-b1d4-b0a7a3f0a9a1",
  idempotency: undefined,
  text: "How full is the disk?",
  images: [],
  origin: { principal: "anna", role: "owner", channel: "telegram" },
};
const conversation = (env: Record<string, string>) => ({ env }) as unknown as ConversationContext;
const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

test("off: no tracer, no random id, the same turn, and no field in a frame", () => {
  const random = vi.spyOn(crypto, "getRandomValues");
  expect(newTracer({}, "home", { waitUntil: () => {} })).toBeUndefined();
  expect(withTrace(conversation({}), request)).toBe(request);
  expect(traceForBridge({ id: request.id, flags: {} })).toEqual({});
  expect(traceForDelegated({ id: request.id }, `00-${"a".repeat(32)}-${"b".repeat(16)}-01`)).toEqual({});
  expect(random).not.toHaveBeenCalled();
  random.mockRestore();
});

test("on: a turn of a chat begins a trace, whose first span it is; the ratio decides", () => {
  const { trace } = withTrace(conversation(ON), request).origin;
  expect(trace).toMatch(new RegExp(`^00-[0-9a-f]{32}-${spanIdOf("turn", request.id)}-01$`));
  const none = withTrace(conversation({ ...ON, OTEL_TRACES_SAMPLER_ARG: "0" }), request).origin.trace;
  expect(none).toMatch(/-00$/);
  const given = {
    ...request,
    origin: { ...request.origin, trace: `00-${"a".repeat(32)}-${"b".repeat(16)}-00` },
  };
  expect(withTrace(conversation(ON), given)).toBe(given);
});

test("a device's traceparent counts only within the trace of its own call", () => {
  const trace = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const call = { id: request.id, flags: { trace } };
  const own = `00-${"a".repeat(32)}-${spanIdOf("home", request.id)}-01`;
  expect(traceForBridge(call)).toEqual({ traceparent: own });
  const its = `00-${"a".repeat(32)}-${"c".repeat(16)}-01`;
  expect(traceForDelegated(call, its)).toEqual({ trace: its });
  expect(traceForDelegated(call, its.replace("aaaa", "dddd"))).toEqual({ trace: own });
  expect(traceForDelegated(call, "rubbish")).toEqual({ trace: own });
});
