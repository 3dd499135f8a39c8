/** Tests the verdict on invented histories: a sound one passes, and each kind of error is found. */
import { describe, expect, test } from "vitest";
import type { Asked, SeenCall, SeenTurn } from "./client.ts";
import type { AskedTurn, History } from "./history.ts";
import { answerMark, jobEnd, questionOf, TOLD_MARK } from "./model.ts";
import type { PlannedCall, TurnScript } from "./plan.ts";
import type { CallsRecord, RecordLine } from "./record.ts";
import { judge } from "./verdict.ts";

const SCRIPT: TurnScript = { turn: "t", steps: [[{ agent: "alder", wait: 0 }]], delay: 0 };
const PLACE = "t.0.0";
const ARGS = { agent_id: "alder", action: "append", params: { path: PLACE, wait_ms: 0 } };
const SUCCESS: SeenCall = { id: "c1", agent: "alder", args: ARGS, status: "success", result: "appended c1" };
const UNKNOWN: SeenCall = {
  id: "c1",
  agent: "alder",
  args: ARGS,
  status: "error",
  error_type: "outcome_unknown",
  error: "The outcome is unknown",
};
const OFFLINE: SeenCall = {
  id: "c1",
  agent: "alder",
  args: ARGS,
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
  /** Ids at the place of the first call; elsewhere `place id`. */
  lines?: Record<string, string[]>;
  script?: TurnScript;
  records?: { own?: CallsRecord; lender?: CallsRecord };
  more?: Partial<History>;
};

const NO_LINES: CallsRecord = { lines: [], missing: [] };

function effectOf(line: string): { place: string; id: string } {
  const [first = "", id] = line.split(" ");
  return id === undefined ? { place: PLACE, id: first } : { place: first, id };
}

function historyOf(made: Made = {}): History {
  const answer = "answer" in made ? made.answer : answered();
  const script = made.script ?? SCRIPT;
  const turn: AskedTurn = {
    conversation: "c",
    key: "t",
    client: "json",
    script,
    asked: { answer, ms: 100, cutOff: 0, turns: ["u"], faults: [], ...made.asked },
    looks: made.looks ?? [answer],
  };
  const stored = made.stored ?? (answer ? [{ ...answer, text: questionOf(script) }] : []);
  const lines = Object.entries(made.lines ?? { alder: ["c1"] });
  const effects = new Map(lines.map(([agent, of]) => [agent, of.map(effectOf)]));
  return {
    turns: [turn],
    conversations: new Map([["c", stored]]),
    effects,
    records: { own: NO_LINES, lender: NO_LINES, ...made.records },
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
    expect(kinds({ lines: { alder: ["c1", "t.0.7 c2"] } })).toEqual(["stray"]);
  });

  test("an effect under an id that the turn does not have", () => {
    expect(kinds({ lines: { alder: ["c2"] } })).toContain("stray");
  });

  test("a finished turn with an open call", () => {
    const open: SeenCall = { id: "c1", agent: "alder", args: ARGS, status: "pending" };
    expect(kinds({ answer: answered([open]), lines: {} })).toEqual(["open"]);
  });

  test("an answer of another turn, without a result, or with the results of other calls", () => {
    expect(kinds({ answer: answered([SUCCESS], { answer: "Turn x got: appended c1" }) })).toEqual(["wrong"]);
    expect(kinds({ answer: answered([SUCCESS], { answer: answerMark("t") }) })).toEqual(["wrong"]);
    expect(kinds({ answer: answered([]), lines: {} })).toEqual(["wrong"]);
    expect(kinds({ answer: answered([{ ...SUCCESS, args: {} }]) })).toEqual(["wrong"]);
  });

  test("faults that a client saw, histories that the endpoint refused, and a program that ended", () => {
    expect(kinds({ asked: { faults: ["event 3 came again"] } })).toEqual(["client"]);
    expect(kinds({ more: { breaches: ["an orphan"] } })).toEqual(["history"]);
    expect(kinds({ more: { died: ["bridge: exit code 1"] } })).toEqual(["died"]);
  });
});

