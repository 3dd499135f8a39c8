/** How a turn is shown: as the JSON answer, and as the events that a client can re-attach to. */
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { type CallTiming, type TurnMetrics, turnMetrics } from "@edgecall/core/loop/metrics.ts";
import { modelCalls } from "@edgecall/core/loop/next.ts";
import { recordsOf } from "@edgecall/core/loop/run.ts";
import type { TurnResult } from "../api/answers.ts";
import { EDGE_CALL } from "../api/edge-call.ts";
import type { TurnEvent } from "../api/turn-events.ts";
import type { ReportedTurn } from "../api/usage.ts";
import { isClients, requestedOf } from "./client-tools.ts";
import { type StoredEntry, type StoredQuestion, shownCall, type Turn } from "./store/transcript-rows.ts";

export function resultOf(
  turn: Turn,
  entries: readonly StoredEntry[],
  questions: readonly StoredQuestion[] = [],
): TurnResult {
  const requested = requestedOf(turn, entries);
  const isOurs = (call: CallRecord) => !isClients(turn, call);
  return {
    turn: turn.id,
    status: turn.status,
    answer: turn.answer,
    model: turn.model,
    ...(requested.length > 0 && { requested }),
    calls: recordsOf(entries).filter(isOurs).map(shownCall),
    usage: turn.usage,
    metrics: metricsOf(turn, entries),
    ...(turn.notices.length > 0 && { notices: turn.notices.map(({ text }) => text) }),
    ...(questions.length > 0 && { questions: questions.map(({ question }) => question) }),
    ...(turn.error !== null && turn.answer !== null && { error: { code: turn.error, message: turn.answer } }),
  };
}

function metricsOf(turn: Turn, entries: readonly StoredEntry[]): TurnMetrics {
  const batches = entries.flatMap((entry) =>
    entry.role === "assistant" && entry.calls.length > 0 ? [entry.calls] : [],
  );
  const timings = batches.map((calls) =>
    calls.flatMap(({ outcome, submittedAt, settledAt }): CallTiming[] => {
      if (!outcome || settledAt === null) return [];
      const { elapsedMs, status, errorType } = outcome;
      return [
        {
          startedAt: submittedAt ?? settledAt,
          endedAt: settledAt,
          elapsedMs,
          status,
          ...(errorType && { errorType }),
        },
      ];
    }),
  );
  return turnMetrics(timings, modelCalls(entries), turn.createdAt, turn.finishedAt ?? Date.now());
}

/** A turn that has ended, for the counts of its home. */
export function toldTurn(turn: Turn, entries: readonly StoredEntry[]): ReportedTurn | undefined {
  if (turn.status === "running") return undefined;
  const { iterations, error, timeout, duration_ms } = metricsOf(turn, entries);
  const calls = entries.flatMap((entry) => (entry.role === "assistant" ? entry.calls : []));
  return {
    status: turn.status,
    channel: turn.origin.channel,
    iterations,
    failedCalls: error + timeout,
    durationMs: duration_ms,
    inputTokens: turn.usage.input_tokens,
    outputTokens: turn.usage.output_tokens,
    // Calls of devices are counted where they are settled.
    calls: calls.flatMap(({ name, outcome }) =>
      name === EDGE_CALL || !outcome
        ? []
        : [
            {
              tool: name,
              elapsedMs: outcome.elapsedMs,
              ...(outcome.errorType && { errorType: outcome.errorType }),
            },
          ],
    ),
  };
}

/** The events of a turn after a seq, in their order. */
export function eventsAfter(
  turn: Turn,
  entries: readonly StoredEntry[],
  questions: readonly StoredQuestion[],
  after: number,
): TurnEvent[] {
  const events: Array<TurnEvent & { id: number }> = [];
  for (const entry of entries) {
    if (entry.role !== "assistant") continue;
    const own = entry.calls.filter((call) => !isClients(turn, call));
    if (own.length === 0) continue;
    const calls = recordsOf([{ ...entry, calls: own }]).map(shownCall);
    // As it was when it was said: the calls were still to be made.
    const asked = calls.map(({ id, name, agent, action, query, args }) => ({
      id,
      name,
      ...(agent !== undefined && { agent }),
      ...(action !== undefined && { action }),
      ...(query !== undefined && { query }),
      ...(args && { args }),
      status: "pending" as const,
    }));
    events.push({ id: entry.seq, event: "message", data: { text: entry.text, calls: asked } });
    for (const [position, call] of own.entries()) {
      const shown = calls[position];
      if (shown && call.settledSeq !== null) events.push({ id: call.settledSeq, event: "call", data: shown });
    }
  }
  for (const { question, askedSeq, closedSeq } of questions) {
    const { answer: _, answered_by: __, ...asked } = question;
    events.push({ id: askedSeq, event: "question", data: asked });
    if (closedSeq !== null) events.push({ id: closedSeq, event: "question", data: question });
  }
  if (turn.finishedSeq !== null)
    events.push({ id: turn.finishedSeq, event: "done", data: resultOf(turn, entries, questions) });
  return events.filter((event) => event.id > after).sort((a, b) => a.id - b.id);
}
