/** The words of rules that act in ten languages: each has all of them, whole, without a word of English. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { cs as csData } from "../../phrases/languages/cs.ts";
import * as phrases from "../../phrases/languages/de.ts";
import { es as esData } from "../../phrases/languages/es.ts";
import { fr as frData } from "../../phrases/languages/fr.ts";
import { it as itData } from "../../phrases/languages/it.ts";
import { nl as nlData } from "../../phrases/languages/nl.ts";
import { pl as plData } from "../../phrases/languages/pl.ts";
import { pt as ptData } from "../../phrases/languages/pt.ts";
import { zh as zhData } from "../../phrases/languages/zh.ts";
import { CARD_WORDS } from "./card-words.ts";
import * as cs from "./cs.ts";
import * as de from "./de.ts";
import * as es from "./es.ts";
import * as fr from "./fr.ts";
import { HOME_WORDS } from "./home-words.ts";
import * as it from "./it.ts";
import { NEWS_WORDS, WHY_WORDS } from "./news-words.ts";
import * as nl from "./nl.ts";
import * as pl from "./pl.ts";
import * as pt from "./pt.ts";
import * as zh from "./zh.ts";

const OTHERS = [
  { data: phrases.de, words: de },
  { data: frData, words: fr },
  { data: esData, words: es },
  { data: itData, words: it },
  { data: nlData, words: nl },
  { data: plData, words: pl },
  { data: ptData, words: pt },
  { data: csData, words: cs },
  { data: zhData, words: zh },
];
/** In a language's file beside the console, and in the bridge. */
const GZIP_MAX = 1_400;

const NEWS = { ...NEWS_WORDS, ...WHY_WORDS };
/** In the bridge they are one table. */
test("words of cards and of answers have no name in common", () => {
  expect(Object.keys(HOME_WORDS).filter((key) => Object.hasOwn(CARD_WORDS, key))).toEqual([]);
});

const SAME: ReadonlySet<string> = new Set(["item", "ran", "failed", "inOrder"]);
const ENGLISH =
  /(?<![\p{L}{])(?:the|with|from|your?|when|nothing|here|are|this|that|what|which|will|has|have|not|been|since|until|within|every|there|its?|and)(?![\p{L}}])/iu;

function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name))].sort();
}

describe.each(OTHERS)("$data.language", ({ data, words }) => {
  test.each([
    ["news", words.news as Readonly<Record<string, string>>, NEWS as Readonly<Record<string, string>>],
    ["card", words.card as Readonly<Record<string, string>>, CARD_WORDS as Readonly<Record<string, string>>],
    ["home", words.home as Readonly<Record<string, string>>, HOME_WORDS as Readonly<Record<string, string>>],
  ])("%s: all words, with their placeholders, forms and no English", (_, own, english) => {
    expect(Object.keys(own)).toEqual(Object.keys(english));
    for (const [key, text] of Object.entries(own)) {
      const forms = text.split("|");
      if (forms.length > 1) expect({ key, forms: forms.length }).toEqual({ key, forms: data.plurals.length });
      for (const form of forms) {
        expect({ key, shown: placeholders(form) }).toEqual({ key, shown: placeholders(english[key] ?? "") });
        expect(form).toMatch(/^\S(?:.*\S)?$/u);
        expect(form).not.toContain("  ");
        expect({ key, english: ENGLISH.test(form) }).toEqual({ key, english: false });
      }
      if (!SAME.has(key)) expect({ key, text }).not.toEqual({ key, text: english[key] });
    }
    expect(gzipSync(JSON.stringify(own)).length).toBeLessThanOrEqual(english === NEWS ? GZIP_MAX : 2_600);
  });
});
