/** In which languages a sentence is looked for. */
import { expect, test } from "vitest";
import { languagesFor } from "./languages.ts";

test("words that two languages have do not hide English", () => {
  expect(languagesFor("write a note", undefined)[0]).toEqual(["en"]);
  expect(languagesFor("accendi luce", undefined)).toEqual([["it"], ["it", "en"]]);
});

test("the conversation's language comes first", () => {
  expect(languagesFor("the lamp", "de")[0]).toEqual(["de"]);
});

test("Chinese has the last word about its own signs", () => {
  expect(languagesFor("打开灯", "de")).toEqual([["zh"], ["zh", "en"]]);
});
