import { afterEach, describe, expect, test } from "vitest";
import { spoken as cs } from "./cs.ts";
import { spoken as de } from "./de.ts";
import { en } from "./en.ts";
import { spoken as es } from "./es.ts";
import { spoken as fr } from "./fr.ts";
import { spoken as it } from "./it.ts";
import { spoken as nl } from "./nl.ts";
import { spoken as pl } from "./pl.ts";
import { spoken as pt } from "./pt.ts";
import { agoText, say, setSpoken, spanText, stateText, type TextKey } from "./say.ts";
import { spoken as zh } from "./zh.ts";

const LANGUAGES = { de, fr, es, it, nl, pl, pt, cs, zh };
const placeholders = (text: string) =>
  [...new Set([...text.matchAll(/\{\w+\}/g)].map(([one]) => one))].sort();

afterEach(() => setSpoken(undefined));

describe.each(Object.entries(LANGUAGES))("%s", (_, { phrases, texts }) => {
  test("it has the keys of English, and no others", () => {
    expect(Object.keys(texts)).toEqual(Object.keys(en));
  });

  test.each(Object.entries(en) as [TextKey, string][])(
    "%s has its placeholders, and its plurals",
    (key, english) => {
      const forms = texts[key].split("|");
      for (const form of forms)
        expect(placeholders(form)).toEqual(placeholders(english.split("|").at(-1) ?? ""));
      expect(forms.length).toBe(english.includes("|") ? phrases.plurals.length : 1);
    },
  );
});

test("a text takes its form by the number, and numbers are written as in the language", () => {
  expect([0, 1, 2].map((count) => say("lightsOn", { count }))).toEqual([
    "0 lights on",
    "1 light on",
    "2 lights on",
  ]);
  setSpoken(pl);
  expect([1, 3, 5].map((count) => say("waitCount", { count }))).toEqual([
    "1 sprawa czeka na ciebie",
    "3 sprawy czekają na ciebie",
    "5 spraw czeka na ciebie",
  ]);
});

test("what a device says is not a text of ours: it stays as it is", () => {
  expect(say("named", { name: "{text}", text: "a|b" })).toBe("{text}: a|b");
});

test("states have the language's words, by the class of a sensor", () => {
  expect(stateText("locked")).toBe("Locked");
  // A chart has the value without the device's words.
  expect(stateText("off", { class: "moisture", value: false })).toBe("Dry");
  expect(stateText("off", { class: undefined, value: false })).toBe("Off");
  setSpoken(de);
  expect(stateText("locked")).toBe("Abgeschlossen");
  expect(stateText("wet", { class: "moisture", value: true })).toBe("Nass");
  expect(stateText("a word of its own")).toBe("A word of its own");
});

test("spans and ages are the language's own", () => {
  expect(spanText(12 * 60_000)).toBe("12 min");
  expect(agoText(0, 3 * 3_600_000)).toMatch(/^3 hr\.? ago$/);
  setSpoken(de);
  expect(agoText(0, 49 * 3_600_000)).toBe("vor 2 Tagen");
});
