/** What is told of runs: what counts as a run that was confirmed without a word, and when an undo has its answer. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initialAutomation, type Run } from "@edgecall/core/automations/state.ts";
import { ruleOf } from "@edgecall/core/automations/testkit/rules.ts";
import type { AllowedAutomation, AutomationRun, StepOutcome } from "@edgecall/core/protocol/automation.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type HeldRule, HeldRules } from "./held-rules.ts";
import { NewsQueue } from "./news.ts";
import { RunRecords } from "./run-records.ts";
import { Telling } from "./telling.ts";

const AT = Date.parse("2026-11-29T12:00Z");
const allowed = { by: "anna", at: AT, until: AT + 1 };
const rule: AllowedAutomation = { ...ruleOf(), home: "h1", allowed };

let file: string;
let records: RunRecords;
let news: NewsQueue;
let telling: Telling;
let held: HeldRule;

beforeEach(async () => {
  file = join(mkdtempSync(join(tmpdir(), "telling-")), "runs.json");
  records = await RunRecords.open(file, () => {});
  news = new NewsQueue({ send: () => false }, { news: [], n: 0, lost: 0 });
  telling = new Telling({ news, records, nameOf: (id) => `Rule ${id}`, log: () => {} });
  const rules = new HeldRules();
  rules.add({ text: "", rule, state: initialAutomation(rule, AT) });
  held = rules.all[0] as HeldRule;
});
afterEach(async () => {
  vi.useRealTimers();
  await records.stop();
});

function runOf(
  firing: number,
  more: Partial<AutomationRun> = {},
  outcome: StepOutcome = "confirmed",
): AutomationRun {
  const steps = [{ step: 0, outcome, text: "", at: AT }];
  return { rule: rule.id, version: 1, firing, state: "done", at: AT, ended: AT, because: [], steps, ...more };
}

function tells(run: AutomationRun, aloud = false): void {
  telling.tell(held, { of: "tell", run, aloud, critical: false });
}

/** The machine's run 1, which a person has undone. */
function undoneRun(): Run {
  return {
    ...{ firing: 1, at: AT, because: [], led: [], moment: false, phase: "end", step: 1, out: false },
    ...{ recheck: false, tries: 0, steps: [], kept: [], before: {}, ends: [1], ended: AT },
    ending: { why: "undo", at: AT },
  };
}

test("only runs that were confirmed count as such, and each once", () => {
  tells(runOf(1));
  tells(runOf(2, { state: "not_run", steps: [], why: "only_if" }));
  tells(runOf(3, {}, "sent"));
  tells(runOf(4));
  const { ended: _, ...words } = runOf(5, { state: "running" });
  tells(words, true);
  // How it ended is no other run.
  tells(runOf(5));
  tells(runOf(6), true);
  expect(news.content.news.map(({ silent = 0, run }) => [run?.firing, silent])).toEqual([
    [5, 2],
    [6, 0],
  ]);
});

test("an undo is answered by the run's end, and not by a step that failed before it", async () => {
  const answer = telling.ended(rule.id, 1);
  const { ended: _, ...failed } = runOf(1, { state: "stopped", why: "unconfirmed" }, "unconfirmed");
  tells(failed, true);
  const last = runOf(1, { state: "stopped", why: "unconfirmed" });
  tells(last);
  expect(await answer).toEqual(last);
});

test("what an undo could not bring back is the answer to it, and no news of the run", async () => {
  tells(runOf(1));
  const answer = telling.ended(rule.id, 1);
  const steps = [...runOf(1).steps, { step: 1, outcome: "not_sent" as const, text: "", at: AT }];
  const last = runOf(1, { why: "undo", steps });
  tells(last, true);
  expect(await answer).toEqual(last);
  expect(records.of(rule.id)).toEqual([last]);
  expect(news.content.news).toEqual([]);
  // It is counted once.
  tells(runOf(2), true);
  expect(news.content.news.map(({ silent }) => silent)).toEqual([1]);
});

