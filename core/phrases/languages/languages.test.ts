import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { LANGUAGES } from "../../text/languages.ts";
import { cs } from "./cs.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { nl } from "./nl.ts";
import type { MessageKey, PhraseData } from "./phrase-data.ts";
import { pl } from "./pl.ts";
import { pt } from "./pt.ts";
import { zh } from "./zh.ts";

const FILES: Record<string, PhraseData> = { en, de, fr, es, it, nl, pl, pt, cs, zh };
const OTHERS = Object.values(FILES).filter(({ language }) => language !== "en");
const GROUPS = ["messages", "acts", "states", "values", "readings", "kinds"] as const;
const GZIP_MAX = 10 * 1_024;

/** Texts that are the same in another language, or have no words: of these keys alone. */
const SAME: ReadonlySet<string> = new Set([
  ..."day dayOfYear dayTime seconds minutes hours named sentence now doneState value reading one countedKind inArea".split(
    " ",
  ),
  ..."quoted askAct decline factFolder".split(" "),
  ..."inSpan isEqual listedReminder whyHeld several isOffline isOnline no online areOffline countOf fromTo unitTokens".split(
    " ",
  ),
]);
/** Words that stand in no other language's texts. `is`, `of`, `in` and `over` are Dutch too. */
const ENGLISH_WORDS =
  /(?<![\p{L}{])(?:the|with|from|your?|when|nothing|here|are|this|that|what|which|will|has|have|not|been|since|until|within|every|there|its?|and)(?![\p{L}}])/iu;

function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name.toLowerCase()))].sort();
}

test("each language has its file, and says so itself", () => {
  expect(Object.keys(FILES)).toEqual([...LANGUAGES]);
  for (const [language, data] of Object.entries(FILES)) expect(data.language).toBe(language);
});

describe.each(OTHERS)("$language", (data) => {
  test.each(GROUPS)("has all %s, and no others", (group) => {
    expect(Object.keys(data[group])).toEqual(Object.keys(en[group]));
  });

  test("each form of a message has its placeholders", () => {
    for (const key of Object.keys(en.messages) as MessageKey[]) {
      const forms = data.messages[key].split("|");
      for (const form of forms) {
        const found = placeholders(form);
        // "once more" has no number.
        const shown = forms.length > 1 && !found.includes("count") ? [...found, "count"].sort() : found;
        expect({ key, form, shown }).toEqual({ key, form, shown: placeholders(en.messages[key]) });
      }
    }
  });

  test("no English is left over", () => {
    const same = Object.entries(data.messages).flatMap(([key, text]) =>
      text === en.messages[key as MessageKey] && !SAME.has(key) ? [key] : [],
    );
    const english = [data.messages, data.acts, data.kinds, data.readings, data.values]
      .flatMap((group) => Object.values(group))
      .filter((text) => ENGLISH_WORDS.test(text));
    expect({ same, english }).toEqual({ same: [], english: [] });
  });
});

describe.each(Object.values(FILES))("$language", (data) => {
  test("is plain data of at most 10 KB in gzip", () => {
    const text = JSON.stringify(data);
    expect(JSON.parse(text)).toEqual(data);
    expect(gzipSync(text).length).toBeLessThanOrEqual(GZIP_MAX);
  });

  test("each form of a plural is chosen by some number, and each whole number finds its own", () => {
    const rules = new Intl.PluralRules(data.locale);
    const chosen = new Set(Array.from({ length: 200 }, (_, n) => rules.select(n)));
    expect([...data.plurals].sort()).toEqual([...chosen].sort());
    const forms = [...Object.values(data.kinds), ...Object.values(data.messages)].filter((text) =>
      text.includes("|"),
    );
    for (const text of forms) expect(text.split("|"), text).toHaveLength(data.plurals.length);
    if (data.plurals.length > 1) for (const kind of Object.values(data.kinds)) expect(kind).toContain("|");
  });

  test("has seven days and twelve months, all different", () => {
    expect(new Set(data.weekdays.split(" ")).size).toBe(7);
    expect(new Set(data.months.split(" ")).size).toBe(12);
  });

  test("no text is empty, or has a space at an end or two in a row", () => {
    const texts = GROUPS.flatMap((group) => Object.values(data[group]).flat()).flatMap((text) =>
      text.split("|"),
    );
    for (const text of texts) expect(text).toMatch(/^\S(?:.*\S)?$/u);
    expect(texts.filter((text) => text.includes("  "))).toEqual([]);
  });

  test("the two words of each class differ", () => {
    for (const [on, off] of Object.values(data.states)) expect(on).not.toBe(off);
  });
});
