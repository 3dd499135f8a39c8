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
import { said } from "./testkit/said.ts";

const HOMES = {
  en: [en, EN_HOME],
  de: [de, DE_HOME],
  fr: [fr, FR_HOME],
  es: [es, ES_HOME],
  it: [it, IT_HOME],
  nl: [nl, NL_HOME],
  pl: [pl, PL_HOME],
  pt: [pt, PT_HOME],
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
  [
    "fr",
    "allume la liseuse quand la porte s'ouvre",
    "watch <door one> condition state open => turn_on <Liseuse>",
  ],
  [
    "fr",
    "Quand la porte d'entrée s'ouvre, allume la lumière de l'entrée.",
    "watch <Porte d'entrée> condition state open => turn_on <Lumière de l'entrée>",
  ],
  [
    "fr",
    "Si la fenêtre de la cuisine est ouverte pendant 10 minutes, éteins le chauffage du salon",
    "watch <Fenêtre de la cuisine> condition state open for_minutes 10 => turn_off <Chauffage du salon>",
  ],
  [
    "fr",
    "Si la fenêtre de la cuisine est ouverte depuis 10 minutes, éteins le chauffage du salon",
    "watch <Fenêtre de la cuisine> condition state open for_minutes 10 => turn_off <Chauffage du salon>",
  ],
  [
    "fr",
    "Éteins la lumière de la chambre dès que la porte d'entrée se ferme",
    "watch <Porte d'entrée> condition state closed => turn_off <Lumière de la chambre>",
  ],
  [
    "fr",
    "Lorsque la machine à laver a fini, éteins la prise du bureau",
    "watch <washing_machine one> condition state finished => turn_off <Prise du bureau>",
  ],
  [
    "fr",
    "Si la température du salon dépasse 25 degrés, ferme les volets",
    "watch <@Salon> condition reading temperature is above 25° => close <shutter many>",
  ],
  [
    "fr",
    "Quand le congélateur est au-dessus de -12 degrés, allume le plafonnier",
    "watch <freezer one> condition is above -12° => turn_on <Plafonnier>",
  ],
  [
    "fr",
    "Ferme les volets si la fenêtre de la chambre est ouverte",
    "watch <Fenêtre de la chambre> condition state open => close <shutter many>",
  ],
  [
    "fr",
    "Quand la fenêtre de la cuisine s'ouvre, éteins le ventilateur de la salle de bain et ferme les volets",
    "watch <Fenêtre de la cuisine> condition state open => turn_off <Ventilateur de la salle de bain>; close <shutter many>",
  ],
  [
    "fr",
    "S'il y a du mouvement dans l'entrée, allume la lumière de l'entrée",
    "watch <@Entrée> condition state motion => turn_on <Lumière de l'entrée>",
  ],
  [
    "pt",
    "liga o candeeiro de leitura quando a porta abrir",
    "watch <door one> condition state open => turn_on <Candeeiro de leitura>",
  ],
  [
    "pt",
    "Quando a porta da frente abrir, liga a luz do corredor.",
    "watch <Porta da frente> condition state open => turn_on <Luz do corredor>",
  ],
  [
    "pt",
    "Se a janela da cozinha estiver aberta durante 10 minutos, desliga o aquecimento da sala",
    "watch <Janela da cozinha> condition state open for_minutes 10 => turn_off <Aquecimento da sala>",
  ],
  [
    "pt",
    "Se a janela da cozinha estiver aberta há 10 minutos, desliga o aquecimento da sala",
    "watch <Janela da cozinha> condition state open for_minutes 10 => turn_off <Aquecimento da sala>",
  ],
  [
    "pt",
    "Desliga a luz do quarto assim que a porta da frente fechar",
    "watch <Porta da frente> condition state closed => turn_off <Luz do quarto>",
  ],
  [
    "pt",
    "Quando a máquina de lavar terminar, desliga a tomada do escritório",
    "watch <washing_machine one> condition state finished => turn_off <Tomada do escritório>",
  ],
  [
    "pt",
    "Se a temperatura da sala subir acima de 25 graus, fecha os estores",
    "watch <@Sala> condition reading temperature is above 25° => close <shutter many>",
  ],
  [
    "pt",
    "Quando o congelador estiver acima de -12 graus, liga a luz do teto",
    "watch <freezer one> condition is above -12° => turn_on <Luz do teto>",
  ],
  [
    "pt",
    "Fecha os estores se a janela do quarto estiver aberta",
    "watch <Janela do quarto> condition state open => close <shutter many>",
  ],
  [
    "pt",
    "Quando a janela da cozinha abrir, desliga a ventoinha da casa de banho e fecha os estores",
    "watch <Janela da cozinha> condition state open => turn_off <Ventoinha da casa de banho>; close <shutter many>",
  ],
  [
    "pt",
    "Se houver movimento no corredor, liga a luz do corredor",
    "watch <@Corredor> condition state motion => turn_on <Luz do corredor>",
  ],
  ["zh", "门开了就打开阅读灯", "watch <door one> condition state on or open => turn_on or open <阅读灯>"],
  [
    "zh",
    "洗衣机完成了就关掉台灯",
    "watch <washing_machine one> condition state finished => turn_off or close <台灯>",
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
