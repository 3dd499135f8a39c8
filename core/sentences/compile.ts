/**
 * Writes a language as a file that is quickly read: one text of folded phrases, in which a reader looks up the words of a sentence without
 * an index. A line is a row of role-keys.ts. Patterns stay, since a phrase each takes twice the bytes. Pure.
 */
import { fold } from "../agents/words.ts";
import type { Language } from "../text/languages.ts";
import { expandPattern, type LanguageData, type NumberWords, phrasesOf } from "./language.ts";
import { meaningOf, roleKeys } from "./role-keys.ts";
import { keyOf } from "./words.ts";

export type CompiledLanguage = {
  code: Language;
  /** Words of the longest phrase. */
  longest: number;
  /**
   * Lines such as `\n3x,turn on,put[ting] on,`: the places of its roles in role-keys.ts, to the base 36 with blanks between, and its patterns.
   * The first `PLAIN_LETTERS` letters of a pattern, or its first word, are no choice.
   */
  rows: string;
  numbers: NumberWords;
  links?: readonly string[];
  endings: readonly string[];
  hasCases: boolean;
};

export const PLAIN_LETTERS = 2;
const RADIX = 36;

/** @throws Error at a row whose role or value does not exist */
export function compileLanguage({
  code,
  phrases,
  numbers,
  compounds,
  endings = "",
}: LanguageData): CompiledLanguage {
  const places = new Map(roleKeys().map((key, at) => [key, at]));
  const lines: string[] = [];
  let longest = 1;
  for (const [key, row = ""] of Object.entries(phrases)) {
    const roles = key.split(" ").map((one) => placeOf(one, places));
    const patterns = compileRow(row);
    for (const phrase of patterns.flatMap((pattern) => expandPattern(pattern)))
      longest = Math.max(longest, phrase.split(" ").length);
    const head = roles.map((place) => place.toString(RADIX)).join(" ");
    if (patterns.length > 0) lines.push(`\n${head},${patterns.join(",")},`);
  }
  return {
    code,
    longest,
    rows: lines.join(""),
    numbers: compileNumbers(numbers),
    ...(compounds !== undefined && { links: ["", ...compounds.split(",").map((one) => one.trim())] }),
    endings: endings === "cases" || endings === "" ? [] : endings.split(",").map((one) => one.trim()),
    hasCases: endings === "cases",
  };
}

/** @returns the keys of a line's head */
export function keysOfHead(head: string): string[] {
  return head.split(" ").map((place) => roleKeys()[Number.parseInt(place, RADIX)] ?? "");
}

/** A role with two words for one stands in no list, and is that of both its words. */
function placeOf(key: string, places: ReadonlyMap<string, number>): number {
  meaningOf(key);
  const place = places.get(key);
  if (place === undefined) throw new Error(`phrases: '${key}' is not in role-keys.ts`);
  return place;
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
    if (isSame && fresh.length > 1) for (const begun of expandPattern(pattern, PLAIN_LETTERS)) written.add(begun);
    else for (const key of fresh) written.add(key);
    for (const key of keys) known.add(key);
  }
  return [...written];
}

function compileNumbers({ small, tens, join, hundred, more }: NumberWords): NumberWords {
  const folded = (words: string) => fold(words).replace(/\s*,\s*/g, ",");
  return {
    small: folded(small),
    tens: folded(tens),
    // Letters stand for its parts.
    join,
    hundred: folded(hundred),
    ...(more && { more: Object.fromEntries(Object.entries(more).map(([number, forms]) => [number, folded(forms)])) }),
  };
}
