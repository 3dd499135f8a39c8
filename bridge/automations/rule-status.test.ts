/** What a person reads after an "undo", in their language. */
import { advance } from "@edgecall/core/automations/run.ts";
import { initialAutomation, type Run } from "@edgecall/core/automations/state.ts";
import { around, conditionOf, ruleOf, stepOf } from "@edgecall/core/automations/testkit/rules.ts";
import type { Automation, AutomationRun, StepOutcome } from "@edgecall/core/protocol/automation.ts";
import { LANGUAGES } from "@edgecall/core/text/languages.ts";
import { DAY_MS, MINUTE_MS } from "@edgecall/core/time/zone.ts";
import { describe, expect, test } from "vitest";
import { phrasesIn } from "../history/phrases.ts";
import { statusOf, undoneOf, undoRefusal } from "./rule-status.ts";

const AT = Date.parse("2026-11-29T12:00Z");
const rule = { ...ruleOf(), do: [stepOf({ key: "lamp" }), stepOf({ key: "fan" })] };
const done = { rule: rule.id, version: 1, firing: 1, state: "done" as const, at: AT, because: [] };
const nameOf = ({ key }: { key: string }) => ({ lamp: "Flurlicht", fan: "Lüfter" })[key] ?? key;

function undone(outcomes: readonly StepOutcome[]): AutomationRun {
  const steps = outcomes.map((outcome, at) => ({ step: 2 + at, outcome, text: "It reports off.", at: AT }));
  return { rule: rule.id, version: 1, firing: 1, state: "undone", at: AT, because: [], steps };
}

test("each step by its device's name; in English in the device's words", async () => {
  const of = async (outcomes: readonly StepOutcome[], language: "en" | "de", kept: number[] = []) =>
    undoneOf(rule, { run: undone(outcomes), kept, nameOf }, await phrasesIn(language));
  expect(await of(["confirmed", "late"], "de")).toEqual({
    text: "Flurlicht: wie vorher. Lüfter: wie vorher.",
    confirmed: true,
  });
  expect(await of(["confirmed"], "en")).toEqual({ text: "It reports off.", confirmed: true });
  expect(await of(["not_sent", "unconfirmed"], "de", [2])).toEqual({
    text: "Flurlicht: seither geändert, bleibt also so. Lüfter: gesendet, aber nicht bestätigt.",
    confirmed: false,
  });
  expect(await of(["not_sent"], "en")).toEqual({ text: "Flurlicht: It reports off.", confirmed: false });
  expect(await of(["not_sent"], "en", [2])).toMatchObject({ text: "Flurlicht: changed since, so it stays." });
  expect(await of([], "de")).toEqual({ text: "Es gab nichts rückgängig zu machen.", confirmed: true });
});

test("no language but English says the device's English", async () => {
  const run = undone(["confirmed", "unknown"]);
  for (const language of LANGUAGES.filter((one) => one !== "en")) {
    const answer = undoneOf(rule, { run, kept: [], nameOf }, await phrasesIn(language));
    expect(JSON.stringify(answer)).toMatch(/Flurlicht.*Lüfter/);
    expect(JSON.stringify(answer)).not.toContain("reports off");
  }
});

test("a refused undo says so in a sentence, and why a person has to ask where that is so", async () => {
  const state = { ...initialAutomation(rule, AT), last: lastOf([0, 1]) };
  const say = async (asks: (key: string) => boolean, language: (typeof LANGUAGES)[number] = "en") =>
    undoRefusal(rule, state, { firing: 1, asks: ({ key }) => asks(key), at: AT }, await phrasesIn(language));
  expect(await say(() => false)).toMatch(/^It cannot be undone: .*\.$/);
  expect(await say((key) => key === "fan")).toMatch(/^No button undoes this, .*\.$/);
  const all = await Promise.all(LANGUAGES.map((language) => say(() => true, language)));
  expect(new Set(all).size).toBe(LANGUAGES.length);
  expect(undoRefusal(rule, state, { firing: 2, asks: () => true, at: AT }, await phrasesIn("en"))).toMatch(
    /^It cannot/,
  );
});

test("an undo is neither offered nor done a day after the run's end, and the refusal says so", async () => {
  const last = { ...lastOf([0, 1]), ended: AT + MINUTE_MS };
  const state = { ...initialAutomation(rule, AT), last };
  const shownAt = (at: number) =>
    statusOf(rule, state, { runs: [{ ...done, steps: [] }], now: [], at, has_way_back: () => true }).runs[0];
  const saidAt = async (at: number, asks = false) =>
    undoRefusal(rule, state, { firing: 1, asks: () => asks, at }, await phrasesIn("en"));
  const over = last.ended + DAY_MS;
  expect(shownAt(over)?.undo).toBe(true);
  expect(shownAt(over + 1)).not.toHaveProperty("undo");
  expect(await saidAt(over)).toMatch(/^It cannot be undone: what it changed/);
  expect(await saidAt(over + 1)).toBe("It ended more than a day ago, so it cannot be undone any more.");
  expect(await saidAt(over + 1, true)).toMatch(/^No button undoes this, /);
});

