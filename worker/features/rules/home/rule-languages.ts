/** The languages of a home's rules: a rule speaks in that of the conversation where it was made. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { hasRead, phrasesOf, readLanguage } from "../../../kernel/phrases.ts";
import { type RuleRow, rulesOf } from "./rule-store.ts";

/** Reads that have begun: those who wait for the same one go on in the order in which they came. */
const readsOf = slot((): Map<Language, Promise<unknown>> => new Map());

export function phrasesFor({ rule }: RuleRow): Phrases {
  return phrasesOf(rule.language);
}

/** Reads what `phrasesFor` needs: called before anything is said. @param also another one that is needed now */
export async function readLanguages(home: HomeContext, also?: Language): Promise<void> {
  const languages = rulesOf(home)
    .all()
    .flatMap(({ rule }) => rule.language ?? []);
  const missing = [...new Set([...languages, ...(also ? [also] : [])])].filter((one) => !hasRead(one));
  if (missing.length > 0) await Promise.all(missing.map((one) => readOnce(home, one)));
}

async function readOnce(home: HomeContext, language: Language): Promise<void> {
  const reads = readsOf(home);
  const known = reads.get(language) ?? readLanguage(home.env, language);
  reads.set(language, known);
  await known;
  reads.delete(language);
}
