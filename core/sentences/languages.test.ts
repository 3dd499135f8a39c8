import { describe, expect, test } from "vitest";
import { ACTIONS, COLORS, READINGS, SETTINGS, STATES, THING_TYPES } from "./frame.ts";
import { type LanguageData, numberForms, phrasesOf } from "./language.ts";
import { cs } from "./languages/cs.ts";
import { de } from "./languages/de.ts";
import { en } from "./languages/en.ts";
import { es } from "./languages/es.ts";
import { fr } from "./languages/fr.ts";
import { it } from "./languages/it.ts";
import { nl } from "./languages/nl.ts";
import { pl } from "./languages/pl.ts";
import { pt } from "./languages/pt.ts";
import { zh } from "./languages/zh.ts";
import { makeLexicon } from "./lexicon.ts";
import { keyOf } from "./words.ts";

const ALL: readonly LanguageData[] = [en, de, fr, es, it, nl, pl, pt, cs, zh];

/** Roles without which a sentence of some kind cannot be said, or is acted on though it must not be. */
const NEEDED =
  `filler in request do be show all everything and to at every ask:value ask:which ask:count stop:negation stop:exception
  stop:when stop:condition stop:delay stop:question watch remind timer model help clock:time ack:ack rule:rule rule:reminder cancel:cancel
  unit:% unit:° compare:above compare:below span:1 span:60 bound:maximum days:tomorrow days:weekday change:raise change:lower`.split(
    /\s+/,
  );

/** Roles that a filler must not hide. */
const FREE: ReadonlySet<string> = new Set([
  "filler",
  "prep",
  "in",
  "request",
  "be",
  "exist",
  "for",
  "to",
  "at",
  "here",
]);

describe.each(ALL.map((data) => ({ language: data.code, data })))("$language", ({ data }) => {
  const lexicon = makeLexicon(data);
  const keys = Object.keys(data.phrases).flatMap((key) => key.split(" "));
  const has = (role: string, value: string) =>
    keys.some(
      (key) => key === `${role}:${value}` || new RegExp(`^${role}:(?:\\w+/)?${value}(?:[/+~]|$)`).test(key),
    );

  test("has each role that sentences need", () => {
    expect(
      NEEDED.filter((key) => !keys.some((one) => one === key || one === `${key}~` || one === `${key}+`)),
    ).toEqual([]);
  });

  test("has words for each action, colour, reading, type and state", () => {
    expect(ACTIONS.filter((one) => !has("act", one))).toEqual([]);
    expect(COLORS.filter((one) => !has("color", one))).toEqual([]);
    expect(READINGS.filter((one) => !has("reading", one))).toEqual([]);
    expect(SETTINGS.filter((one) => one !== "tilt" && !has("reading", one))).toEqual([]);
    expect(STATES.filter((one) => one !== "failed" && !has("state", one))).toEqual([]);
    expect(THING_TYPES.filter((one) => !has("type", one))).toEqual([]);
  });

  test("counts from 0 to 100", () => {
    const numbers = new Set(numberForms(data.numbers).map(([, number]) => number));
    expect(Array.from({ length: 101 }, (_, at) => at).filter((one) => !numbers.has(one))).toEqual([]);
  });

  test("no filler is also a word that refuses or acts", () => {
    const hidden = phrasesOf(data.phrases.filler ?? "").filter((filler) =>
      (lexicon.phrases.get(keyOf(filler)) ?? []).some((meanings) =>
        meanings.some(({ role }) =>
          ["stop", "act", "particle", "do", "all", "each", "everything", "and", "change"].includes(role),
        ),
      ),
    );
    expect(hidden).toEqual([]);
  });

  test("no word that refuses is also one that says nothing", () => {
    const stops = Object.entries(data.phrases).flatMap(([key, row]) =>
      key.startsWith("stop:") ? phrasesOf(row ?? "") : [],
    );
    const weak = stops.filter((stop) =>
      (lexicon.phrases.get(keyOf(stop)) ?? []).some((meanings) =>
        meanings.some(({ role }) => FREE.has(role)),
      ),
    );
    expect(weak).toEqual([]);
  });
});