test("a run can be undone as far as it is so now, and has no step that its undo did not send", () => {
  const state = { ...initialAutomation(rule, AT), last: lastOf([0, 1]) };
  const shownOf = (run: AutomationRun, hasWay: boolean, last = state.last) =>
    statusOf(rule, { ...state, last }, { runs: [run], now: [], at: AT, has_way_back: () => hasWay }).runs[0];
  const run = { ...done, undo: true, steps: lastOf([0, 1]).steps };
  expect(shownOf(run, true)?.undo).toBe(true);
  expect(shownOf(run, false)).not.toHaveProperty("undo");
  expect(shownOf({ ...run, version: 2 }, true)).not.toHaveProperty("undo");
  const [first, second] = undone(["not_sent", "confirmed"]).steps;
  const after = { ...run, why: "undo", steps: [...run.steps, ...undone(["not_sent", "confirmed"]).steps] };
  expect(first?.outcome).toBe("not_sent");
  const shown = shownOf(after, true, { ...lastOf([0, 1]), steps: after.steps });
  expect(shown).toMatchObject({ state: "done", steps: [...run.steps, second] });
  expect(shown).not.toHaveProperty("undo");
});

/** A run whose steps were all confirmed. */
function lastOf(numbers: readonly number[]): Run {
  const steps = numbers.map((step) => ({ step, outcome: "confirmed" as const, text: "", at: AT }));
  return {
    ...{ firing: 1, at: AT, because: [], led: [], moment: false, phase: "held", step: 1, out: false },
    ...{ recheck: false, tries: 0, steps, kept: [], ends: [] },
    before: Object.fromEntries(numbers.map((step) => [step, { switch: false }])),
  };
}

test("a rule at sunrise or sunset says so where there is none these days, in its maker's language", async () => {
  const place = { lat: 69.6, lon: 18.9 };
  const nowOf = async (
    day: string,
    of: "sunrise" | "sunset" | "clock",
    language?: (typeof LANGUAGES)[number],
  ) => {
    const at = Date.parse(`${day}T12:00Z`);
    const time = { of, minutes: 0 };
    const polar = {
      ...ruleOf(),
      when: [],
      at: time,
      place,
      zone: "Europe/Oslo",
      ...(language && { language }),
    };
    await phrasesIn(language ?? "en");
    return statusOf(polar, initialAutomation(polar, at), { runs: [], now: [], at, has_way_back: () => false })
      .now;
  };
  expect(await nowOf("2026-12-20", "sunrise")).toEqual([
    expect.stringMatching(/^There is no sunrise these days\. Next time: \w+ 1\d Jan 2027\.$/),
  ]);
  expect(await nowOf("2026-06-20", "sunset", "de")).toEqual([
    expect.stringMatching(/^Zurzeit gibt es keinen Sonnenuntergang\. Nächstes Mal: .*Juli 2026\.$/),
  ]);
  expect(await nowOf("2026-03-20", "sunset")).toEqual([]);
  expect(await nowOf("2026-12-20", "clock")).toEqual([]);
  for (const language of LANGUAGES)
    expect((await nowOf("2026-12-20", "sunset", language))[0]).toMatch(/2027/);
});

describe("a rule that waits until its values are false says", () => {
  const hold = { clear_hold_ms: MINUTE_MS };
  const door = conditionOf(hold);
  const both = [door, conditionOf({ ...hold, id: "w-0002" })];
  /** @param values of each second, by the condition; undefined: not known */
  const statusAfter = (more: Partial<Automation>, ...values: (boolean | undefined)[][]) => {
    const rule = ruleOf(more);
    let at = AT;
    let state = initialAutomation(rule, at);
    for (const all of values) {
      at += 1_000;
      for (const [condition, value] of all.entries()) {
        const given = value === undefined ? { missing: true as const } : { value };
        ({ state } = advance(rule, state, { of: "value", condition, value: given }, around(at)));
      }
    }
    const shown = { runs: [], now: [], at, has_way_back: () => false };
    const { state: word, over_at: over } = statusOf(rule, state, shown);
    return { state: word, over: over === undefined ? undefined : over - AT };
  };

  test("nothing more while a value is so", () => {
    expect(statusAfter({ when: [door] }, [true])).toEqual({ state: "waiting", over: undefined });
    expect(statusAfter({ when: both, match: "any" }, [true, true], [false, true])).toEqual({
      state: "waiting",
      over: undefined,
    });
  });

  test("when they are over: the last of any, the first of all", () => {
    expect(statusAfter({ when: [door] }, [true], [false])).toEqual({ state: "waiting", over: 62_000 });
    const one = [
      [true, true],
      [false, true],
      [false, false],
    ];
    expect(statusAfter({ when: both, match: "any" }, ...one)).toEqual({ state: "waiting", over: 63_000 });
    expect(statusAfter({ when: both, match: "all" }, ...one)).toEqual({ state: "waiting", over: 62_000 });
  });

  test("nothing more of what is not known, and nothing once it is over", () => {
    expect(statusAfter({ when: [door] }, [true], [undefined])).toEqual({ state: "unknown", over: undefined });
    expect(statusAfter({ when: [conditionOf()] }, [true], [false])).toEqual({
      state: "armed",
      over: undefined,
    });
  });
});
