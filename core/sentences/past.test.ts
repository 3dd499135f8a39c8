/**
 * A hundred questions about the past in words, written before the reader knew any. Those that it does not know are passed on to a model;
 * none may be taken for something else.
 */
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
import { pt } from "./languages/pt.ts";
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
  PT_HOME,
  ZH_HOME,
} from "./testkit/demo-home.ts";
import { DE, EN, MODEL, ZH } from "./testkit/past-questions.ts";
import { said } from "./testkit/said.ts";

/** The other languages know the same questions. */
const OTHERS: ReadonlyArray<
  readonly [LanguageData, readonly NamedThing[], ...Array<readonly [string, string]>]
> = [
  [
    fr,
    FR_HOME,
    ["Quand la porte d'entrée a été ouverte pour la dernière fois ?", "past last open <Porte d'entrée>"],
    [
      "Combien de temps la pompe du jardin a tourné hier ?",
      "past duration running <Pompe du jardin> yesterday",
    ],
    [
      "Combien de fois la porte d'entrée a été ouverte aujourd'hui ?",
      "past count open <Porte d'entrée> today",
    ],
    ["Depuis quand la porte d'entrée est ouverte ?", "past since open <Porte d'entrée>"],
    ["Quand la porte d'entrée s'ouvre ?", MODEL],
  ],
  [
    es,
    ES_HOME,
    ["¿Cuándo se abrió la puerta principal por última vez?", "past last open <Puerta principal>"],
    [
      "¿Cuánto tiempo funcionó ayer la bomba del jardín?",
      "past duration running <Bomba del jardín> yesterday",
    ],
    ["¿Cuántas veces se abrió hoy la puerta principal?", "past count open <Puerta principal> today"],
    ["¿Desde cuándo está abierta la puerta principal?", "past since open <Puerta principal>"],
    ["¿Cuándo termina la lavadora?", MODEL],
  ],
  [
    it,
    IT_HOME,
    ["Quando è stata aperta l'ultima volta la porta d'ingresso?", "past last open <Porta d'ingresso>"],
    [
      "Per quanto tempo ha funzionato ieri la pompa del giardino?",
      "past duration running <Pompa del giardino> yesterday",
    ],
    ["Quante volte è stata aperta oggi la porta d'ingresso?", "past count open <Porta d'ingresso> today"],
    ["Da quanto tempo è aperta la porta d'ingresso?", "past since open <Porta d'ingresso>"],
    ["Quando finisce la lavatrice?", MODEL],
  ],
  [
    nl,
    NL_HOME,
    ["Wanneer was de voordeur voor het laatst open?", "past last open <Voordeur>"],
    ["Hoe lang draaide de tuinpomp gisteren?", "past duration running <Tuinpomp> yesterday"],
    ["Hoe vaak werd de voordeur vandaag geopend?", "past count open <Voordeur> today"],
    ["Hoe lang staat de voordeur al open?", "past since open <Voordeur>"],
    ["Wanneer is de wasmachine klaar?", MODEL],
  ],
  [
    pl,
    PL_HOME,
    ["Kiedy drzwi wejściowe były ostatnio otwarte?", "past last open <Drzwi wejściowe>"],
    ["Jak długo działała wczoraj pompa?", "past duration running <Pompa> yesterday"],
    ["Ile razy drzwi wejściowe były dzisiaj otwarte?", "past count open <Drzwi wejściowe> today"],
    ["Od kiedy drzwi wejściowe są otwarte?", "past since open <Drzwi wejściowe>"],
    ["Kiedy dzisiaj pralka będzie gotowa?", MODEL],
  ],
  [
    pt,
    PT_HOME,
    ["Quando é que a porta da frente esteve aberta pela última vez?", "past last open <Porta da frente>"],
    ["Quanto tempo funcionou ontem a bomba do jardim?", "past duration running <Bomba do jardim> yesterday"],
    ["Quantas vezes se abriu hoje a porta da frente?", "past count open <Porta da frente> today"],
    ["Desde quando a porta da frente está aberta?", "past since open <Porta da frente>"],
    ["Quando acaba a máquina de lavar?", MODEL],
  ],
  [
    cs,
    CS_HOME,
    ["Kdy byly vchodové dveře naposledy otevřené?", "past last open <Vchodové dveře>"],
    ["Jak dlouho včera běželo čerpadlo?", "past duration running <Čerpadlo> yesterday"],
    ["Kolikrát byly dnes vchodové dveře otevřené?", "past count open <Vchodové dveře> today"],
    ["Od kdy jsou vchodové dveře otevřené?", "past since open <Vchodové dveře>"],
    ["Kdy bude dnes pračka hotová?", MODEL],
  ],
];

/** A name that is a word of its type is read as the type. These homes have one of each, which the rows name. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  television: ["TV", "Fernseher", "电视"],
  washing_machine: ["Washing machine", "Waschmaschine", "洗衣机"],
  freezer: ["Freezer"],
  fridge: ["Kühlschrank", "冰箱"],
  pump: ["Pompa", "Čerpadlo"],
};

function named(text: string, things: readonly NamedThing[]): string {
  return text.replace(/<(\w+) one>/, (whole, type: string) => {
    const [only, other] = things.filter(({ name }) => NAMED[type]?.includes(name));
    return only && !other ? `<${only.name}>` : whole;
  });
}

const ALL = [
  { rows: EN, things: EN_HOME, lexicon: makeLexicon(en) },
  { rows: DE, things: DE_HOME, lexicon: makeLexicon(de) },
  { rows: ZH, things: ZH_HOME, lexicon: makeLexicon(zh) },
];

const read = ALL.flatMap(({ rows, things, lexicon }) => {
  const names = new NameTable(things);
  return rows.map(([sentence, wanted]) => ({
    sentence,
    wanted,
    got: named(said(readSentence(sentence, names, [lexicon])), things),
  }));
});

test.each(
  OTHERS.flatMap(([data, things, ...rows]) =>
    rows.map(([sentence, wanted]) => ({ sentence, wanted, data, things })),
  ),
)("$sentence", ({ sentence, wanted, data, things }) => {
  const got = named(said(readSentence(sentence, new NameTable(things), [makeLexicon(data)])), things);
  if (wanted === MODEL) expect(got).toMatch(/^\? /);
  else expect(got).toBe(wanted);
});

test("there are a hundred", () => {
  expect(read).toHaveLength(100);
});

test("none is taken for something else", () => {
  const isWrong = ({ wanted, got }: (typeof read)[number]) =>
    !got.startsWith("? ") && !got.startsWith("which: ") && got !== wanted;
  expect(read.filter(isWrong)).toEqual([]);
});

test("at least eighty are understood", () => {
  const missed = read.filter(({ wanted, got }) => wanted !== MODEL && got !== wanted);
  const understood = read.filter(({ wanted, got }) => got === wanted);
  expect(understood.length, JSON.stringify(missed, null, 1)).toBeGreaterThanOrEqual(80);
});
