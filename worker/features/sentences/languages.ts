/**
 * The languages that this isolate reads. Each is a file beside the console, which is read when a sentence may be in it, and kept: in the
 * Worker English alone took a tenth of its start.
 */

import { fold } from "@edgecall/core/agents/words.ts";
import type { CompiledLanguage } from "@edgecall/core/sentences/compile.ts";
import { type Lexicon, lexiconFrom } from "@edgecall/core/sentences/lexicon.ts";
import { LANGUAGES, type Language } from "@edgecall/core/text/languages.ts";
import type { Env } from "../../kernel/env.ts";
import { readFile } from "../../kernel/files.ts";

const lexicons = new Map<Language, Lexicon>();

/** Words of plain sentences that tell the language, so that the files of others need not be read. None stands for all others. */
const TELLING: Readonly<Record<Language, string>> = {
  en: "the is are on off turn what how which when tell me set my a an of in at for to it i has have did who why",
  de: "der die das den dem ist sind an aus ein im wie welche wenn mir mach schalte bitte",
  fr: "le la les l est sont allume eteins quel quelle quelles quand moi dans du de mets",
  es: "el la los las esta estan enciende apaga que cual cuando en del pon",
  it: "il la lo i le gli accendi spegni e che qual quando in nel nella di metti",
  nl: "de het is zijn aan uit zet doe hoe wat welke als in van mij",
  pl: "jest sa wlacz wylacz jaka jaki ktore kiedy w na czy mi ustaw",
  pt: "o a os as esta estao liga desliga ligar que qual quando em no na do da",
  cs: "je jsou zapni vypni jaka jaky ktera kdy v na az mi nastav",
  zh: "",
};
/** No class of Unicode, which takes a cold start half a millisecond. */
const HAN = /[\u2e80-\u2fdf\u3005-\u3007\u3400-\u9fff\uf900-\ufaff]/;

/**
 * Languages in which a sentence may be, in the order in which they are tried: those at a time that stand in one list.
 * @param last of the conversation
 */
export function languagesFor(text: string, last: string | undefined): Language[][] {
  if (HAN.test(text)) return [["zh"], ["zh", "en"]];
  const words = new Set(fold(text).match(/[a-z]+/g));
  const hits = (language: Language) => TELLING[language].split(" ").filter((word) => words.has(word)).length;
  const spaced = LANGUAGES.filter((one) => one !== "zh");
  const told = spaced.filter((one) => hits(one) > 0).sort((a, b) => hits(b) - hits(a));
  const known = spaced.find((one) => one === last);
  const first = known ?? told[0] ?? "en";
  // The words of one tell it only likely, and an English sentence may have none of its own.
  const others = [...new Set([...(told.length > 0 ? told : spaced), "en" as const])].filter(
    (one) => one !== first,
  );
  return others.length > 0 ? [[first], [first, ...others]] : [[first]];
}

/** @returns undefined: its file is not there, or cannot be read now */
export async function lexiconOf(env: Env, language: Language): Promise<Lexicon | undefined> {
  const known = lexicons.get(language);
  if (known) return known;
  const data = await readFile(env, `sentences-${language}.json`);
  if (data === undefined || data === null) return undefined;
  // SAFETY: the build wrote it from the language's source (local/language-files.ts).
  const lexicon = lexiconFrom(data as CompiledLanguage);
  lexicons.set(language, lexicon);
  return lexicon;
}
