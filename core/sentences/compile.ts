/**
 * Writes a language as a file that is quickly read: folded, its rows in the order of role-keys.ts, so that no role is named in it. Patterns
 * stay, since a phrase each takes twice the bytes. Pure.
 */
import { fold } from "../agents/words.ts";
import type { Language } from "../text/languages.ts";
import { expandPattern, type LanguageData, type NumberWords, numberForms, phrasesOf } from "./language.ts";
import { meaningOf, roleKeys } from "./role-keys.ts";
import { keyOf } from "./words.ts";

export type CompiledLanguage = {
  code: Language;
  /** Words of the longest phrase. */
  longest: number;
  /** Phrases with commas between, beside those of role-keys.ts. */
  rows: readonly string[];
  /** Rows of several roles, or of two words for one: by their key. */
  several: Readonly<Record<string, string>>;
  /** The forms of each number from 0 on, with `|` between. */
  numbers: readonly string[];
  links?: readonly string[];
  endings: readonly string[];
  hasCases: boolean;
};

/** @throws Error at a row whose role or value does not exist */
export function compileLanguage({
  code,
  phrases,
  numbers,
  compounds,
  endings = "",
}: LanguageData): CompiledLanguage {
  const keys = roleKeys();
  const rows: string[] = keys.map(() => "");
  const several: Record<string, string> = {};
  let longest = 1;
  for (const [key, row = ""] of Object.entries(phrases)) {
    for (const one of key.split(" ")) meaningOf(one);
    const written = compileRow(row);
    for (const phrase of written.split(",").flatMap((pattern) => expandPattern(pattern)))
      longest = Math.max(longest, phrase.split(" ").length);
    const at = keys.indexOf(key);
    if (at < 0) several[key] = written;
    else rows[at] = written;
  }
  return {
    code,
    longest,
    rows,
    several,
    numbers: compileNumbers(numbers),
    ...(compounds !== undefined && { links: ["", ...compounds.split(",").map((one) => one.trim())] }),
    endings: endings === "cases" || endings === "" ? [] : endings.split(",").map((one) => one.trim()),
    hasCases: endings === "cases",
  };
}

/** Its phrases as keys. A pattern stays one where its plain writing out gives the same keys. */
function compileRow(row: string): string {
  const written = new Set<string>();
  const known = new Set<string>();
  for (const source of fold(row).split(",")) {
    const keys = phrasesOf(source).map(keyOf);
    const pattern = source
      .trim()
      // The blank beside a word that may be left out goes with it.
      .replace(/(?<=^| )\[([^\]]*)\] /g, (_, words: string) => `[${words.replaceAll("|", " |")} ]`)
      .replace(/ \[([^\]]*)\]$/, (_, words: string) => `[ ${words.replaceAll("|", "| ")}]`);
    const isSame = expandPattern(pattern).join() === keys.join();
    const fresh = keys.filter((key) => key !== "" && !known.has(key));
    if (isSame && fresh.length > 1) written.add(pattern);
    else for (const key of fresh) written.add(key);
    for (const key of keys) known.add(key);
  }
  return [...written].join(",");
}

function compileNumbers(words: NumberWords): string[] {
  const forms: string[][] = [];
  for (const [form, number] of numberForms(words)) {
    forms[number] ??= [];
    forms[number].push(keyOf(form));
  }
  return Array.from(forms, (some = []) => [...new Set(some)].join("|"));
}
