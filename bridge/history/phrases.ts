/** The languages in which the bridge speaks. Each is a part of its program, which is evaluated when something is first said in it. */
import type { CardWords, HomeWords, NewsWords } from "@edgecall/core/automations/words/words.ts";
import type { PhraseData } from "@edgecall/core/phrases/languages/phrase-data.ts";
import { PhraseBook } from "@edgecall/core/phrases/phrase-book.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Language } from "@edgecall/core/text/languages.ts";

type Other = Exclude<Language, "en">;

const FILES: Readonly<Record<Other, () => Promise<PhraseData>>> = {
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

/** Of rules that act. */
const WORDS: Readonly<Record<Other, () => Promise<{ card: CardWords; home: HomeWords; news: NewsWords }>>> = {
  de: async () => await import("@edgecall/core/automations/words/de.ts"),
  fr: async () => await import("@edgecall/core/automations/words/fr.ts"),
  es: async () => await import("@edgecall/core/automations/words/es.ts"),
  it: async () => await import("@edgecall/core/automations/words/it.ts"),
  nl: async () => await import("@edgecall/core/automations/words/nl.ts"),
  pl: async () => await import("@edgecall/core/automations/words/pl.ts"),
  pt: async () => await import("@edgecall/core/automations/words/pt.ts"),
  cs: async () => await import("@edgecall/core/automations/words/cs.ts"),
  zh: async () => await import("@edgecall/core/automations/words/zh.ts"),
};

const book = new PhraseBook();

/** A language that was read before; else English. Where a run begins, nothing may wait for a file. */
export function phrasesReadIn(language: Language | undefined): Phrases {
  return book.of(language);
}

/** Reads a language once. */
export async function phrasesIn(language: Language): Promise<Phrases> {
  return await book.load(language, async (one) => {
    if (one === "en") return undefined;
    const [data, { card, home, news }] = await Promise.all([FILES[one](), WORDS[one]()]);
    return { ...data, more: { ...card, ...home, nothingSent: news.nothingSent } };
  });
}