test("an undo that takes too long is told when it has ended, as its answer says", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const answer = telling.ended(rule.id, 1);
  vi.advanceTimersByTime(20_000);
  expect(await answer).toBeUndefined();
  const undone = runOf(1, { state: "undone", why: "undo" });
  held.state = { ...held.state, last: undoneRun() };
  tells(undone);
  expect(news.content.news).toMatchObject([{ run: undone }]);
  // The rule's next run is no part of it.
  tells(runOf(2));
  expect(news.content.news).toHaveLength(1);
});

test("an undo whose answer finds no gateway is told when it has ended", async () => {
  const answer = telling.ended(rule.id, 1);
  telling.gatewayLost();
  expect(await answer).toBeUndefined();
  held.state = { ...held.state, last: undoneRun() };
  const steps = [...runOf(1).steps, { step: 1, outcome: "not_sent" as const, text: "", at: AT }];
  const failed = runOf(1, { why: "undo", steps });
  tells(failed, true);
  expect(news.content.news).toMatchObject([{ run: failed }]);
});

test("an undo that goes on after a start of the bridge is told when it has ended", () => {
  const steps = [...runOf(1).steps, { step: 1, outcome: "confirmed" as const, text: "", at: AT }];
  const undone = runOf(1, { state: "undone", why: "undo", steps });
  held.state = { ...held.state, last: { ...undoneRun(), ending: { why: "over", at: AT } } };
  tells(undone);
  expect(news.content.news).toEqual([]);
  held.state = { ...held.state, last: undoneRun() };
  tells(undone);
  expect(news.content.news).toMatchObject([{ run: undone }]);
});

test("a loop is told with the names of its rules, in their order", () => {
  telling.tellPaused(held, "loop", ["a-1", "a-2", "a-1", rule.id]);
  telling.tellPaused(held, "device_gone");
  expect(news.content.news).toEqual([
    {
      ...{ n: 1, rule: rule.id, version: 1, paused: "loop" },
      chain: ["Rule a-1", "Rule a-2", "Rule a-1", `Rule ${rule.id}`],
    },
    { n: 2, rule: rule.id, version: 1, paused: "device_gone" },
  ]);
});

/** The record as it is after a kill now: the runs' file of before, and what the other file holds. */
async function afterKill(rules: readonly HeldRule[] = [held]): Promise<readonly AutomationRun[]> {
  const { unwritten } = records;
  const later = await RunRecords.open(file, () => {});
  new Telling({ news, records: later, nameOf: String, log: () => {} }).restore(rules, unwritten);
  await later.stop();
  return later.of(rule.id);
}

test("a kill loses nothing of the record: neither a run, nor how it ended, nor what a device took back", async () => {
  const notRun = runOf(1, { state: "not_run", why: "only_if", steps: [] });
  tells(notRun);
  expect(await afterKill()).toEqual([notRun]);
  const { ended: _, ...running } = runOf(2, { state: "running" });
  tells(running);
  expect(await afterKill()).toEqual([notRun, running]);
  tells(runOf(2));
  expect(await afterKill()).toEqual([notRun, runOf(2)]);
  telling.tellTakenBack(held, { firing: 2, step: 0, text: "It took it back.", at: AT });
  expect((await afterKill())[1]).toMatchObject({ state: "stopped", steps: [{ outcome: "unconfirmed" }] });
});

test("what the record's own file has is held by the other one no longer, and a start does not bring it back", async () => {
  for (const firing of [1, 2]) tells(runOf(firing));
  await records.stop();
  expect(records.unwritten).toEqual([]);
  tells(runOf(2, { state: "undone", why: "undo" }));
  expect(records.unwritten.map(({ firing }) => firing)).toEqual([2]);
  expect((await afterKill()).map(({ state }) => state)).toEqual(["done", "undone"]);
  expect(await afterKill([])).toEqual([]);
});
