/** What is told of rules that act: each outcome by the device's name, and the reason in a sentence. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { cs } from "../phrases/languages/cs.ts";
import { de } from "../phrases/languages/de.ts";
import { zh } from "../phrases/languages/zh.ts";
import { ENGLISH, Phrases } from "../phrases/phrases.ts";
import type { AutomationNews, AutomationRun, StepOutcome } from "../protocol/automation.ts";
import { meanwhileText, newsText, type ToldNews, whyText } from "./news-text.ts";
import type { Why } from "./state.ts";
import { NOON, ruleOf, stepOf } from "./testkit/rules.ts";
import * as csWords from "./words/cs.ts";
import * as deWords from "./words/de.ts";
import { NEWS_WORDS, WHY_WORDS } from "./words/news-words.ts";
import * as zhWords from "./words/zh.ts";

const GERMAN = new Phrases({ ...de, more: deWords.news });
const LANGUAGES = [
  ENGLISH,
  GERMAN,
  new Phrases({ ...cs, more: csWords.news }),
  new Phrases({ ...zh, more: zhWords.news }),
];

const rule = {
  ...ruleOf(),
  name: "Hall dark",
  say: undefined,
  do: [stepOf({ agent: "hall-light" }), stepOf({ agent: "hall-fan", key: "fan" })],
  go_on: false,
};

function runOf(outcomes: readonly StepOutcome[], more: Partial<AutomationRun> = {}): AutomationRun {
  return {
    ...{ rule: "a-0001", version: 1, firing: 3, state: "done", at: NOON, because: [] },
    steps: outcomes.map((outcome, step) => ({
      step,
      outcome,
      text: "It did not answer within 15 s.",
      at: NOON,
    })),
    ...more,
  };
}

function told(news: Partial<AutomationNews>, more: Partial<ToldNews> = {}): ToldNews {
  return {
    news: { n: 1, rule: "a-0001", version: 1, ...news },
    automation: rule as ToldNews["automation"],
    zone: "Europe/Berlin",
    now: NOON + 60_000,
    phrases: ENGLISH,
    ...more,
  };
}

test("a run of the version before names no device of this one", () => {
  const run = runOf(["unconfirmed"], { state: "stopped" });
  const automation = { ...rule, version: 2 } as ToldNews["automation"];
  expect(newsText(told({ version: 1, run }, { automation }))).toBe(
    "⚠ Hall dark, 12:00: Hall dark: It did not answer within 15 s.",
  );
});

describe("a run", () => {
  test("that was confirmed says its maker's words, or that it is done", () => {
    const run = runOf(["confirmed", "confirmed"], { because: ["Front door: open"] });
    const automation = { ...rule, say: "The door is open." } as ToldNews["automation"];
    expect(newsText(told({ run }, { automation }))).toBe(
      "✓ Hall dark, 12:00: The door is open. Because: Front door: open.",
    );
    expect(newsText(told({ run: runOf(["confirmed", "sent"]) }))).toBe("✓ Hall dark, 12:00: Done.");
    expect(newsText(told({ run: runOf(["confirmed"], { state: "undone" }) }))).toBe(
      "✓ Hall dark, 12:00: Undone.",
    );
  });

  test("that was not confirmed names the device, what is known, and what was left out", () => {
    const run = runOf(["unconfirmed"], { state: "stopped", why: "unconfirmed" });
    expect(newsText(told({ run }))).toBe(
      "⚠ Hall dark, 12:00: hall-light: It did not answer within 15 s. What was to follow was left out.",
    );
    const nameOf = () => "Flurlicht";
    expect(newsText(told({ run }, { phrases: GERMAN, nameOf }))).toBe(
      "⚠ Hall dark, 12:00: Flurlicht: gesendet, aber nicht bestätigt. Was folgen sollte, blieb aus.",
    );
    const unknown = runOf(["confirmed", "unknown"], { state: "stopped", why: "unknown" });
    expect(newsText(told({ run: unknown }, { phrases: GERMAN }))).toMatch(/^⚠ Hall dark, 12:00: hall-fan: /);
    const unsent = runOf(["not_sent"], { state: "stopped", why: "not_sent" });
    expect(newsText(told({ run: unsent }, { phrases: GERMAN }))).toContain(
      "hall-light: Nichts wurde gesendet.",
    );
  });

  test("that was confirmed late", () => {
    expect(newsText(told({ run: runOf(["late", "confirmed"]) }))).toBe(
      "✓ Hall dark, 12:00: hall-light: reported late, so it was done after all.",
    );
  });

  test("that did not begin says why", () => {
    const run = runOf([], { state: "not_run", why: "late" });
    expect(newsText(told({ run }))).toBe(
      "⚠ Hall dark did not run at 12:00: its time was over by ten minutes or more.",
    );
  });

  test("whose end was not confirmed asks to look there", () => {
    const run = runOf(["confirmed", "confirmed", "unconfirmed"], { why: "at_most" });
    const automation = { ...rule, over: "off", end: [stepOf({ agent: "boiler" })] } as ToldNews["automation"];
    expect(newsText(told({ run, critical: true }, { automation }))).toBe(
      "⚠ Hall dark, 12:00: boiler: It did not answer within 15 s. It was to end, and that is not confirmed. Please look there.",
    );
  });

  test("counts those before it that had nothing to say", () => {
    expect(newsText(told({ run: runOf(["confirmed", "confirmed"]), silent: 2 }))).toBe(
      "✓ Hall dark, 12:00: Done. It ran 2 times before this, all confirmed.",
    );
  });
});

test("a rule that pauses says why, in each language and for each reason", () => {
  expect(newsText(told({ paused: "device_changed" }))).toBe(
    "⏸ Hall dark is paused: a device of it is another one now.",
  );
  const loop = { paused: "loop", chain: ["Lamp on", "Hall dark", "Lamp on", "Fan on"] };
  expect(newsText(told(loop))).toBe(
    "⏸ Hall dark is paused: rules made each other run (Lamp on → Hall dark → Lamp on → Fan on).",
  );
  // What ends a run as it should is no reason that is told.
  const reasons: Readonly<Record<Exclude<Why, "over" | "at_most" | "undo">, string>> = WHY_WORDS;
  for (const phrases of LANGUAGES)
    for (const why of Object.keys(reasons)) expect(whyText(why, phrases)).not.toMatch(/_|[{}]|^$/);
  expect(whyText("anything else", ENGLISH)).toBe("anything else");
  expect(whyText("constructor", ENGLISH)).toBe("constructor");
});

test("after an absence: how often each ran, and by name what was not right", () => {
  const text = meanwhileText([
    told({ run: runOf(["confirmed", "confirmed"]), silent: 3 }),
    told(
      { rule: "a-0002", run: runOf(["confirmed", "confirmed"]) },
      { automation: { ...rule, name: "Morning" } as ToldNews["automation"] },
    ),
    told({ run: runOf(["unconfirmed"], { state: "stopped", firing: 4 }) }),
    told({ run: runOf([], { state: "not_run", why: "only_if" }) }),
  ]);
  expect(text.split("\n")).toEqual([
    "Meanwhile your home ran rules: Hall dark 5 times, Morning 1 time.",
    "⚠ Hall dark, 12:00: hall-light: It did not answer within 15 s. What was to follow was left out.",
    "⚠ Hall dark did not run at 12:00: it was to run only if something else is so.",
  ]);
});

test("after an absence a run that was told twice counts once", () => {
  const run = runOf(["confirmed", "confirmed"]);
  const text = meanwhileText([told({ run: { ...run, state: "running" } }), told({ run })]);
  expect(text).toBe("Meanwhile your home ran rules: Hall dark 1 time.");
});

test("no link and no hidden sign of a name or a value is in it", () => {
  const automation = {
    ...rule,
    name: "a.example \u202eoff",
    say: "https://evil.example",
  } as ToldNews["automation"];
  const run = runOf(["confirmed", "confirmed"], { because: ["x\n\u200by"] });
  const loop = { paused: "loop", chain: [automation.name, "https://evil.example"] };
  for (const [phrases, news] of LANGUAGES.flatMap((one) =>
    [{ run }, loop].map((news) => [one, news] as const),
  )) {
    const text = newsText(told(news, { automation, phrases }));
    expect(text).not.toMatch(/[\u202e\u200b\n]|a\.example|:\/\//);
  }
});

test("the gateway has room for it", () => {
  expect(gzipSync(JSON.stringify({ ...NEWS_WORDS, ...WHY_WORDS })).length).toBeLessThanOrEqual(1_300);
});
