/** The spans of a conversation: turns, model calls, calls. Their times and ends are in its rows; their words are in no span. */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import { WITHOUT_MODEL } from "@edgecall/core/loop/without-model.ts";
import { isOwnTool } from "@edgecall/core/tools/own-names.ts";
import {
  childOf,
  newTrace,
  readTraceparent,
  type SpanContext,
  spanIdOf,
  traceparentOf,
} from "@edgecall/core/trace/context.ts";
import { EDGE_CALL } from "../api/edge-call.ts";
import { isHomeTool } from "../api/home-tools.ts";
import type { NewTurn } from "../api/turns.ts";
import { traceSettings } from "../settings/trace.ts";
import type { ConversationContext } from "./context.ts";
import { featuresOf } from "./feature.ts";
import type { StoredCall, Turn } from "./store/rows.ts";

/** A turn without a request that says whether it is recorded, as of a chat app, decides for itself. It is stored with the turn. */
export function withTrace({ env }: ConversationContext, request: NewTurn): NewTurn {
  const settings = request.origin.trace === undefined ? traceSettings(env) : undefined;
  if (!settings) return request;
  const trace = traceparentOf(newTrace(settings.ratio, spanIdOf("turn", request.id)));
  return { ...request, origin: { ...request.origin, trace } };
}

/** @returns undefined: the turn is not recorded */
function contextOf(
  { tracer }: ConversationContext,
  turn: Turn,
): { own: SpanContext; parentId?: string } | undefined {
  const parent = tracer && readTraceparent(turn.origin.trace);
  if (!parent?.sampled) return undefined;
  const own = childOf(parent, spanIdOf("turn", turn.id));
  return { own, ...(parent.spanId !== own.spanId && { parentId: parent.spanId }) };
}

/** What a call takes along. */
export function traceOfCall(context: ConversationContext, turn: Turn, callId: string): { trace?: string } {
  const of = contextOf(context, turn);
  return of ? { trace: traceparentOf(childOf(of.own, spanIdOf("call", callId))) } : {};
}

/** A turn has ended. @param error its code */
export function traceTurn(
  context: ConversationContext,
  turn: Turn,
  end: { status: string; error: string | undefined; iterations: number; failedCalls: number },
): void {
  const of = contextOf(context, turn);
  if (!of) return;
  context.tracer?.add({
    context: of.own,
    parentId: of.parentId,
    name: "invoke_agent edgecall",
    kind: "internal",
    startMs: turn.createdAt,
    endMs: Date.now(),
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "edgecall",
      "edgecall.turn.status": end.status,
      "edgecall.turn.channel": turn.origin.channel,
      "edgecall.turn.model_calls": end.iterations,
      "edgecall.turn.failed_calls": end.failedCalls,
      ...(context.transcript.turn(turn.id)?.model === WITHOUT_MODEL && {
        "edgecall.turn.without_model": true,
      }),
    },
    error: end.status === "failed" ? (end.error ?? "failed") : undefined,
  });
}

/** The turn's span, below which a call of its model is one. */
export function spanOfTurn(context: ConversationContext, turn: Turn): SpanContext | undefined {
  return contextOf(context, turn)?.own;
}

/** A call has its outcome. @param startMs when it went out, epoch ms; undefined: it did not */
export function traceCall(
  context: ConversationContext,
  turn: Turn,
  call: StoredCall,
  outcome: Outcome,
  startMs: number | undefined,
): void {
  const of = contextOf(context, turn);
  if (!of) return;
  // A model may have made any other name up, or it is a client's.
  const isOurs =
    call.name === EDGE_CALL || isHomeTool(featuresOf(context), call.name) || isOwnTool(call.name);
  const now = Date.now();
  context.tracer?.add({
    context: childOf(of.own, spanIdOf("call", call.id)),
    parentId: of.own.spanId,
    name: isOurs ? `execute_tool ${call.name}` : "execute_tool",
    kind: "internal",
    startMs: startMs ?? now - outcome.elapsedMs,
    endMs: now,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": isOurs ? call.name : undefined,
      "gen_ai.tool.call.id": call.id,
    },
    error: outcome.status === "error" ? (outcome.errorType ?? "execution_failed") : undefined,
  });
}
