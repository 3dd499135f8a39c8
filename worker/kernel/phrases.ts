/**
 * The languages in which the gateway speaks. English is in the Worker. Each other one is a file beside the console, which is read
 * when something is said in it, and kept as long as this isolate lives.
 */

import type { PhraseData } from "@edgecall/core/phrases/languages/phrase-data.ts";
import { PhraseBook } from "@edgecall/core/phrases/phrase-book.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { Env } from "./env.ts";
import { readFile } from "./files.ts";

const book = new PhraseBook();

/** English where the language was not read yet. @param language absent: English */
export function phrasesOf(language?: Language): Phrases {
  return book.of(language);
}

export function hasRead(language: Language): boolean {
  return book.of(language).language === language;
}

/** Reads the language, so that `phrasesOf` has it. What cannot be read now is said in English. */
export async function readLanguage(env: Env, language: Language): Promise<Phrases> {
  return await book.load(language, async () => {
    const data = await readFile(env, `phrases-${language}.json`);
    // SAFETY: the build wrote it from the language's source (local/language-files.ts).
    return (data ?? undefined) as PhraseData | undefined;
  });
}
