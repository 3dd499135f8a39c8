/** The languages in which the bridge speaks. Each is a part of its program, which is evaluated when something is first said in it. */
import type { PhraseData } from "@edgecall/core/phrases/languages/phrase-data.ts";
import { PhraseBook } from "@edgecall/core/phrases/phrase-book.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Language } from "@edgecall/core/text/languages.ts";

const FILES: Readonly<Record<Exclude<Language, "en">, () => Promise<PhraseData>>> = {
  de: async () => (await import("@edgecall/core/phrases/languages/de.ts")).de,
  fr: async () => (await import("@edgecall/core/phrases/languages/fr.ts")).fr,
  es: async () => (await import("@edgecall/core/phrases/languages/es.ts")).es,
  it: async () => (await import("@edgecall/core/phrases/languages/it.ts")).it,
  nl: async () => (await import("@edgecall/core/phrases/languages/nl.ts")).nl,
  pl: async () => (await import("@edgecall/core/phrases/languages/pl.ts")).pl,
  pt: async () => (await import("@edgecall/core/phrases/languages/pt.ts")).pt,
  cs: async () => (await import("@edgecall/core/phrases/languages/cs.ts")).cs,
  zh: async () => (await import("@edgecall/core/phrases/languages/zh.ts")).zh,
};

const book = new PhraseBook();

export async function phrasesIn(language: Language): Promise<Phrases> {
  return await book.load(language, async (one) => (one === "en" ? undefined : await FILES[one]()));
}
