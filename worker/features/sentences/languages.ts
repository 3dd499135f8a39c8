/** The languages that this isolate has read: loaded when a sentence needs them, and kept. */
import type { Language as PhraseLanguage } from "@edgecall/core/phrases/languages/language.ts";
import type { PhraseData } from "@edgecall/core/phrases/languages/phrase-data.ts";
import { PhraseBook } from "@edgecall/core/phrases/phrase-book.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { LANGUAGES, type Language } from "@edgecall/core/sentences/frame.ts";
import type { LanguageData } from "@edgecall/core/sentences/language.ts";
import { type Lexicon, makeLexicon } from "@edgecall/core/sentences/lexicon.ts";

const SENTENCES: Readonly<Partial<Record<Language, () => Promise<LanguageData>>>> = {
  en: async () => (await import("@edgecall/core/sentences/languages/en.ts")).en,
  de: async () => (await import("@edgecall/core/sentences/languages/de.ts")).de,
  zh: async () => (await import("@edgecall/core/sentences/languages/zh.ts")).zh,
};
/** English is always there. */
const PHRASES: Readonly<Partial<Record<Language, () => Promise<PhraseData>>>> = {
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

const lexicons = new Map<Language, Lexicon>();
const book = new PhraseBook();

/** Languages in which a sentence may be, the likeliest first. @param last of the conversation */
export function languagesFor(text: string, last: string | undefined): Language[] {
  const known = LANGUAGES.filter((one) => SENTENCES[one] !== undefined);
  const isHan = /\p{Script=Han}/u.test(text);
  const fitting = known.filter((one) => (one === "zh") === isHan);
  const first = fitting.find((one) => one === last);
  return [...(first ? [first] : []), ...fitting.filter((one) => one !== first)];
}

/** @returns undefined: the reader does not know the language */
export async function lexiconOf(language: Language): Promise<Lexicon | undefined> {
  const known = lexicons.get(language);
  if (known) return known;
  const data = await SENTENCES[language]?.();
  if (!data) return undefined;
  const lexicon = makeLexicon(data);
  lexicons.set(language, lexicon);
  return lexicon;
}

export async function phrasesOf(language: string | undefined): Promise<Phrases> {
  const known = LANGUAGES.find((one) => one === language) ?? "en";
  return await book.load(known as PhraseLanguage, async (one) => await PHRASES[one]?.());
}
