import type { PastTurn, TurnResult } from "@edgecall/client/routes.ts";
import { turnMetrics } from "@edgecall/core/loop/metrics.ts";
import { expect, test } from "vitest";
import {
  applied,
  followed,
  followedAll,
  isNotice,
  merged,
  newTurn,
  refreshed,
  type TurnEvent,
  type TurnView,
  withEarlier,
} from "./turns.ts";

/** In the data of each event of the conversation's stream. */
const T = { turn: "t" };
const pending = { id: "c1", name: "edge_call", agent: "pi", status: "pending" as const };

function after(...events: TurnEvent[]): TurnView {
  return events.reduce((turn, event, at) => applied(turn, event, at), newTurn("hi"));
}

test("text that arrives twice, or is replaced, is shown once", () => {
  const turn = after(
    { event: "delta", data: { ...T, text: "Hel", at: 0 } },
    { event: "delta", data: { ...T, text: "lo", at: 3 } },
    { event: "delta", data: { ...T, text: "lo you", at: 3 } },
  );
  expect(turn).toMatchObject({ saying: "Hello you" });
  expect(applied(turn, { event: "reset", data: T }, 9).saying).toBe("");
});

test("what came of a rule's button stands in its place, also after the turn has ended, and when the page was away", () => {
  const button = { label: "Got it", do: "ack" as const, rule: "w-7f2c", occurrence: 1 };
  const result = (rules: TurnResult["rules"]): TurnResult => ({
    turn: "t",
    status: "done",
    answer: "🔔 Freezer",
    model: null,
    calls: [],
    usage: { input_tokens: 0, output_tokens: 0 },
    metrics: turnMetrics([], 0, 0, 0),
    ...(rules && { rules }),
  });
  const told = after({ event: "done", data: result([{ buttons: [button] }]) });
  expect(told.rules[0]?.buttons).toEqual([button]);
  expect(isNotice(told)).toBe(true);
  const pressed = [{ buttons: [], pressed: "✔ Answered by anna." }];
  expect(applied(told, { event: "done", data: result(pressed) }, 5).rules).toEqual(pressed);
  const [later] = merged([told], [{ ...result(pressed), text: "", created_at: 0 }]);
  expect(later?.rules).toEqual(pressed);
  expect(isNotice(after({ event: "done", data: result([{ text: "Watching", buttons: [] }]) }))).toBe(false);
});

test("a call changes from sent over accepted to its result, each once", () => {
  let turn = after({ event: "message", data: { ...T, text: "I look.", calls: [pending] } });
  turn = applied(turn, { event: "message", data: { ...T, text: "", calls: [pending] } }, 5);
  turn = applied(turn, { event: "accepted", data: { ...T, call: "c1", at: 0 } }, 10);
  turn = applied(turn, { event: "accepted", data: { ...T, call: "c1", at: 0 } }, 11);
  turn = applied(turn, { event: "progress", data: { ...T, call: "c1", text: "a" } }, 20);
  turn = applied(turn, { event: "progress", data: { ...T, call: "c1", text: "b" } }, 30);
  turn = applied(turn, { event: "call", data: { ...T, ...pending, status: "success", result: "ok" } }, 40);
  expect(turn.said).toEqual([{ text: "I look.", before: 0 }]);
  expect(turn.calls).toHaveLength(1);
  expect(turn.calls[0]).toMatchObject({
    status: "success",
    output: "ab",
    stages: [
      { name: "sent", at: 0 },
      { name: "accepted", at: 10 },
      { name: "ended", at: 40 },
    ],
  });
});

test("a turn that asked no device says so, live and from the history", () => {
  const result: TurnResult = {
    turn: "t",
    status: "done",
    answer: "About 7 %.",
    model: "m",
    calls: [],
    usage: { input_tokens: 1, output_tokens: 1 },
    metrics: turnMetrics([], 1, 0, 10),
  };
  const marked = { ...result, edgecall: { asked: false as const } };
  expect(after({ event: "done", data: result }).unasked).toBe(false);
  expect(after({ event: "done", data: marked }).unasked).toBe(true);
  expect(merged([], [{ ...marked, text: "hi", created_at: 1 }])[0]?.unasked).toBe(true);
});

