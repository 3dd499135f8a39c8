/** A condition beside an act is refused, with the rule that could be made of both. Words like "unless" and "before" make none. */
import { expect, test } from "vitest";
import type { LanguageData } from "./language.ts";
import { cs } from "./languages/cs.ts";
import { de } from "./languages/de.ts";
import { en } from "./languages/en.ts";
import { es } from "./languages/es.ts";
import { fr } from "./languages/fr.ts";
import { it } from "./languages/it.ts";
import { nl } from "./languages/nl.ts";
import { pl } from "./languages/pl.ts";
import { zh } from "./languages/zh.ts";
import { makeLexicon } from "./lexicon.ts";
import { type NamedThing, NameTable } from "./names.ts";
import { readSentence } from "./read.ts";
import {
  CS_HOME,
  DE_HOME,
  EN_HOME,
  ES_HOME,
  FR_HOME,
  IT_HOME,
  NL_HOME,
  PL_HOME,
  ZH_HOME,
} from "./testkit/demo-home.ts";
import { said } from "./testkit/said.ts";

const HOMES = {
  en: [en, EN_HOME],
  de: [de, DE_HOME],
  fr: [fr, FR_HOME],
  es: [es, ES_HOME],
  it: [it, IT_HOME],
  nl: [nl, NL_HOME],
  pl: [pl, PL_HOME],
  cs: [cs, CS_HOME],
  zh: [zh, ZH_HOME],
} satisfies Record<string, [LanguageData, NamedThing[]]>;

function ruleOf(language: keyof typeof HOMES, sentence: string): string {
  const [data, home] = HOMES[language];
  const read = readSentence(sentence, new NameTable(home), [makeLexicon(data)]);
  if (read.result !== "none" || read.reason.because !== "condition") return said(read);
  const { rule } = read.reason;
  if (!rule) return "none";
  const text = (frame: Parameters<typeof frames>[0]) => said(frames(frame));
  return `${text(rule.when)} => ${rule.acts.map(text).join("; ")}`;
}

function frames(frame: Extract<ReturnType<typeof readSentence>, { result: "one" }>["frames"][number]) {
  return { result: "one", language: "en", frames: [frame] } as const;
}

test.each([
  [
    "en",
    "When the leak sensor is wet, close the water valve.",
    "watch <leak_sensor one> condition state wet => close <Water valve>",
  ],
  [
    "en",
    "When the hall motion is clear for 10 minutes, turn the hall light off.",
    "watch <Hall motion> condition state no_motion for_minutes 10 => turn_off <Hall light>",
  ],
  [
    "en",
    "turn on the hall light when the front door opens",
    "watch <Front door> condition state open => turn_on <Hall light>",
  ],
  [
    "en",
    "If the kitchen window opens, then turn off the fan and close the blinds",
    "watch <Kitchen window> condition state open => turn_off <fan one>; close <blind many>",
  ],
  [
    "en",
    "when the bathroom sensor is above 70% turn on the bathroom fan",
    "watch <Bathroom sensor> condition is above 70% => turn_on <Bathroom fan>",
  ],
  [
    "de",
    "Wenn das Küchenfenster 10 Minuten offen ist, schalte das Küchenlicht aus",
    "watch <Küchenfenster> condition state open for_minutes 10 => turn_off <Küchenlicht>",
  ],
  [
    "de",
    "schalte die Leselampe aus, sobald die Haustür aufgeht",
    "watch <Haustür> condition state open => turn_off <Leselampe>",
  ],
  [
    "es",
    "enciende la lámpara de lectura cuando se abra la puerta",
    "watch <door one> condition state open => turn_on <Lámpara de lectura>",
  ],
  [
    "it",
    "accendi la lampada da lettura quando si apre la porta",
    "watch <door one> condition state open => turn_on <Lampada da lettura>",
  ],
  [
    "nl",
    "doe de leeslamp uit als de deur opengaat",
    "watch <door one> condition state open => turn_off <Leeslamp>",
  ],
  [
    "pl",
    "wyłącz lampę do czytania, gdy drzwi się otworzą",
    "watch <door one> condition state open => turn_off <Lampa do czytania>",
  ],
  [
    "cs",
    "vypni lampu na čtení, když se otevřou dveře",
    "watch <door one> condition state open => turn_off <Lampa na čtení>",
  ],
  ["zh", "如果门开了就打开阅读灯", "watch <door one> condition state on or open => turn_on or open <阅读灯>"],
] as const)("%s %s", (language, sentence, rule) => {
  expect(ruleOf(language, sentence)).toBe(rule);
});

test.each([
  ["en", "turn off the hall light unless the front door opens"],
  ["en", "turn off the hall light before the front door opens"],
  ["en", "turn off the hall light while the front door is open"],
  ["en", "turn on the hall light until the front door is closed"],
  ["en", "when the front door opens and the kitchen window opens turn off the TV"],
  ["en", "when it is foggy turn off the TV"],
  ["de", "schalte die Leselampe aus, bevor die Haustür aufgeht"],
  ["fr", "éteins la liseuse avant que la porte s'ouvre"],
] as const)("%s %s makes no rule", (language, sentence) => {
  expect(ruleOf(language, sentence)).toMatch(/^(none|\?)/);
});

test("a negation beside a condition is refused as one", () => {
  expect(ruleOf("en", "when the front door opens, don't turn on the hall light")).toMatch(
    /^(none|\? negation)$/,
  );
});
