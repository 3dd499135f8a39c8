/** Tests the verdict on invented commands: sound ones pass, and each kind of error is found. */
import { expect, test } from "vitest";
import { type CommandRecord, judgeCommand } from "./verdict.ts";

const call = { id: "c", agent: "kitchen-plug-0" };

function command(
  more: Partial<CommandRecord>,
  seen: object = { status: "success", result: "on" },
): CommandRecord {
  const turn = { turn: "t", status: "done", answer: "x", calls: [{ ...call, ...seen } as never] };
  return {
    ...{ k: 1, fault: "kill:bridge", at: 0, lasts: 0, slow: 0, patient: true },
    ...{ turn, called: 1, changed: 1 },
    ...more,
  };
}

const kinds = (record: CommandRecord) => judgeCommand(record).map(({ kind }) => kind);
const unknown = { status: "error", error_type: "outcome_unknown", error: "Error: Sent" };
const offline = { status: "error", error_type: "offline", error: "Error: nothing was sent" };

test("done and done, unknown and anything, and not sent and nothing are sound", () => {
  expect(kinds(command({}))).toEqual([]);
  for (const called of [0, 1]) expect(kinds(command({ called, changed: 0 }, unknown))).toEqual([]);
  expect(kinds(command({ called: 0, changed: 0 }, offline))).toEqual([]);
});

test("what was lost, left open, done twice, claimed or denied is found", () => {
  expect(kinds(command({ turn: undefined, called: 0, changed: 0 }))).toEqual(["lost"]);
  expect(kinds(command({}, { status: "pending" }))).toEqual(["open"]);
  expect(kinds(command({ called: 2 }))).toEqual(["twice"]);
  expect(kinds(command({ changed: 0 }))).toEqual(["claimed"]);
  expect(kinds(command({ called: 1, changed: 0 }, offline))).toEqual(["denied"]);
});
