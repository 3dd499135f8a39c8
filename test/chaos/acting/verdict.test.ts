/** Tests the verdict on invented houses: a sound one passes, and each kind of violation is found. */
import type { AutomationRun, StepOutcome } from "@edgecall/core/protocol/automation.ts";
import { expect, test } from "vitest";
import type { ActingHistory, ActingRecord } from "./history.ts";
import { judgeHouse } from "./verdict.ts";

const CROSSED = 1_000;

function rule(more: Partial<ActingRecord> = {}): ActingRecord {
  return {
    name: "A0001",
    k: 1,
    trigger: "number",
    holdMs: 0,
    steps: [{ device: "plain", waitMs: 0 }],
    over: "leave",
    says: false,
    recovers: false,
    fault: { name: "kill:bridge", moment: "begun", jitter: 0, lasts: 0, patient: true },
    met: true,
    crossedAt: CROSSED,
    ready: true,
    ...more,
  };
}

function run(outcome: StepOutcome, more: Partial<AutomationRun> = {}): AutomationRun {
  const steps = [{ step: 0, outcome, text: "on", at: CROSSED + 50 }];
  const state = outcome === "confirmed" ? "done" : "stopped";
  const ended = CROSSED + 60;
  return { rule: "a-0001", version: 1, firing: 1, state, at: CROSSED, ended, because: [], steps, ...more };
}

const ON = { at: CROSSED + 10, device: "A0001a", payload: "ON" };
const OFF = { ...ON, at: CROSSED + 900, payload: "OFF" };
const IS_ON = { at: CROSSED + 20, device: "A0001a", state: "ON" };

function house(more: Partial<ActingHistory> = {}): ActingHistory {
  return {
    house: 0,
    rules: [rule()],
    quiet: [{ name: "Q0010", kind: "never" }],
    commands: [ON],
    states: [IS_ON],
    startsAhead: [],
    home: [{ at: 0, somebody: true }],
    news: new Map(),
    runs: new Map([["A0001", [run("confirmed")]]]),
    told: [],
    troubles: [],
    ...more,
  };
}

const kinds = (more: Partial<ActingHistory>) => judgeHouse(house(more)).map(({ kind }) => kind);
const runs = (...all: AutomationRun[]) => new Map([["A0001", all]]);

test("an action that is confirmed, or told, is sound", () => {
  expect(kinds({})).toEqual([]);
  for (const outcome of ["unconfirmed", "unknown"] as const)
    expect(kinds({ runs: runs(run(outcome)), states: [], told: ["A0001 was not confirmed"] })).toEqual([]);
  expect(kinds({ commands: [], states: [], runs: runs(run("not_sent")), told: ["A0001: not sent"] })).toEqual(
    [],
  );
});

test("a command that came twice is found, and a second run", () => {
  expect(kinds({ commands: [ON, ON] })).toEqual(["twice"]);
  expect(kinds({ runs: runs(run("confirmed"), run("confirmed", { firing: 2 })) })).toEqual(["again"]);
});

test("what no rule allows, or not then, is found", () => {
  expect(kinds({ commands: [ON, { ...ON, device: "Q0010a" }] })).toEqual(["disallowed"]);
  expect(kinds({ commands: [{ ...ON, at: CROSSED - 1 }] })).toEqual(["disallowed"]);
  expect(kinds({ commands: [ON, OFF] })).toEqual(["disallowed"]);
  const ends = { over: "off", backAt: CROSSED + 800, recovers: true } as const;
  expect(kinds({ rules: [rule(ends)], commands: [ON, OFF] })).toEqual([]);
  expect(kinds({ rules: [rule({ ...ends, backAt: CROSSED + 950 })], commands: [ON, OFF] })).toEqual([
    "disallowed",
  ]);
  const timed = { over: "off", atMostMs: 5_000 } as const;
  expect(kinds({ rules: [rule(timed)], commands: [ON, OFF] })).toEqual(["disallowed"]);
  const ahead = (from: number, to: number, off = OFF) =>
    kinds({
      rules: [rule(timed)],
      commands: [ON, off],
      startsAhead: [{ from: CROSSED + from, to: CROSSED + to }],
    });
  expect(ahead(20, 2_000)).toEqual([]);
  expect(ahead(-500, 2_000)).toEqual(["disallowed"]);
  expect(ahead(2_000, 4_000)).toEqual(["disallowed"]);
  expect(ahead(20, 100, { ...OFF, at: CROSSED + 4_500 })).toEqual(["disallowed"]);
  const quiet = new Map([...runs(run("confirmed")), ["Q0010", [run("confirmed")]]]);
  expect(kinds({ runs: quiet })).toEqual(["again"]);
});

