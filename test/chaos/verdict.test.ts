/** Tests the verdict on invented histories: a sound one passes, and each kind of error is found. */
import { describe, expect, test } from "vitest";
import type { Asked, SeenCall, SeenTurn } from "./client.ts";
import { answerMark, questionOf } from "./model.ts";
import { type AskedTurn, type History, judge } from "./verdict.ts";

const SCRIPT = { turn: "t", steps: [[{ agent: "alder" as const, wait: 0 }]], delay: 0 };
const SUCCESS: SeenCall = { id: "c1", agent: "alder", status: "success", result: "appended c1" };
const UNKNOWN: SeenCall = {
  id: "c1",
  agent: "alder",
  status: "error",
  error_type: "outcome_unknown",
  error: "The outcome is unknown",
};
const OFFLINE: SeenCall = {
  id: "c1",
  agent: "alder",
  status: "error",
  error_type: "offline",
  error: "Nothing was run.",
};

function answered(calls: SeenCall[] = [SUCCESS], more: Partial<SeenTurn> = {}): SeenTurn {
  const results = calls.map((call) => call.result ?? call.error).join(" | ");
  return { turn: "u", status: "done", answer: `${answerMark("t")} ${results}`, calls, ...more };
}

type Made = {
  answer?: SeenTurn | undefined;
  asked?: Partial<Asked>;
  looks?: Array<SeenTurn | undefined>;
  stored?: Array<SeenTurn & { text: string }>;
  lines?: Record<string, string[]>;
  more?: Partial<History>;
};

function historyOf(made: Made = {}): History {
  const answer = "answer" in made ? made.answer : answered();
  const turn: AskedTurn = {
    conversation: "c",
    key: "t",
    script: SCRIPT,
    asked: { answer, ms: 100, cutOff: 0, turns: ["u"], faults: [], ...made.asked },
    looks: made.looks ?? [answer],
  };
  const stored = made.stored ?? (answer ? [{ ...answer, text: questionOf(SCRIPT) }] : []);
  const effects = new Map(Object.entries(made.lines ?? { alder: ["c1"] }));
  return {
    turns: [turn],
    conversations: new Map([["c", stored]]),
    effects,
    breaches: [],
    died: [],
    ...made.more,
  };
}

const kinds = (made?: Made) => judge(historyOf(made)).map(({ kind }) => kind);

describe("it accepts", () => {
  test("a turn that is answered once, with a call that took effect once", () => {
    expect(judge(historyOf())).toEqual([]);
  });

  test.each([
    ["that ran", ["c1"]],
    ["that did not run", []],
  ])("an unknown outcome of a call %s", (_, lines) => {
    expect(kinds({ answer: answered([UNKNOWN]), lines: { alder: lines } })).toEqual([]);
  });

  test("an unknown outcome that becomes known later", () => {
    const answer = answered([UNKNOWN]);
    expect(kinds({ answer, looks: [{ ...answer, calls: [SUCCESS] }] })).toEqual([]);
  });

  test("a call that was reported as not run, and did not run", () => {
    expect(kinds({ answer: answered([OFFLINE]), lines: {} })).toEqual([]);
  });

  test("a turn that failed with an error text", () => {
    const answer = answered([], { status: "failed", answer: "I gave up." });
    expect(kinds({ answer, lines: {} })).toEqual([]);
  });
});

describe("it reports", () => {
  test("a turn without an answer", () => {
    expect(kinds({ answer: undefined, lines: {} })).toContain("lost");
  });

  test("a turn that failed without an error text", () => {
    expect(kinds({ answer: answered([], { status: "failed", answer: "" }), lines: {} })).toEqual(["lost"]);
  });

  test("an answer that is missing at the next look", () => {
    expect(kinds({ looks: [undefined] })).toEqual(["lost"]);
  });

  test("a turn that its conversation does not have", () => {
    expect(kinds({ stored: [] })).toEqual(["lost"]);
  });

  test.each([
    ["another answer", { answer: `${answerMark("t")} appended c1, again` }],
    ["another status", { status: "failed" }],
    ["another turn", { turn: "v" }],
  ])("%s at the next look", (_, more) => {
    expect(kinds({ looks: [answered([SUCCESS], more)] })).toEqual(["again"]);
  });

  test("a success that is no success at the next look", () => {
    const later = { ...answered(), calls: [{ ...UNKNOWN }] };
    expect(kinds({ looks: [later] })).toContain("again");
  });

  test("two turns for one key", () => {
    expect(kinds({ asked: { turns: ["u", "v"] } })).toEqual(["again"]);
    const twice = { ...answered(), text: questionOf(SCRIPT) };
    expect(kinds({ stored: [twice, twice] })).toContain("again");
  });

  test("a turn without a client's question", () => {
    const own = { ...answered(), text: questionOf(SCRIPT) };
    expect(kinds({ stored: [own, { ...own, text: "something else" }] })).toEqual(["stray"]);
  });

  test("a call that ran twice", () => {
    expect(kinds({ lines: { alder: ["c1", "c1"] } })).toEqual(["twice"]);
  });

  test("a call that ran twice, on two agents", () => {
    expect(kinds({ lines: { alder: ["c1"], birch: ["c1"] } }).sort()).toEqual(["stray", "twice"]);
  });

  test("a success without an effect, at any look", () => {
    expect(kinds({ lines: {} })).toContain("claimed");
    const unknown = answered([UNKNOWN]);
    expect(kinds({ answer: unknown, looks: [{ ...unknown, calls: [SUCCESS] }], lines: {} })).toContain(
      "claimed",
    );
  });

  test("a call that ran although it was reported as not run", () => {
    expect(kinds({ answer: answered([OFFLINE]) })).toEqual(["denied"]);
  });

  test("an effect on another agent, and one that belongs to no turn", () => {
    expect(kinds({ lines: { birch: ["c1"] } })).toEqual(["stray"]);
    expect(kinds({ lines: { alder: ["c1", "c2"] } })).toEqual(["stray"]);
  });

  test("a finished turn with an open call", () => {
    const open: SeenCall = { id: "c1", agent: "alder", status: "pending" };
    expect(kinds({ answer: answered([open]), lines: {} })).toEqual(["open"]);
  });

  test("an answer of another turn, without a result, or with the results of other calls", () => {
    expect(kinds({ answer: answered([SUCCESS], { answer: "Turn x got: appended c1" }) })).toEqual(["wrong"]);
    expect(kinds({ answer: answered([SUCCESS], { answer: answerMark("t") }) })).toEqual(["wrong"]);
    expect(kinds({ answer: answered([]), lines: {} })).toEqual(["wrong"]);
  });

  test("faults that a client saw, histories that the endpoint refused, and a program that ended", () => {
    expect(kinds({ asked: { faults: ["event 3 came again"] } })).toEqual(["client"]);
    expect(kinds({ more: { breaches: ["an orphan"] } })).toEqual(["history"]);
    expect(kinds({ more: { died: ["bridge: exit code 1"] } })).toEqual(["died"]);
  });
});
