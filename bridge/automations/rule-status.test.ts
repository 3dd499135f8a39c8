/** What a person reads after an "undo", in their language. */
import { initialAutomation } from "@edgecall/core/automations/state.ts";
import { ruleOf, stepOf } from "@edgecall/core/automations/testkit/rules.ts";
import type { AutomationRun, StepOutcome } from "@edgecall/core/protocol/automation.ts";
import { LANGUAGES } from "@edgecall/core/text/languages.ts";
import { expect, test } from "vitest";
import { phrasesIn } from "../history/phrases.ts";
import { statusOf, undoneOf } from "./rule-status.ts";

const AT = Date.parse("2026-11-29T12:00Z");
const rule = { ...ruleOf(), do: [stepOf({ key: "lamp" }), stepOf({ key: "fan" })] };
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
    return statusOf(polar, initialAutomation(polar, at), [], [], at).now;
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
