/** A turn on the page, and what each event makes of it. Pure. */
import type { Call, PastTurn, Question, TurnResult } from "./shapes.ts";

/** How far a call is, as the page learnt it: `at` is this machine's clock. */
export type Stage = { name: "sent" | "accepted" | "waits" | "ended"; at: number };

export type CallView = Call & { stages: Stage[]; output: string };

export type TurnView = {
  /** The page's own name of it, which stays. */
  key: string;
  /** Empty until the gateway has named it. */
  id: string;
  text: string;
  status: TurnResult["status"] | "sending";
  /** Pictures that the person sent: addresses that the page can show. */
  pictures: string[];
  /** The model's words before its calls, each with the number of calls that came before it; and its words now. */
  said: Said[];
  saying: string;
  /** Why nothing comes right now: a model's endpoint asked to wait until then (epoch ms). */
  waiting: Pause | undefined;
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

export type Pause = { until: number; text: string };

export type Said = { text: string; before: number };

/** `turn` begins one anew, with all that there is of it to follow. */
export type FollowedTurn = {
  event: "turn";
  data: { turn: string; text: string; images?: string[] };
};

export type TurnEvent =
  | { event: "waiting"; data: Pause }
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

export function newTurn(text: string, pictures: string[] = [], key = ""): TurnView {
  return {
    key,
    id: "",
    text,
    status: "sending",
    pictures,
    said: [],
    saying: "",
    waiting: undefined,
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
  const turn = newTurn(past.text, picturesOf(past.images), past.turn);
  return ended({ ...turn, id: past.turn }, past, past.created_at);
}

/** The newest turns of a conversation, and the place before them; null: there are none before them. */
export type Shown = { turns: readonly TurnView[]; before: number | null };
export type Page = { turns: readonly PastTurn[]; before: number | null };

/** The newest page, asked for anew: what was loaded of older ones stays, as long as it joins on to this page. */
export function refreshed({ turns, before }: Shown, page: Page): Shown {
  const joint = turns.findIndex(({ id }) => id !== "" && id === page.turns[0]?.turn);
  if (page.before === null || joint <= 0) return { turns: merged(turns, page.turns), before: page.before };
  return { turns: [...turns.slice(0, joint), ...merged(turns.slice(joint), page.turns)], before };
}

/** The page before what is shown. */
export function withEarlier({ turns }: Shown, page: Page): Shown {
  const known = new Set(turns.map(({ id }) => id));
  const earlier = page.turns.filter(({ turn }) => !known.has(turn)).map(pastTurn);
  return { turns: [...earlier, ...turns], before: page.before };
}

/** Joins the page's turns with the gateway's: turns of other devices, and those that came while nobody listened. */
export function merged(shown: readonly TurnView[], past: readonly PastTurn[]): TurnView[] {
  const views = new Map(shown.map((turn) => [turn.id, turn]));
  const kept = past.map((one): TurnView => {
    const view = views.get(one.turn);
    if (!view) return pastTurn(one);
    return one.status === "running" || isOver(view) ? view : ended(view, one, one.created_at);
  });
  const known = new Set(past.map(({ turn }) => turn));
  // A finished turn that is not kept was deleted; one on its way, or that never got there, is known here alone.
  return [...kept, ...shown.filter((turn) => !known.has(turn.id) && (turn.id === "" || !isOver(turn)))];
}

/** Applies an event of the followed conversation to its turns. */
export function followed(
  turns: readonly TurnView[],
  { event, data }: { event: string; data: unknown },
  now: number,
): TurnView[] {
  const { turn: id } = data as { turn: string };
  if (event === "turn") {
    const { text, images } = data as FollowedTurn["data"];
    // Asked on this page a moment ago: the gateway's answer to it may come after this.
    const same = (one: TurnView) =>
      one.id === id || (one.status === "sending" && one.id === "" && one.text === text);
    const begun = (pictures: string[], key: string): TurnView => ({
      ...newTurn(text, pictures, key),
      id,
      status: "running",
    });
    return turns.some(same)
      ? turns.map((one) => (same(one) ? begun(one.pictures, one.key) : one))
      : [...turns, begun(picturesOf(images), id)];
  }
  return turns.map((one) => (one.id === id ? applied(one, { event, data } as TurnEvent, now) : one));
}

/** Kept ones; an address elsewhere is not asked for, since its host would learn who reads. */
function picturesOf(images: readonly string[] = []): string[] {
  return images.flatMap((image) =>
    image.startsWith("media:") ? [`/v1/media/${encodeURIComponent(image.slice("media:".length))}`] : [],
  );
}

export function isOver(turn: TurnView): boolean {
  return turn.status !== "sending" && turn.status !== "running";
}

export function applied(before: TurnView, event: TurnEvent, now: number): TurnView {
  const turn = { ...before, waiting: undefined };
  switch (event.event) {
    case "waiting":
      return { ...turn, waiting: event.data };
    case "delta":
      return { ...turn, saying: turn.saying.slice(0, event.data.at) + event.data.text };
    case "reset":
      return { ...turn, saying: "" };
    case "message": {
      const known = new Set(turn.calls.map(({ id }) => id));
      const calls = event.data.calls.filter(({ id }) => !known.has(id)).map((call) => viewOf(call, now));
      const said =
        event.data.text.trim() === ""
          ? turn.said
          : [...turn.said, { text: event.data.text, before: turn.calls.length }];
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
    waiting: undefined,
    questions: result.questions ?? turn.questions,
    notices: result.notices ?? [],
    durationMs: result.metrics.duration_ms,
    tokens: result.usage.input_tokens + result.usage.output_tokens,
    model: result.model,
  };
}