describe("an agent that is asked in words", () => {
  const does: TurnScript = { turn: PLACE, of: "alder", steps: [[{ agent: "birch", wait: 0 }]], delay: 0 };
  const script: TurnScript = { turn: "t", steps: [[{ agent: "alder", wait: 0, does }]], delay: 0 };
  const BIRCH = `${PLACE}.0.0`;
  const inner = (more: Partial<SeenCall> = {}): SeenCall => ({
    id: "c2",
    args: { agent_id: "birch", action: "append", params: { path: BIRCH } },
    status: "success",
    result: "appended c2",
    ...more,
  });
  const outer = (calls: SeenCall[], more: Partial<SeenCall> = {}): SeenCall => ({
    id: "c1",
    agent: "alder",
    args: { agent_id: "alder", query: questionOf(does) },
    status: "success",
    result: `${answerMark(PLACE)} appended c2`,
    calls,
    ...more,
  });
  const of = (call: SeenCall, lines: string[] = [`${BIRCH} c2`], more: Made = {}) =>
    kinds({ script, answer: answered([call]), lines: { birch: lines }, ...more });
  const lost = { status: "error", error_type: "outcome_unknown", error: "unknown" } as const;
  const refused = { status: "error", error_type: "offline", error: "Nothing was run." } as const;

  test("is sound when the last agent ran once, and when nobody knows", () => {
    expect(of(outer([inner()]))).toEqual([]);
    expect(of(outer([], lost))).toEqual([]);
    expect(of(outer([], lost), [])).toEqual([]);
    expect(of(outer([inner(lost)]))).toEqual([]);
    expect(of(outer([inner(refused)]), [])).toEqual([]);
  });

  test("the last agent ran twice, also where nobody knows", () => {
    expect(of(outer([inner()]), [`${BIRCH} c2`, `${BIRCH} c2`])).toEqual(["twice"]);
    expect(of(outer([], lost), [`${BIRCH} c2`, `${BIRCH} c3`])).toEqual(["twice"]);
  });

  test("the last agent's success has no effect", () => {
    expect(of(outer([inner()]), [])).toEqual(["claimed"]);
    expect(of(outer([inner()], lost), [])).toEqual(["claimed"]);
  });

  test("the last agent ran, and its call or the one before it was reported as not run", () => {
    expect(of(outer([inner(refused)]))).toEqual(["denied"]);
    expect(of(outer([], refused))).toEqual(["denied"]);
  });

  test("a success does not show what its agent called, or has the answer of another call", () => {
    expect(of(outer([]))).toEqual(["wrong"]);
    const other = answered([outer([inner()])], { answer: `${answerMark("t")} something` });
    expect(of(outer([inner()]), undefined, { answer: other })).toEqual(["wrong"]);
  });

  test("an effect under an id that the agent's calls do not have", () => {
    expect(of(outer([inner()]), [`${BIRCH} c9`])).toEqual(["stray"]);
  });

  const line = (more: Partial<RecordLine> = {}): RecordLine => ({
    timestamp: "2026-11-23T19:00:01.000Z",
    agent_id: "birch",
    tool: "append",
    parameters: { path: BIRCH },
    result: "success",
    call_id: "c2",
    caller: { principal: "anna", chain: { id: "c1", via: ["alder"] } },
    ...more,
  });
  const recorded = (...lines: RecordLine[]) =>
    of(outer([inner()]), undefined, { records: { own: { lines, missing: [] } } });

  test("the record shows the chain", () => {
    expect(recorded(line())).toEqual([]);
    expect(recorded(line({ caller: { principal: "anna" } }))).toEqual(["record"]);
    expect(recorded(line({ caller: { principal: "anna", chain: { id: "c7", via: ["alder"] } } }))).toEqual([
      "record",
    ]);
  });

  test("a line of the record says what is not true, twice or of another agent, or was not brought", () => {
    expect(recorded(line({ result: "error", error_type: "offline" }))).toEqual(["record"]);
    expect(recorded(line({ result: "error", error_type: "outcome_unknown" }))).toEqual([]);
    const refusal = line({ result: "error", error_type: "offline", timestamp: "2026-11-23T19:00:00.000Z" });
    expect(recorded(refusal, line())).toEqual([]);
    expect(recorded({ ...refusal, timestamp: "2026-11-23T19:00:02.000Z" }, line())).toEqual(["record"]);
    expect(recorded(line({ agent_id: "cedar" }))).toEqual(["record"]);
    expect(recorded(line(), line({ call_id: "c3" }))).toContain("record");
    const records = { own: { lines: [line()], missing: [] } };
    expect(of(outer([], lost), [], { records })).toEqual(["record"]);
    expect(kinds({ records: { lender: { lines: [], missing: ["dogwood c1 success"] } } })).toEqual([
      "record",
    ]);
  });
});

