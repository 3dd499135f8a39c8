/**
 * The words of a language, as plain data: a file `languages/xx.ts` for each, which may become an asset that is loaded when used.
 *
 * How a language is added: copy `languages/en.ts`, translate each row, and put the file into `languages.test.ts`, which says what is missing.
 * A phrase is written as a person types it; case and marks do not count. Rules that keep the reader from acting on what was not meant:
 * - A `filler` says nothing. It is never a word that has another role by itself; where a preposition is both, it is `prep`.
 * - Each word of a negation, condition or exception is `stop:…`. Polite forms ("can you") are `request`, and no question.
 * - A number word below 2 that is also an article stands in `numbers` and in `a`; the reader takes it for a number before a unit only.
 * - What is said in one word for two roles has both in its key: `ask:value reading:temperature` is "how warm".
 * - A verb of change has `becomes` beside its state or comparison: "opens", "exceeds". `show ask:yes_no` is "tell me if": a watch before such a
 *   verb, a question before a state.
 * - A plural has `+` behind its type, a word that is both `~`. One word for two acts or states is `turn_on/open`.
 */
import type { Language } from "../text/languages.ts";
import type { Role } from "./roles.ts";

export type LanguageData = {
  code: Language;
  /**
   * By `role`, `role:value`, or several of them with blanks between. Commas are between phrases; `(a|b)` is one of both, `[a]` may be
   * left out: "turn[ing] on, (put|power) on".
   */
  phrases: Readonly<Partial<Record<PhraseKey, string>>>;
  numbers: NumberWords;
  /** Letters between the parts of a compound, where the language writes "Küchenlicht" as one word. */
  compounds?: string;
  /** Endings that a name may have in a sentence ("des Gartens"). `cases`: any, after a common beginning, as of Polish and Czech. */
  endings?: string;
};

type PhraseKey = Role | `${Role}:${string}` | `${Role} ${string}`;

export type NumberWords = {
  /** From 0 on, with commas; `a|b` are two forms. */
  small: string;
  /** 20 to 90. */
  tens: string;
  /** How 21 is made of its ten T and its unit U: "T U", "UundT". */
  join: string;
  hundred: string;
  /** Forms that are made otherwise: { 71: "soixante et onze" }. */
  more?: Readonly<Record<number, string>>;
};

/**
 * Writes a row out.
 * @returns its phrases, without `(a|b)` and `[a]`
 */
export function phrasesOf(row: string): string[] {
  return row
    .split(",")
    .flatMap((pattern) => expandPattern(pattern))
    .map((phrase) => phrase.replace(/ {2,}/g, " ").trim())
    .filter((phrase) => phrase !== "");
}

const LETTERS = 2;

/** How a phrase of this first word may begin in a compiled text: behind a comma, or as a choice of its pattern. */
export function beginningsOf(phrase: string): string[] {
  const blank = phrase.indexOf(" ");
  const letters = phrase.slice(0, blank < 0 ? LETTERS : Math.min(blank, LETTERS));
  return [`,${letters}`, `(${letters}`, `|${letters}`, `[${letters}`, `]${letters}`];
}

/**
 * @param onlyFirst only the first choice is written out
 * @returns what it may be, with all blanks around what is left out
 * @throws Error at a bracket that is not closed
 */
export function expandPattern(pattern: string, onlyFirst = false): string[] {
  const round = pattern.indexOf("(");
  const square = pattern.indexOf("[");
  if (round < 0 && square < 0) return [pattern];
  const isOptional = round < 0 || (square >= 0 && square < round);
  const open = isOptional ? square : round;
  const close = pattern.indexOf(isOptional ? "]" : ")", open);
  if (close < 0) throw new Error(`phrases: a bracket is not closed in '${pattern}'`);
  const [before, after] = [pattern.slice(0, open), pattern.slice(close + 1)];
  const choices = pattern.slice(open + 1, close).split("|");
  if (isOptional) choices.unshift("");
  if (onlyFirst) return choices.map((choice) => before + choice + after);
  const found: string[] = [];
  const isLast = after.indexOf("(") < 0 && after.indexOf("[") < 0;
  for (const choice of choices)
    if (isLast) found.push(before + choice + after);
    else for (const rest of expandPattern(choice + after)) found.push(before + rest);
  return found;
}

/** @returns each number's forms from 0 to 100 */
export function numberForms({
  small,
  tens,
  join,
  hundred,
  more,
}: NumberWords): Array<[form: string, number: number]> {
  const forms = new Map<number, string[]>();
  for (const [number, form] of small.split(",").entries()) forms.set(number, form.trim().split("|"));
  for (const [at, form] of tens.split(",").entries()) {
    const ten = (at + 2) * 10;
    const words = form.trim().split("|");
    if (!forms.has(ten)) forms.set(ten, words);
    for (let unit = 1; unit < 10; unit += 1) {
      if (forms.has(ten + unit)) continue;
      const units = forms.get(unit) ?? [];
      forms.set(
        ten + unit,
        join
          .split("|")
          .flatMap((way) =>
            words.flatMap((word) => units.map((one) => way.replace("T", word).replace("U", one))),
          ),
      );
    }
  }
  forms.set(100, hundred.split("|"));
  for (const [number, form] of Object.entries(more ?? {})) forms.set(Number(number), form.split("|"));
  return [...forms].flatMap(([number, words]) => words.map((word): [string, number] => [word, number]));
}
