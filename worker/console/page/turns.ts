/** A turn on the page, and what each event makes of it. Pure. */
import type { Call, PastTurn, Question, TurnResult } from "./shapes.ts";

/** How far a call is, as the page learnt it: `at` is this machine's clock. */
export type Stage = { name: "sent" | "accepted" | "waits" | "ended"; at: number };

export type CallView = Call & { stages: Stage[]; output: string };

export type TurnView = {
  /** Empty until the gateway has named it. */
  id: string;
  text: string;
  status: TurnResult["status"] | "sending";
  /** What the model said before its calls, and what it says now. */
  said: string[];
  saying: string;
  calls: CallView[];
  questions: Question[];
  notices: string[];
  answer: string | null;
  durationMs: number | undefined;
  tokens: number;
  model: string | null;
  /** Words for what went wrong on the way. */
  problem: string | undefined;
};

export type TurnEvent =
  | { event: "turn"; data: { turn: string } }
  | { event: "delta"; data: { text: string; at: number } }
  | { event: "reset"; data: object }
  | { event: "message"; data: { text: string; calls: Call[] } }
  | { event: "call"; data: Call }
  | { event: "accepted"; data: { call: string } }
  | { event: "progress"; data: { call: string; text: string } }
  | { event: "question"; data: Question }
  | { event: "done"; data: TurnResult };

/** Of a call's output, its end: a device may talk for an hour. */
const OUTPUT_KEPT = 20_000;

export function newTurn(text: string): TurnView {
  return {
    id: "",
    text,
    status: "sending",
    said: [],
    saying: "",
    calls: [],
    questions: [],
    notices: [],
    answer: null,
    durationMs: undefined,
    tokens: 0,
    model: null,
    problem: undefined,
  };
}

export function pastTurn(past: PastTurn): TurnView {
  return ended({ ...newTurn(past.text), id: past.turn }, past, past.created_at);
}

export function isOver(turn: TurnView): boolean {
  return turn.status !== "sending" && turn.status !== "running";
}

export function applied(turn: TurnView, event: TurnEvent, now: number): TurnView {
  switch (event.event) {
    case "turn":
      return { ...turn, id: event.data.turn, status: "running" };
    case "delta":
      return { ...turn, saying: turn.saying.slice(0, event.data.at) + event.data.text };
    case "reset":
      return { ...turn, saying: "" };
    case "message": {
      const known = new Set(turn.calls.map(({ id }) => id));
      const calls = event.data.calls.filter(({ id }) => !known.has(id)).map((call) => viewOf(call, now));
      const said = event.data.text.trim() === "" ? turn.said : [...turn.said, event.data.text];
      return { ...turn, saying: "", said, calls: [...turn.calls, ...calls] };
    }
    case "call":
      return eachCall(turn, event.data.id, (call) => settled(call, event.data, now));
    case "accepted":
      return eachCall(turn, event.data.call, (call) => staged(call, "accepted", now));
    case "progress":
      return eachCall(turn, event.data.call, (call) => ({
        ...staged(call, "accepted", now),
        output: (call.output + event.data.text).slice(-OUTPUT_KEPT),
      }));
    case "question": {
      const questions = [...turn.questions.filter(({ id }) => id !== event.data.id), event.data];
      return eachCall({ ...turn, questions }, event.data.call, (call) => staged(call, "waits", now));
    }
    case "done":
      return ended(turn, event.data, now);
  }
}

function eachCall(turn: TurnView, id: string, by: (call: CallView) => CallView): TurnView {
  return { ...turn, calls: turn.calls.map((call) => (call.id === id ? by(call) : call)) };
}

function viewOf(call: Call, now: number): CallView {
  const stages: Stage[] = [{ name: "sent", at: now }];
  return { ...call, stages, output: "" };
}

function staged(call: CallView, name: Stage["name"], at: number): CallView {
  if (call.stages.some((stage) => stage.name === name)) return call;
  return { ...call, stages: [...call.stages, { name, at }] };
}

function settled(call: CallView, result: Call, now: number): CallView {
  return staged({ ...call, ...result }, "ended", now);
}

function ended(turn: TurnView, result: TurnResult, now: number): TurnView {
  const shown = new Map(turn.calls.map((call) => [call.id, call]));
  return {
    ...turn,
    id: result.turn,
    status: result.status,
    // Of an answer that was stopped this is all there is: the gateway keeps whole messages alone.
    saying: result.status === "cancelled" ? turn.saying : "",
    answer: result.answer,
    calls: result.calls.map((call) => {
      const known = shown.get(call.id) ?? { ...viewOf(call, now), stages: [] };
      return call.status === "pending" ? known : settled(known, call, now);
    }),
    questions: result.questions ?? turn.questions,
    notices: result.notices ?? [],
    durationMs: result.metrics.duration_ms,
    tokens: result.usage.input_tokens + result.usage.output_tokens,
    model: result.model,
  };
}
