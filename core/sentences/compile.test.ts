import { expect, test } from "vitest";
import { fold } from "../agents/words.ts";
import { compileLanguage } from "./compile.ts";
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
import { lexiconFrom } from "./lexicon.ts";
import { meaningOf } from "./role-keys.ts";
import { keyOf } from "./words.ts";

const LANGUAGES: readonly LanguageData[] = [en, de, fr, es, it, nl, pl, pt, cs, zh];

/** Each phrase of the source, with its meanings as texts. */
function writtenOut({ phrases, numbers }: LanguageData): Map<string, string[]> {
  const found = new Map<string, Set<string>>();
  const add = (key: string, meaning: unknown) => {
    if (key !== "") found.set(key, (found.get(key) ?? new Set()).add(JSON.stringify(meaning)));
  };
  for (const [roles, row = ""] of Object.entries(phrases))
    for (const phrase of phrasesOf(fold(row))) add(keyOf(phrase), roles.split(" ").map(meaningOf));
  for (const [form, number] of numberForms(numbers))
    add(keyOf(form), [{ role: "number", value: { number, small: number < 2 } }]);
  return new Map([...found].map(([key, meanings]) => [key, [...meanings].sort()]));
}

test.each(LANGUAGES.map((data) => [data.code, data] as const))(
  "a file of %s has the phrases of its source, in any order in which they are asked for",
  (_, data) => {
    const source = writtenOut(data);
    const file = JSON.stringify(compileLanguage(data));
    const lexicon = lexiconFrom(JSON.parse(file));
    const meanings = (key: string) =>
      (lexicon.phrases.get(key) ?? []).map((one) => JSON.stringify(one).replace(',"isVerb":true', "")).sort();
    const differing = [...source].filter(([key, known]) => meanings(key).join() !== known.join());
    expect(differing).toEqual([]);
    expect([...lexicon.phrases.keys()].sort()).toEqual([...source.keys()].sort());
    expect(lexicon.longest).toBe(Math.max(...[...source.keys()].map((key) => key.split(" ").length)));
    expect([...lexiconFrom(JSON.parse(file)).phrases.keys()].sort()).toEqual([...source.keys()].sort());
  },
);
