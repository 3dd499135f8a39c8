import { expect, test } from "vitest";
import { fold } from "../agents/words.ts";
import { randomOf } from "./testkit/random.ts";
import { keyOf, type Word, wordsOf } from "./words.ts";

/** The same rules as one pattern, which would take a cold start some milliseconds. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const RUNS = new RegExp(`${UNSPACED.source}|(?:(?!${UNSPACED.source}).)+`, "gu");
const WORD =
  /(\d{1,2})[:：](\d{2})(?!\d)|((?:(?<![\p{Script=Latin}\p{N}])[-−])?\d+(?:[.,]\d+)?)|°\s?[CFcf](?!\p{L})|\p{L}[\p{L}\p{M}]*|[^\s.!:…¡¿()[\]\-_–—'’`´。！：·/]|[.。!！;；](?=\s*\p{L})/gu;

function byPattern(sentence: string): Word[] {
  return [...sentence.matchAll(WORD)].flatMap((match): Word[] => {
    const [raw, hours, minutes, digits] = match;
    const [from, to] = [match.index, match.index + raw.length];
    if (hours !== undefined) {
      const clock = Number(hours) * 60 + Number(minutes);
      return [{ text: raw, from, to, ...(clock < 1_440 && Number(minutes) < 60 && { clock }) }];
    }
    if (digits !== undefined)
      return [{ text: digits, from, to, number: Number(digits.replace("−", "-").replace(",", ".")) }];
    if (!UNSPACED.test(raw)) return [{ text: fold(raw.replace(/\s/g, "")), from, to }];
    let at = from;
    return (raw.match(RUNS) ?? []).map((run) => {
      at += run.length;
      return { text: fold(run), from: at - run.length, to: at };
    });
  });
}

const SIGNS = [
  ..." abzAZ09.,:;!?-−°CF%'\"“「é\u0308üßłœªµº×÷²½ŕȴʰ厨房，。！？：々〇ひカ한ก๐Яя٣𠮷😀𝟗\u200b\u00a0…¡()[]_–—`´·/ğİſǅ",
  ..."12:30|7:05|-5|° C|a-1| - |\ud800".split("|"),
];

test("property: a sentence is cut as one pattern of Unicode's classes cuts it", () => {
  const chance = randomOf(11);
  for (let round = 0; round < 20_000; round += 1) {
    const sentence = Array.from({ length: 1 + chance.below(8) }, () => chance.pick(SIGNS)).join("");
    expect(wordsOf(sentence), JSON.stringify(sentence)).toEqual(byPattern(sentence));
    const key = byPattern(sentence).map(({ text }) => text);
    expect(keyOf(sentence), JSON.stringify(sentence)).toBe(key.join(" "));
  }
});
