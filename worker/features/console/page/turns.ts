/** The page's turns, and how each event changes them. Pure. */
import type {
  CallRecord,
  ConversationEvent,
  PastTurn,
  TurnQuestion,
  TurnResult,
} from "@edgecall/client/routes.ts";

/** A stage that a call has reached; `at` is the time on this machine's clock. */
type Stage = { name: "sent" | "accepted" | "waits" | "ended"; at: number };

export type CallView = CallRecord & { stages: Stage[]; output: string };

export type TurnView = {
  /** The page's own key of the turn, which never changes. */
  key: string;
  /** Empty until the gateway has sent it. */
  id: string;
  text: string;
  status: TurnResult["status"] | "sending";
  /** Addresses of pictures that the person sent, which the page can show. */
  pictures: string[];
  /** The model's texts between calls, each with the number of calls before it. */
  said: Said[];
  saying: string;
  /** A pause that the model's endpoint asked for, until a time in epoch ms. */
  waiting: Pause | undefined;
  calls: CallView[];
  questions: TurnQuestion[];
  notices: string[];
  /** What the gateway says of rules; one without a text is the answer. */
  rules: NonNullable<TurnResult["rules"]>;
  /** The model was offered devices and asked none. */
  unasked: boolean;
  answer: string | null;
  durationMs: number | undefined;
  tokens: number;
  model: string | null;
  /** An error text. */
  problem: string | undefined;
};

export type Pause = { until: number; text: string };

type Said = { text: string; before: number };

/** `turn` starts a turn again; all its events follow. */
type FollowedEvent = Exclude<ConversationEvent, { event: "open" }>;
export type TurnEvent = Exclude<FollowedEvent, { event: "turn" }>;

/** Characters kept of the end of a call's output, since a device may print for an hour. */
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
    rules: [],
    unasked: false,
    answer: null,
    durationMs: undefined,
    tokens: 0,
    model: null,
    problem: undefined,
  };
}

function pastTurn(past: PastTurn): TurnView {
  const turn = newTurn(past.text, picturesOf(past.images), past.turn);
  return ended({ ...turn, id: past.turn }, past, past.created_at);
}

/** The newest turns of a conversation, and the position before them; null when there are no earlier turns. */
export type Shown = { turns: readonly TurnView[]; before: number | null };
export type Page = { turns: readonly PastTurn[]; before: number | null };

/** Replaces the newest page. Older turns that were loaded stay if they connect to this page. */
export function refreshed({ turns, before }: Shown, page: Page): Shown {
  const joint = turns.findIndex(({ id }) => id !== "" && id === page.turns[0]?.turn);
  if (page.before === null || joint <= 0) return { turns: merged(turns, page.turns), before: page.before };
  return { turns: [...turns.slice(0, joint), ...merged(turns.slice(joint), page.turns)], before };
}

/** Adds the page before the shown turns. */
export function withEarlier({ turns }: Shown, page: Page): Shown {
  const known = new Set(turns.map(({ id }) => id));
  const earlier = page.turns.filter(({ turn }) => !known.has(turn)).map(pastTurn);
  return { turns: [...earlier, ...turns], before: page.before };
}

/** Merges the page's turns with the gateway's, which may include turns begun elsewhere or while the stream was closed. */
export function merged(shown: readonly TurnView[], past: readonly PastTurn[]): TurnView[] {
  const views = new Map(shown.map((turn) => [turn.id, turn]));
  const kept = past.map((one): TurnView => {
    const view = views.get(one.turn);
    if (!view) return pastTurn(one);
    return one.status === "running" ? view : ended(view, one, one.created_at);
  });
  const known = new Set(past.map(({ turn }) => turn));
  // A question that got no answer is in the list if its text is among the turns that came since.
  const since = past.slice(past.findLastIndex(({ turn }) => views.has(turn)) + 1 || -1);
  const hasArrived = ({ text }: TurnView) => since.some((one) => one.text === text);
  // A finished turn that the gateway lacks was deleted. A running one, or one that was never sent, is known only here.
  const isOnlyHere = (turn: TurnView) =>
    turn.id === "" ? !hasArrived(turn) : !known.has(turn.id) && !isOver(turn);
  return [...kept, ...shown.filter(isOnlyHere)];
}

