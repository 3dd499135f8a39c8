/** A turn as clients see it: as the JSON answer, as a page of the history, and as the events that a client can re-attach to. */

import { agentOfCall, type CallRecord, tokensOf } from "@edgecall/core/loop/history.ts";
import { type CallTiming, type TurnMetrics, turnMetrics } from "@edgecall/core/loop/metrics.ts";
import { modelCalls } from "@edgecall/core/loop/next.ts";
import { recordsOf } from "@edgecall/core/loop/run.ts";
import { WITHOUT_MODEL } from "@edgecall/core/loop/without-model.ts";
import type { EarlierTurn, PastTurn, TurnResult } from "../api/answers.ts";
import { EDGE_CALL } from "../api/edge-call.ts";
import type { RuleButton } from "../api/notices.ts";
import type { TurnEvent } from "../api/turn-events.ts";
import type { HistoryPage, HistoryPlace } from "../api/turns.ts";
import { GATEWAY_TOOLS, type ReportedTurn } from "../api/usage.ts";
import { isClients, requestedOf } from "./client-tools.ts";
import { planOf } from "./planned.ts";
import {
  type StoredCall,
  type StoredEntry,
  type StoredQuestion,
  shownCall,
  type Turn,
} from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import { undoButtons } from "./undo-buttons.ts";

/** The limit of one page of the history: results may have 50 KB each, and an answer between two objects 32 MiB. */
const PAGE_MAX_CHARS = 4_000_000;
/** Turns whose entries are read from rows in one go. */
const READ_AT_ONCE = 10;

export function turnResult(transcript: Transcript, turn: Turn): TurnResult {
  return {
    ...resultOf(turn, transcript.entriesOf(turn.n), transcript.questionsOf(turn.n)),
    ...earlierOf(transcript, turn),
  };
}

/** The result of a turn that has just begun. */
export function begunResult(turn: Turn): TurnResult {
  return resultOf(turn, [], []);
}

/** The newest turns before a place, the oldest of them first, with their texts. */
export function historyPage(transcript: Transcript, { before, limit }: HistoryPlace): HistoryPage {
  const left = transcript.turns().filter(({ n }) => n < before);
  const turns: PastTurn[] = [];
  let chars = 0;
  let next: number | null = null;
  while (left.length > 0 && turns.length < limit && chars < PAGE_MAX_CHARS) {
    const some = left.splice(-Math.min(READ_AT_ONCE, limit - turns.length));
    const past = pastTurns(transcript, some);
    for (const [at, turn] of [...past.entries()].reverse()) {
      const size = JSON.stringify(turn).length;
      if (chars > 0 && chars + size > PAGE_MAX_CHARS) return { turns, before: next };
      turns.unshift(turn);
      next = some[at]?.n ?? null;
      chars += size;
    }
  }
  return { turns, before: left.length > 0 ? next : null };
}

function pastTurns(transcript: Transcript, turns: readonly Turn[]): PastTurn[] {
  const entries = transcript.entriesBetween(turns[0]?.n ?? 0, turns.at(-1)?.n ?? 0);
  return turns.map((turn) => {
    const own = entries.filter((entry) => entry.turn === turn.n);
    const result = {
      ...resultOf(turn, own, transcript.questionsOf(turn.n)),
      ...earlierOf(transcript, turn),
    };
    return { ...userMessage(own), created_at: turn.createdAt, ...result };
  });
}

/** The person's message in a turn. A turn that a device began has none. */
export function userMessage(entries: readonly StoredEntry[]): Pick<PastTurn, "text" | "images"> {
  const entry = entries.find(({ role }) => role === "user");
  if (entry?.role !== "user") return { text: "" };
  return { text: entry.text, ...(entry.images && { images: entry.images }) };
}

function resultOf(
  turn: Turn,
  entries: readonly StoredEntry[],
  questions: readonly StoredQuestion[],
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
    ...(tokensOf(turn.agentsUsage) > 0 && { agents_usage: turn.agentsUsage }),
    metrics: metricsOf(turn, entries),
    ...ruleTexts(turn, entries),
    ...(turn.notices.length > 0 && { notices: turn.notices.map(({ text }) => text) }),
    ...(turn.unasked && { edgecall: { asked: false as const } }),
    ...(turn.cut && { cut: turn.cut }),
    ...(questions.length > 0 && { questions: questions.map(({ question }) => question) }),
    ...(turn.error !== null && turn.answer !== null && { error: { code: turn.error, message: turn.answer } }),
  };
}

/** The notice that the turn is, or the confirmations of the rules that it made; with what came of buttons that were pressed. */
function ruleTexts(
  { origin, pressed = [], answer }: Turn,
  entries: readonly StoredEntry[],
): Pick<TurnResult, "rules"> {
  const after = (buttons: RuleButton[]) => {
    const press = pressed.find(({ rule }) => buttons.some((button) => button.rule === rule));
    return press ? { buttons: [], pressed: press.text } : { buttons };
  };
  if (origin.notice) return { rules: [after(origin.notice.buttons)] };
  const made = entries.flatMap((entry) =>
    entry.role !== "assistant"
      ? []
      : entry.calls.flatMap(({ outcome }) =>
          outcome?.shown
            ? [{ ...textBeside(outcome.shown.text, answer), ...after(undoButtons(outcome, origin.language)) }]
            : [],
        ),
  );
  return made.length > 0 ? { rules: made } : {};
}