test("the partial text of a stopped answer stays; any other end has the whole answer", () => {
  const half: TurnEvent = { event: "delta", data: { ...T, text: "I begin", at: 0 } };
  const end: TurnResult = {
    turn: "t",
    status: "cancelled",
    answer: "Cancelled.",
    model: null,
    calls: [],
    usage: { input_tokens: 0, output_tokens: 0 },
    metrics: turnMetrics([], 0, 0, 40),
  };
  const stopped = after(half, { event: "done", data: end });
  expect(stopped).toMatchObject({ saying: "I begin", answer: "Cancelled.", status: "cancelled" });
  const done: TurnResult = { ...end, status: "done", answer: "I begin." };
  expect(after(half, { event: "done", data: done })).toMatchObject({ saying: "", answer: "I begin." });
});

test("L14: a question that lists several calls is what each of them waits for", () => {
  const other = { ...pending, id: "c2" };
  const members = [pending, other].map(({ id }) => ({ id: `q-${id}`, call: id, agent: "pi", text: "?" }));
  const question = { id: "q", call: "c1", agent: "pi", text: "?", options: [], expires_at: 1, members };
  const turn = after(
    { event: "message", data: { ...T, text: "", calls: [pending, other] } },
    { event: "question", data: { ...T, ...question } },
  );
  expect(turn.calls.map(({ stages }) => stages.map(({ name }) => name))).toEqual([
    ["sent", "waits"],
    ["sent", "waits"],
  ]);
});

test("a question is replaced by its answer, and the end by the gateway's version", () => {
  const question = { id: "q", call: "c1", agent: "pi", text: "?", options: [], expires_at: 1 };
  const result: TurnResult = {
    turn: "t",
    status: "cancelled",
    answer: "Cancelled.",
    model: "m",
    calls: [{ ...pending, status: "error" }],
    usage: { input_tokens: 1, output_tokens: 2 },
    metrics: turnMetrics([], 1, 0, 40),
  };
  const turn = after(
    { event: "message", data: { ...T, text: "", calls: [pending] } },
    { event: "question", data: { ...T, ...question } },
    { event: "question", data: { ...T, ...question, answer: "yes" } },
    { event: "done", data: result },
  );
  expect(turn.questions).toEqual([{ ...T, ...question, answer: "yes" }]);
  expect(turn).toMatchObject({
    status: "cancelled",
    answer: "Cancelled.",
    tokens: 3,
    durationMs: 40,
    calls: [{ status: "error" }],
  });
});

const past = (turn: string, status: "running" | "done"): PastTurn => ({
  turn,
  status,
  text: `asked ${turn}`,
  created_at: 0,
  answer: status === "done" ? `answer ${turn}` : null,
  model: null,
  calls: [],
  usage: { input_tokens: 0, output_tokens: 0 },
  metrics: turnMetrics([], 0, 0, 40),
  ...(turn === "t1" && { images: ["media:1.abc", "https://elsewhere.example/x.png"] }),
});

test("C4 a turn of another page appears, and continues here; a question from here is one turn", () => {
  const begun = {
    event: "turn",
    data: { turn: "t2", status: "running", text: "asked t2", created_at: 0 },
  } as const;
  let turns = followed([], begun, 0);
  turns = followed(turns, { event: "delta", data: { turn: "t2", text: "so far", at: 0 } }, 1);
  expect(turns).toMatchObject([{ id: "t2", text: "asked t2", status: "running", saying: "so far" }]);
  // Repeated from its beginning, as after a second attach.
  turns = followed(turns, begun, 2);
  turns = followed(turns, { event: "delta", data: { turn: "t2", text: "so far, and on", at: 0 } }, 3);
  expect(turns).toMatchObject([{ id: "t2", saying: "so far, and on" }]);
  const own = followed([newTurn("asked t2", ["data:,"], "key")], begun, 0);
  expect(own).toMatchObject([{ id: "t2", key: "key", pictures: ["data:,"] }]);
  // Asked while the page loads: the list has it, then the stream tells it, and the request is not answered yet.
  const listed = merged([newTurn("asked t2", [], "key")], [past("t2", "running")]);
  expect(followed(listed, begun, 0)).toMatchObject([{ id: "t2", status: "running" }]);
});

test("C4 the gateway's list fills every gap, and removes deleted turns", () => {
  const running = { ...newTurn("asked t2", [], "t2"), id: "t2", status: "running" as const, saying: "half" };
  const deleted = { ...newTurn("gone"), id: "t0", status: "done" as const };
  const lost = { ...newTurn("never got there", [], "k"), status: "failed" as const };
  const turns = merged([deleted, running, lost], [past("t1", "done"), past("t2", "running")]);
  expect(turns.map(({ text }) => text)).toEqual(["asked t1", "asked t2", "never got there"]);
  expect(turns[0]).toMatchObject({ answer: "answer t1", pictures: ["/v1/media/1.abc"] });
  expect(turns[1]).toBe(running);
  expect(merged([running], [past("t2", "done")])).toMatchObject([{ status: "done", answer: "answer t2" }]);
  expect(merged([running], [])).toEqual([running]);
});

