/** What the reader makes of our own sentences. `npm run sentences -- own --show 50` prints those that are not right. */
import { LANGUAGES, type Language } from "@edgecall/core/text/languages.ts";
import { describe, expect, it } from "vitest";
import { judge } from "./judge.ts";
import { understand } from "./reader.ts";
import { ownItems } from "./suites/own.ts";

/** Of fifty sentences, so many were right when it was measured. */
const RIGHT: Readonly<Record<Language, number>> = {
  cs: 48,
  de: 44,
  en: 49,
  es: 46,
  fr: 50,
  it: 46,
  nl: 47,
  pl: 50,
  pt: 48,
  zh: 46,
};

describe.each(LANGUAGES)("of our own sentences in %s", (language) => {
  const judged = ownItems()
    .filter((item) => item.language === language)
    .map((item) => {
      const { got } = understand(item);
      return { text: item.text, got, verdict: judge(item.means, got, item.home) };
    });

  it("none is read as another one than it means", () => {
    expect(judged.filter(({ verdict }) => verdict === "wrong")).toEqual([]);
  });

  it("as many are understood as before", () => {
    const right = judged.filter(({ verdict }) => verdict === "right").length;
    expect(right).toBeGreaterThanOrEqual(RIGHT[language]);
  });
});