/** Applies an event of the conversation's stream to its turns. */
export function followed(turns: readonly TurnView[], event: FollowedEvent, now: number): TurnView[] {
  const { turn: id } = event.data;
  if (event.event === "turn") {
    const { text, images } = event.data;
    // The turn was sent from this page; the answer to that request may arrive after this event, or was lost.
    const isSent = (one: TurnView) =>
      one.id === "" && one.text === text && (one.status === "sending" || one === turns.at(-1));
    const sent = turns.findLast(isSent);
    const begun = (pictures: string[], key: string): TurnView => ({
      ...newTurn(text, pictures, key),
      id,
      status: "running",
    });
    // The gateway's list may have brought it before.
    const listed = turns.find((one) => one.id === id);
    const view = listed ?? sent;
    if (!view) return [...turns, begun(picturesOf(images), id)];
    return turns
      .filter((one) => one === view || one !== sent)
      .map((one) => (one === view ? begun(one.pictures, one.key) : one));
  }
  return turns.map((one) => (one.id === id ? applied(one, event, now) : one));
}

/** An event, and when it came, on this machine's clock. */
export type EventAt = { event: FollowedEvent; at: number };

/** Applies several, in their order. */
export function followedAll(shown: Shown, events: readonly EventAt[]): Shown {
  const follow = (turns: readonly TurnView[], { event, at }: EventAt) => followed(turns, event, at);
  return { ...shown, turns: events.reduce(follow, shown.turns) };
}

/** Returns stored pictures. Others are not loaded, because that would tell their host who reads. */
function picturesOf(images: readonly string[] = []): string[] {
  return images.flatMap((image) =>
    image.startsWith("media:") ? [`/v1/media/${encodeURIComponent(image.slice("media:".length))}`] : [],
  );
}

export function isOver(turn: TurnView): boolean {
  return turn.status !== "sending" && turn.status !== "running";
}

/** A rule said it, without a question and without a model. */
export function isNotice({ rules }: TurnView): boolean {
  return rules.some(({ text }) => text === undefined);
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
      const { call: only, members = [{ call: only }] } = event.data;
      const asking = new Set(members.map(({ call }) => call));
      const calls = turn.calls.map((call) => (asking.has(call.id) ? staged(call, "waits", now) : call));
      return { ...turn, questions, calls };
    }
    case "done":
      return ended(turn, event.data, now);
    // A sign of life, or an event of a later gateway.
    default:
      return before;
  }
}

function eachCall(turn: TurnView, id: string, by: (call: CallView) => CallView): TurnView {
  return { ...turn, calls: turn.calls.map((call) => (call.id === id ? by(call) : call)) };
}

function viewOf(call: CallRecord, now: number): CallView {
  const stages: Stage[] = [{ name: "sent", at: now }];
  return { ...call, stages, output: "" };
}

function staged(call: CallView, name: Stage["name"], at: number): CallView {
  if (call.stages.some((stage) => stage.name === name)) return call;
  return { ...call, stages: [...call.stages, { name, at }] };
}

function settled(call: CallView, result: CallRecord, now: number): CallView {
  return staged({ ...call, ...result }, "ended", now);
}

function ended(turn: TurnView, result: TurnResult, now: number): TurnView {
  const shown = new Map(turn.calls.map((call) => [call.id, call]));
  return {
    ...turn,
    id: result.turn,
    status: result.status,
    // Keeps the text of a stopped answer, because the gateway stores only whole messages.
    saying: result.status === "cancelled" ? turn.saying : "",
    answer: result.answer,
    calls: result.calls.map((call) => {
      const known = shown.get(call.id) ?? { ...viewOf(call, now), stages: [] };
      return call.status === "pending" ? known : settled(known, call, now);
    }),
    waiting: undefined,
    questions: result.questions ?? turn.questions,
    notices: result.notices ?? [],
    rules: result.rules ?? [],
    unasked: result.edgecall?.asked === false,
    durationMs: result.metrics.duration_ms,
    tokens: result.usage.input_tokens + result.usage.output_tokens,
    model: result.model,
  };
}
