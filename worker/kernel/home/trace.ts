/** The spans of a home: calls on their way to an agent, and the time in which a person was asked. */

import { TRACE_FEATURE } from "@edgecall/core/protocol/names.ts";
import {
  childOf,
  readTraceparent,
  type SpanContext,
  spanIdOf,
  traceparentOf,
} from "@edgecall/core/trace/context.ts";
import type { SettledOutcome } from "../api/calls.ts";
import { EXPIRED, type Question } from "../api/questions.ts";
import { bridgeOf } from "./bridge/bridge-socket.ts";
import type { HomeContext } from "./context.ts";
import { JOB, type LedgerCall } from "./ledger/ledger.ts";

type TracedCall = { id: string; flags?: LedgerCall["flags"] | undefined };

/** @returns undefined: the call is not recorded */
function contextOf({ id, flags }: TracedCall): { own: SpanContext; parentId: string } | undefined {
  const parent = readTraceparent(flags?.trace);
  return parent?.sampled
    ? { own: childOf(parent, spanIdOf("home", id)), parentId: parent.spanId }
    : undefined;
}

/** For the frame to the bridge. */
export function traceForBridge(call: TracedCall): { traceparent?: string } {
  const of = contextOf(call);
  return of ? { traceparent: traceparentOf(of.own) } : {};
}

/** For the command, which the bridge passes on as it is. A bridge that traces has a span of its own, whose id is known. */
export function traceForAgent(home: HomeContext, call: TracedCall, now: number): { traceparent?: string } {
  const of = contextOf(call);
  if (!of) return {};
  const above = bridgeOf(home).has(TRACE_FEATURE, now)
    ? childOf(of.own, spanIdOf("bridge", call.id))
    : of.own;
  return { traceparent: traceparentOf(above) };
}

/** For a call that the call's agent asks for. @param given by the agent, for a span of its own */
export function traceForDelegated(call: TracedCall, given: string | undefined): { trace?: string } {
  const of = contextOf(call);
  if (!of) return {};
  const agents = readTraceparent(given);
  const isSame = agents?.sampled && agents.traceId === of.own.traceId;
  return { trace: traceparentOf(isSame ? agents : of.own) };
}

/** A call has its outcome. */
export function traceCall(home: HomeContext, call: LedgerCall, outcome: SettledOutcome, now: number): void {
  const of = home.tracer && call.command !== JOB ? contextOf(call) : undefined;
  if (!of) return;
  home.tracer?.add({
    context: of.own,
    parentId: of.parentId,
    name: "home.call",
    kind: "client",
    startMs: call.createdAt,
    endMs: now,
    attributes: {
      "edgecall.command": call.command === "tool" || call.command === "prompt" ? call.command : undefined,
      "edgecall.sends": call.sends,
      "messaging.message.id": call.id,
    },
    error: outcome.status === "error" ? (outcome.errorType ?? "execution_failed") : undefined,
  });
}

/** A question in the middle of a call is closed. */
export function traceQuestion(
  home: HomeContext,
  call: LedgerCall,
  { approval, askedAt }: Question,
  answer: string,
): void {
  const of = home.tracer && contextOf(call);
  if (!of) return;
  const isExpired = answer === EXPIRED;
  home.tracer?.add({
    context: childOf(of.own),
    parentId: of.own.spanId,
    name: approval ? "wait_for_approval" : "wait_for_answer",
    kind: "internal",
    startMs: askedAt,
    endMs: Date.now(),
    attributes: {
      "edgecall.approved": approval ? answer === "approve" : undefined,
      "messaging.message.id": call.id,
    },
    error: isExpired ? "timeout" : undefined,
  });
}