test("a turn that is over takes what came later: a late result, and the answer to its question", () => {
  const call = { id: "c1", name: "edge_call", agent: "pi", status: "error" as const };
  const question = { id: "q1", call: "c1", agent: "pi", text: "Go on?", options: [], expires_at: 9 };
  const [first] = merged([], [{ ...past("t1", "done"), calls: [call], questions: [question] }]);
  expect(first?.questions).toMatchObject([{ id: "q1" }]);
  const now = {
    ...past("t1", "done"),
    calls: [{ ...call, status: "success" as const }],
    questions: [{ ...question, answer: "yes" }],
  };
  expect(merged(first ? [first] : [], [now])).toMatchObject([
    { key: "t1", calls: [{ status: "success" }], questions: [{ answer: "yes" }] },
  ]);
});

test("a question whose request was answered too late, or never, is one turn", () => {
  const begun = {
    event: "turn",
    data: { turn: "t2", status: "running", text: "asked t2", created_at: 0 },
  } as const;
  const lost = { ...newTurn("asked t2", [], "key"), status: "failed" as const, problem: "no answer" };
  expect(followed([lost], begun, 0)).toMatchObject([
    { id: "t2", key: "key", status: "running", problem: undefined },
  ]);
  const [first] = merged([], [past("t1", "done")]);
  if (!first) throw new Error("no turn");
  const known = [past("t1", "done"), past("t2", "done")];
  expect(merged([first, lost], known)).toMatchObject([{ id: "t1" }, { id: "t2", status: "done" }]);
  // An equal question of before is another one.
  const [earlier] = merged([], [past("t2", "done")]);
  if (!earlier) throw new Error("no turn");
  expect(merged([earlier, lost], [past("t2", "done")])).toMatchObject([{ id: "t2" }, { id: "" }]);
});

test("what the stream told since the list was asked for is shown with it", () => {
  const begun = {
    event: "turn",
    data: { turn: "t2", status: "running", text: "asked t2", created_at: 0 },
  } as const;
  const done = { event: "done", data: past("t2", "done") } as const;
  const shown = refreshed({ turns: [], before: null }, { turns: [past("t1", "done")], before: 7 });
  const told = [
    { event: begun, at: 1 },
    { event: done, at: 2 },
  ];
  expect(followedAll(shown, told)).toMatchObject({
    turns: [{ id: "t1" }, { id: "t2", answer: "answer t2" }],
    before: 7,
  });
});

const ended = (...names: string[]) => names.map((name) => past(name, "done"));

test("G17 older pages stay when the newest one is loaded again, unless turns are missing between them", () => {
  const names = ({ turns }: { turns: readonly TurnView[] }) => turns.map(({ id }) => id).join("");
  const first = refreshed({ turns: [], before: null }, { turns: ended("c", "d"), before: 3 });
  const two = withEarlier(first, { turns: ended("a", "b"), before: 1 });
  expect([names(two), two.before]).toEqual(["abcd", 1]);
  const later = refreshed(two, { turns: ended("d", "e"), before: 4 });
  expect([names(later), later.before]).toEqual(["abcde", 1]);
  const apart = refreshed(later, { turns: ended("x", "y"), before: 20 });
  expect([names(apart), apart.before]).toEqual(["xy", 20]);
  // The complete list: a turn that it lacks was deleted.
  const all = refreshed(later, { turns: ended("d", "e"), before: null });
  expect([names(all), all.before]).toEqual(["de", null]);
});

test("G9 any other event ends a pause of the model endpoint", () => {
  const pause: TurnEvent = { event: "waiting", data: { ...T, until: 9, text: "busy" } };
  expect(after(pause).waiting).toMatchObject({ until: 9, text: "busy" });
  const others: TurnEvent[] = [
    { event: "reset", data: T },
    { event: "delta", data: { ...T, text: "x", at: 0 } },
    { event: "message", data: { ...T, text: "x", calls: [] } },
    { event: "accepted", data: { ...T, call: "c1", at: 0 } },
  ];
  for (const other of others) expect(after(pause, other).waiting).toBeUndefined();
});