test("a firing of which nothing is left is lost, and one without an end is open", () => {
  expect(kinds({ commands: [], states: [], runs: new Map() })).toEqual(["lost"]);
  const { ended: _, ...running } = run("confirmed", { state: "running" });
  expect(kinds({ runs: runs(running) })).toEqual(["open", "untold"]);
  const { ended: __, ...stopped } = run("unconfirmed");
  expect(kinds({ runs: runs(stopped), told: ["A0001 was not confirmed"] })).toEqual(["open"]);
});

test("what is not confirmed has to be told, and words that were asked for have to come", () => {
  expect(kinds({ runs: runs(run("unconfirmed")) })).toEqual(["untold"]);
  expect(kinds({ rules: [rule({ says: true })] })).toEqual(["silent"]);
});

test("words that are not so are found", () => {
  expect(kinds({ states: [] })).toEqual(["untrue"]);
  expect(kinds({ runs: runs(run("not_sent")), told: ["A0001: not sent"] })).toEqual(["untrue"]);
  expect(kinds({ runs: runs(run("sent")), told: ["A0001: sent"] })).toEqual(["untrue"]);
});

test("an agent's action is counted at the agent, and nothing of it stays on", () => {
  const rules = [
    rule({ steps: [{ device: "agent", waitMs: 0 }], over: "off", recovers: true, backAt: CROSSED + 500 }),
  ];
  const sent = { rules, states: [], runs: runs(run("sent", { state: "done" })) };
  expect(kinds(sent)).toEqual([]);
  expect(kinds({ ...sent, commands: [] })).toEqual(["untrue"]);
  expect(kinds({ ...sent, commands: [ON, ON] })).toEqual(["twice"]);
  expect(kinds({ ...sent, runs: runs(run("unknown")) })).toEqual(["untold"]);
});

test("a rule acts only if who is at home is so", () => {
  const none = { name: "none", moment: "crosses", jitter: 0, lasts: 0, patient: true } as const;
  const presence = { needs: "nobody_home", by: "sensor", isSo: true, turns: false } as const;
  const rules = [rule({ presence, fault: none, crossedAt: CROSSED + 9_000 })];
  const commands = [{ ...ON, at: CROSSED + 9_010 }];
  const away = (at: number) => [
    { at: 0, somebody: true },
    { at, somebody: false },
  ];
  expect(kinds({ rules, commands, home: away(CROSSED) })).toEqual([]);
  expect(kinds({ rules, commands })).toEqual(["disallowed"]);
  expect(kinds({ rules, commands, home: away(CROSSED + 8_000) })).toEqual(["disallowed"]);
  // The same said again, a moment before.
  const again = [...away(CROSSED), { at: CROSSED + 8_500, somebody: false }];
  expect(kinds({ rules, commands, home: again })).toEqual([]);
  const back = [...away(0), { at: CROSSED + 7_000, somebody: true }];
  expect(kinds({ rules, commands, home: back })).toEqual(["disallowed"]);
  const refused = {
    commands: [],
    states: [],
    runs: runs(run("sent", { state: "not_run", why: "only_if", steps: [] })),
  };
  expect(kinds({ ...refused, rules })).toEqual(["lost"]);
  expect(
    kinds({ ...refused, rules: [rule({ presence: { ...presence, isSo: false }, fault: none })] }),
  ).toEqual([]);
  expect(kinds({ ...refused, rules: [rule({ presence })] })).toEqual([]);
});

test("a press is lost only where nothing could see it", () => {
  const nothing = { commands: [], states: [], runs: new Map() };
  const fault = { name: "away:broker", moment: "crosses", jitter: 0, lasts: 0, patient: true } as const;
  const press = { trigger: "event", fault } as const;
  expect(kinds({ ...nothing, rules: [rule(press)] })).toEqual([]);
  expect(kinds({ ...nothing, rules: [rule({ ...press, ready: false })] })).toEqual([]);
  expect(kinds({ ...nothing, rules: [rule({ ...press, fault: { ...fault, moment: "sent" } })] })).toEqual([
    "lost",
  ]);
  expect(kinds({ ...nothing, rules: [rule({ ...press, fault: { ...fault, name: "none" } })] })).toEqual([
    "lost",
  ]);
  expect(kinds({ rules: [rule(press)], runs: new Map() })).toEqual(["lost"]);
});

test("a device that stays on after the rule was over is told", () => {
  const left = { rules: [rule({ over: "off", recovers: true, backAt: CROSSED + 500 })] };
  expect(kinds(left)).toEqual(["end"]);
  expect(kinds({ ...left, told: ["A0001: could not switch it off"] })).toEqual([]);
});
