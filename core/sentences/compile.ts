/**
 * Writes a language as a file that is quickly read: one text of folded phrases, in which a reader looks up the words of a sentence without
 * an index. A line is a row of role-keys.ts. Patterns stay, since a phrase each takes twice the bytes. Pure.
 */
import { fold } from "../agents/words.ts";
import type { Language } from "../text/languages.ts";
import { EXAMPLES, type Examples } from "./examples.ts";
import { beginningsOf, expandPattern, type LanguageData, type NumberWords, phrasesOf } from "./language.ts";
import { meaningOf, roleKeys, shortKey } from "./role-keys.ts";
import { keyOf } from "./words.ts";

export type CompiledLanguage = {
  code: Language;
  /** Words of the longest phrase. */
  longest: number;
  /** A line for each key of role-keys.ts, then one for each of `several`: `,turn on,put[ting] on,`, or nothing. */
  rows: string;
  /** Rows of several roles, or of two words for one: their keys, with commas between. */
  several: string;
  numbers: NumberWords;
  links?: readonly string[];
  endings: readonly string[];
  hasCases: boolean;
  examples: Examples;
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
  const lines: string[] = keys.map(() => "");
  const several: string[] = [];
  let longest = 1;
  for (const [key, row = ""] of Object.entries(phrases)) {
    for (const one of key.split(" ")) meaningOf(one);
    const patterns = compileRow(row);
    for (const phrase of patterns.flatMap((pattern) => expandPattern(pattern)))
      longest = Math.max(longest, phrase.split(" ").length);
    const line = patterns.length > 0 ? `,${patterns.join(",")},` : "";
    const at = keys.indexOf(key);
    if (at >= 0) lines[at] = line;
    else {
      several.push(shortKey(key));
      lines.push(line);
    }
  }
  return {
    code,
    longest,
    rows: lines.join("\n"),
    several: several.join(","),
    numbers: compileNumbers(numbers),
    ...(compounds !== undefined && { links: ["", ...compounds.split(",").map((one) => one.trim())] }),
    endings: endings === "cases" || endings === "" ? [] : endings.split(",").map((one) => one.trim()),
    hasCases: endings === "cases",
    examples: EXAMPLES[code],
  };
}

/** Its phrases as keys. A pattern stays one where its plain writing out gives the same keys. */
function compileRow(row: string): string[] {
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
    if (isSame && fresh.length > 1) for (const found of findable(pattern)) written.add(found);
    else for (const key of fresh) written.add(key);
    for (const key of keys) known.add(key);
  }
  return [...written];
}

/** A pattern, or what it is with its first choice written out, so that each of its phrases is found by its first word. */
function findable(pattern: string): string[] {
  const isFound = expandPattern(pattern).every((phrase) =>
    beginningsOf(phrase).some((beginning) => `,${pattern}`.includes(beginning)),
  );
  return isFound ? [pattern] : expandPattern(pattern, true).flatMap(findable);
}

function compileNumbers({ small, tens, join, hundred, more }: NumberWords): NumberWords {
  const folded = (words: string) => fold(words).replace(/\s*,\s*/g, ",");
  return {
    small: folded(small),
    tens: folded(tens),
    // Letters stand for its parts.
    join,
    hundred: folded(hundred),
    ...(more && {
      more: Object.fromEntries(Object.entries(more).map(([number, forms]) => [number, folded(forms)])),
    }),
  };
}