describe("a lent agent", () => {
  const LENT: PlannedCall = { agent: "far/dogwood", wait: 0 };
  const script: TurnScript = { turn: "t", steps: [[LENT]], delay: 0 };
  const seen = { ...SUCCESS, agent: "far/dogwood", result: "appended p-9" };
  const line: RecordLine = {
    timestamp: "2026-11-23T19:00:01.000Z",
    agent_id: "dogwood",
    tool: "append",
    parameters: { path: PLACE },
    result: "success",
    call_id: "p-9",
    caller: { principal: "home:borrower" },
  };
  const own: CallsRecord = { lines: [{ ...line, agent_id: "far/dogwood", call_id: "c1" }], missing: [] };
  const of = (lender: RecordLine[], more: Made = {}) =>
    kinds({
      script,
      answer: answered([seen]),
      lines: { "far/dogwood": ["p-9"] },
      records: { own, lender: { lines: lender, missing: [] } },
      ...more,
    });

  test("has a line in both records, and its own id for the call", () => {
    expect(of([line])).toEqual([]);
  });

  test("its lender records another caller, or the borrower nothing", () => {
    expect(of([{ ...line, caller: { principal: "anna" } }])).toEqual(["record"]);
    expect(of([line], { records: {} })).toEqual(["record"]);
  });
});

describe("a job", () => {
  const script: TurnScript = { turn: "t", steps: [[{ agent: "alder", wait: 0, does: "job" }]], delay: 0 };
  const args = {
    agent_id: "alder",
    action: "bash",
    params: { command: `sleep 0; echo job >> ${PLACE}; echo`, background: true },
  };
  const accepted: SeenCall = {
    id: "c1",
    agent: "alder",
    args,
    status: "success",
    result: "Accepted: 'bash' goes on",
  };
  const ended: SeenCall = { ...accepted, result: jobEnd(PLACE) };
  const lost: SeenCall = {
    id: "c1",
    agent: "alder",
    args,
    status: "error",
    error_type: "outcome_unknown",
    error: "unknown",
  };
  const told: SeenTurn & { text: string } = {
    turn: "v",
    text: "",
    status: "done",
    answer: `${TOLD_MARK}${jobEnd(PLACE)}`,
    calls: [],
  };
  const of = (
    first: SeenCall,
    last: SeenCall,
    begun: Array<SeenTurn & { text: string }>,
    lines = ["job"],
  ) => {
    const answer = answered([first]);
    const looks = [{ ...answer, calls: [last] }];
    return kinds({
      script,
      answer,
      looks,
      stored: [{ ...answer, text: questionOf(script) }, ...begun],
      lines: { alder: lines },
    });
  };

  test("is accepted, ends, and its end is told once", () => {
    expect(of(accepted, ended, [told])).toEqual([]);
  });

  test("ends before the model is asked: its end stands in the place of the acceptance, and is told once as well", () => {
    expect(of(ended, ended, [told])).toEqual([]);
    expect(of(ended, ended, [told, told])).toEqual(["told"]);
    // The model was asked before it ended, and the client looked after it.
    const late = answered([ended], { answer: `${answerMark("t")} ${accepted.result}` });
    const stored = [{ ...late, text: questionOf(script) }, told];
    expect(kinds({ script, answer: late, stored, lines: { alder: ["job"] } })).toEqual([]);
    const without = answered([ended], { answer: answerMark("t") });
    expect(kinds({ script, answer: without, stored, lines: { alder: ["job"] } })).toContain("wrong");
  });

  test("is cut off, or nobody knows whether it began", () => {
    expect(of(accepted, lost, [{ ...told, answer: `${TOLD_MARK}unknown` }])).toEqual([]);
    expect(of(lost, lost, [], [])).toEqual([]);
    expect(of(lost, ended, [told])).toEqual([]);
  });

  test("its end is told never, or twice", () => {
    expect(of(accepted, ended, [])).toEqual(["told"]);
    expect(of(accepted, ended, [told, told])).toEqual(["told"]);
    expect(of(lost, lost, [told, told])).toContain("told");
    expect(of(accepted, accepted, [])).toEqual(["told", "told"]);
  });

  test("its end is told without what it printed, or as a turn that failed", () => {
    expect(of(accepted, ended, [{ ...told, answer: `${TOLD_MARK}nothing` }])).toEqual(["wrong"]);
    expect(of(accepted, ended, [{ ...told, status: "failed" }])).toEqual(["wrong"]);
  });

  test("ran twice; claims an end without an effect; ran though it was said that nothing was run", () => {
    expect(of(accepted, ended, [told], ["job", "job"])).toEqual(["twice"]);
    expect(of(accepted, ended, [told], [])).toContain("claimed");
    expect(of(accepted, { ...lost, error_type: "io" }, [told])).toContain("denied");
  });

  test("a turn that begins by itself without a job", () => {
    expect(kinds({ stored: [{ ...answered(), text: questionOf(SCRIPT) }, told] })).toEqual(["stray"]);
  });
});