/** Without a text it is the answer, as of a turn that needed no model. */
function textBeside(text: string, answer: string | null): { text?: string } {
  return text === answer ? {} : { text };
}

/** The turns whose answers a turn carries, as far as they have ended. */
export function earlierOf(
  transcript: Transcript,
  { carries = [] }: Pick<Turn, "carries">,
): Pick<TurnResult, "earlier"> {
  const earlier = carries.flatMap((n): EarlierTurn[] => {
    const turn = transcript.turnAt(n);
    if (!turn || turn.status === "running") return [];
    const entries = transcript.entriesOf(n);
    const { turn: id, status, answer, calls } = resultOf(turn, entries, []);
    return [{ turn: id, text: userMessage(entries).text, status, answer, calls }];
  });
  return earlier.length > 0 ? { earlier } : {};
}

function metricsOf(turn: Turn, entries: readonly StoredEntry[]): TurnMetrics {
  const batches = entries.flatMap((entry) =>
    entry.role === "assistant" && entry.calls.length > 0 ? [entry.calls] : [],
  );
  const timings = batches.map((calls) =>
    calls.flatMap(({ outcome, same, submittedAt, settledAt }): CallTiming[] => {
      if (!outcome || same !== undefined || settledAt === null) return [];
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
  const models = entries.filter((entry) => planOf(entry) === undefined);
  return turnMetrics(timings, modelCalls(models), turn.createdAt, turn.finishedAt ?? Date.now());
}

/** The report of a turn that has ended, for its home. */
export function reportOf(turn: Turn, entries: readonly StoredEntry[]): Omit<ReportedTurn, "conversation"> {
  const { iterations, error, timeout, duration_ms } = metricsOf(turn, entries);
  return {
    id: turn.id,
    // SAFETY: the caller has just ended it.
    status: turn.status as ReportedTurn["status"],
    channel: turn.origin.channel,
    iterations,
    failedCalls: error + timeout,
    ...(turn.model === WITHOUT_MODEL && { unaided: true as const }),
    durationMs: duration_ms,
    inputTokens: turn.usage.input_tokens,
    outputTokens: turn.usage.output_tokens,
    calls: entries.flatMap((entry) =>
      entry.role === "assistant" ? entry.calls.flatMap((call) => reportedCall(turn, call)) : [],
    ),
  };
}

function reportedCall(turn: Turn, call: StoredCall): ReportedTurn["calls"] {
  const { id, name, args, outcome, same } = call;
  if (!outcome || same !== undefined || isClients(turn, call)) return [];
  const { status, elapsedMs, waitedMs = 0, unsent } = outcome;
  const figures = {
    elapsedMs: elapsedMs + waitedMs,
    ...(status === "error" && { errorType: outcome.errorType ?? ("execution_failed" as const) }),
    ...(unsent && { unsent }),
  };
  if (name !== EDGE_CALL) return [{ agent: GATEWAY_TOOLS, tool: name, ...figures }];
  const agent = agentOfCall(call) ?? "";
  const { action: tool = "prompt" } = args;
  const wasQueued = outcome.job === id || (outcome.late && call.submittedAt === null);
  // Home counts a queued call itself, when it is settled.
  if (wasQueued || typeof tool !== "string") return [];
  return [{ agent, tool, ...figures }];
}

/** The events of a turn after a seq, in their order. */
export function eventsOf(transcript: Transcript, turn: Turn, after: number): TurnEvent[] {
  const entries = transcript.entriesOf(turn.n);
  const questions = transcript.questionsOf(turn.n);
  const events: Array<TurnEvent & { id: number }> = [];
  for (const entry of entries) {
    if (entry.role !== "assistant") continue;
    const own = entry.calls.filter((call) => !isClients(turn, call));
    if (own.length === 0) continue;
    const calls = recordsOf([{ ...entry, calls: own }]).map(shownCall);
    // The message came before its calls were made, so they are pending in it.
    const asked = calls.map(({ id, name, agent, action, query, args, same_as }) => ({
      id,
      name,
      ...(same_as !== undefined && { same_as }),
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
    const { answer: _, answered_by: __, answered_by_name: ___, answered_how: ____, ...asked } = question;
    events.push({ id: askedSeq, event: "question", data: asked });
    if (closedSeq !== null) events.push({ id: closedSeq, event: "question", data: question });
  }
  if (turn.finishedSeq !== null)
    events.push({
      id: turn.finishedSeq,
      event: "done",
      data: { ...resultOf(turn, entries, questions), ...earlierOf(transcript, turn) },
    });
  return events.filter((event) => event.id > after).sort((a, b) => a.id - b.id);
}
