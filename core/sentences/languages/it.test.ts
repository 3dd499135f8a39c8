import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { IT_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { it } from "./it.ts";

const names = new NameTable(IT_HOME);
const lexicons = [makeLexicon(it)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["Cosa è aperto?", "ask which open <everything>"],
  ["C'è qualcosa di acceso?", "ask any on <everything>"],
  ["Quali batterie sono scariche?", "ask which low_battery <everything>"],
  ["Accendi la lampada da lettura", "turn_on <Lampada da lettura>"],
  ["Spenga tutte le luci della cucina, per favore", "turn_off <light all @Cucina>"],
  ["Potresti spegnere la luce del bagno?", "turn_off <Luce del bagno>"],
  ["vorrei che tu accendessi la lampada da scrivania", "turn_on <Lampada da scrivania>"],
  ["chiudi le tapparelle", "close <shutter many>"],
  ["spegnila", "turn_off <it>"],
  ["accendile", "turn_on <them>"],
  ["mettila al 30 %", "set value 30% <it>"],
  ["spegni tutto in cucina", "turn_off <everything @Cucina>"],
  ["spegni la cucina", "? no_target"],
  ["accendi la luce e spegni il televisore", "turn_on <light one>; turn_off <television one>"],
  ["chiudi a chiave la porta d'ingresso", "lock <Porta d'ingresso>"],
  ["Assicurati che la porta d'ingresso sia chiusa a chiave", "lock <Porta d'ingresso>"],
  ["metti il riscaldamento a 21 gradi", "set temperature value 21° <heating one>"],
  [
    "Imposta il riscaldamento del soggiorno a ventuno gradi e mezzo",
    "set temperature value 21.5° <Riscaldamento del soggiorno>",
  ],
  ["attenua la lampada da lettura", "lower brightness <Lampada da lettura>"],
  ["Lampada da lettura al 40 per cento", "set value 40% <Lampada da lettura>"],
  ["metti la lampada da lettura in rosso", "set color value color red <Lampada da lettura>"],
  ["apri le tapparelle a metà", "set position value 50% <shutter many>"],
  ["alza il volume del 10 per cento", "raise volume by 10% <unsaid>"],
  ["abbassa le tapparelle", "close <shutter many>"],
  ["manda l'aspirapolvere alla base", "dock <vacuum one>"],
  ["Che temperatura c'è in camera?", "ask value temperature <@Camera>"],
  ["Qual è la temperatura del congelatore?", "ask value temperature <freezer one>"],
  ["La porta d'ingresso è chiusa a chiave?", "ask yes_no locked <Porta d'ingresso>"],
  ["Quali finestre sono aperte?", "ask which open <window many>"],
  ["Quante luci sono accese?", "ask count on <light many>"],
  ["C'è una finestra aperta?", "ask any open <window any>"],
  ["Le finestre sono tutte chiuse?", "ask all closed <window all>"],
  ["Quanto spazio libero c'è sul disco di vm?", "ask value disk <vm>"],
  ["Avvisami quando la lavatrice ha finito", "watch <washing_machine one> condition state finished"],
  ["Ricordami tra 10 minuti di togliere la pizza", "remind when in_minutes 10 togliere la pizza"],
  ["Ricordami domani alle 8:30 di chiamare Paolo", "remind when at 08:30 day tomorrow chiamare Paolo"],
  ["imposta un timer di 5 minuti", "remind when in_minutes 5 ''"],
  ["non accendere la lampada da lettura", "? negation"],
  ["spegni tutto tranne la lampada da lettura", "? exception"],
  ["spegni la lampada da lettura tra 10 minuti", "? delay"],
  ["spegni la lampada da lettura alle 8", "? delay"],
  ["accendi la lampada da lettura quando si apre la porta", "? condition"],
  ["Perché la lampada da lettura è accesa?", "? question"],
  ["Quali dispositivi sono online?", "devices online which"],
  ["Che promemoria ho?", "rules list reminder all true"],
  ["Quali regole ho?", "rules list all true"],
  ["cancella tutti i promemoria", "rules cancel reminder all true"],
  ["Cosa puoi fare?", "help"],
  ["Che ore sono?", "clock time"],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
