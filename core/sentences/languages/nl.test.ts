import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { NL_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { nl } from "./nl.ts";

const names = new NameTable(NL_HOME);
const lexicons = [makeLexicon(nl)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["Wat is er open?", "ask which open <everything>"],
  ["Staat er nog iets aan?", "ask any on <everything>"],
  ["Welke batterijen zijn bijna leeg?", "ask which low_battery <everything>"],
  ["zeg het me als de leeslamp aan is", "watch <Leeslamp> condition state on"],
  ["Hoe vol is de schijf?", "ask value disk <unsaid>"],
  ["Hoe vol is de schijf van vm?", "ask value disk <vm>"],
  ["doe de leeslamp aan", "turn_on <Leeslamp>"],
  ["zit de voordeur op slot?", "ask yes_no locked <Voordeur>"],
  ["zet de verwarming op 21 graden", "set temperature value 21° <heating one>"],
  ["doe de leeslamp niet aan", "? negation"],
  ["leeslamp op 40 procent", "set value 40% <Leeslamp>"],
  ["schakel alle lampen in de keuken uit", "turn_off <light all @Keuken>"],
  ["Wilt u alstublieft het licht in de keuken uitdoen", "turn_off <light one @Keuken>"],
  ["Kun je de plafondlamp inschakelen?", "turn_on <Plafondlamp>"],
  ["het licht in de gang uit te zetten", "turn_off <light one @Gang>"],
  ["badkamerlampen uit", "turn_off <light many @Badkamer>"],
  [
    "doe de lampen in de woonkamer uit en de verwarming aan",
    "turn_off <light many @Woonkamer>; turn_on <heating one>",
  ],
  ["doe de rolluiken omhoog", "open <shutter many>"],
  ["zet de rolluiken op 50 %", "set value 50% <shutter many>"],
  ["Hoe warm is het in de slaapkamer?", "ask value temperature <@Slaapkamer>"],
  ["slaapkamertemperatuur", "ask value temperature <@Slaapkamer>"],
  ["Welke ramen staan open?", "ask which open <window many>"],
  ["Zijn alle ramen dicht?", "ask all closed <window all>"],
  ["Staat er een raam open?", "ask any open <window any>"],
  ["Hoeveel lampen branden er?", "ask count on <light many>"],
  ["Laat het me weten als de wasmachine klaar is", "watch <washing_machine one> condition state finished"],
  [
    "Waarschuw me als de vriezer warmer dan -15 graden is",
    "watch <freezer one> condition reading temperature is above -15°",
  ],
  ["Herinner me over 10 minuten aan de pizza", "remind when in_minutes 10 pizza"],
  [
    "Herinner me elke werkdag om 7 uur eraan om het vuilnis buiten te zetten",
    "remind when every weekday at 07:00 het vuilnis buiten te zetten",
  ],
  ["Zet een timer voor 5 minuten", "remind when in_minutes 5 ''"],
  ["Dim de leeslamp naar twintig procent", "set brightness value 20% <Leeslamp>"],
  ["Zet de leeslamp op tweeëntwintig procent", "set value 22% <Leeslamp>"],
  ["Maak het feller", "raise brightness <it>"],
  ["doe het licht feller", "raise brightness <light one>"],
  ["zet het uit", "turn_off <it>"],
  ["Zet het volume harder", "raise volume <unsaid>"],
  ["Maak de leeslamp rood", "set color value color red <Leeslamp>"],
  ["doe de leeslamp over 10 minuten uit", "? delay"],
  ["doe de leeslamp uit om 8 uur", "? delay"],
  ["doe de leeslamp uit als de deur opengaat", "? condition"],
  ["Waarom is de voordeur open?", "? question"],
  ["Vraag het model: wat is liefde?", "model wat is liefde?"],
  ["Welke herinneringen heb ik?", "rules list reminder all true"],
  ["Welke regels heb ik?", "rules list all true"],
  ["Toon alle regels", "rules list all true"],
  ["Verwijder alle herinneringen", "rules cancel reminder all true"],
  ["Welke apparaten zijn online?", "devices online which"],
  ["Wat kun je?", "help"],
  ["Hoe laat is het?", "clock time"],
  ["doe de leeslamp en de plafondlamp uit", "turn_off <Leeslamp>; turn_off <Plafondlamp>"],
  ["doe de voordeur op slot", "lock <Voordeur>"],
  ["haal de voordeur van het slot", "unlock <Voordeur>"],
  ["vergrendel de voordeur", "lock <Voordeur>"],
  ["is de leeslamp aan of uit?", "ask value state <Leeslamp>"],
  [
    "is het warmer dan 20 graden in het kantoor?",
    "ask yes_no compare reading temperature is above 20° <@Kantoor>",
  ],
  ["doe de leeslamp aan zet de verwarming uit", "turn_on <Leeslamp>; turn_off <heating one>"],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
