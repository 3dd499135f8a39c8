import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { DE_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { de } from "./de.ts";

const names = new NameTable(DE_HOME);
const lexicons = [makeLexicon(de)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["Was ist offen?", "ask which open <everything>"],
  ["Ist irgendetwas offen?", "ask any open <everything>"],
  ["Ist in der Küche noch etwas an?", "ask any on <everything @Küche>"],
  ["Welche Batterien sind leer?", "ask which low_battery <everything>"],
  ["Ist eine Batterie schwach?", "ask any low_battery <everything>"],
  ["Wie voll ist die Festplatte?", "ask value disk <unsaid>"],
  ["Wie voll ist die Festplatte von vm?", "ask value disk <vm>"],
  ["schalte die Leselampe ein", "turn_on <Leselampe>"],
  ["ist die Haustür abgeschlossen?", "ask yes_no locked <Haustür>"],
  ["stell die Heizung auf 21 Grad", "set temperature value 21° <heating one>"],
  ["schalte die Leselampe nicht ein", "? negation"],
  ["Leselampe auf 40 Prozent", "set value 40% <Leselampe>"],
  ["schalte in der Küche alle Lichter aus", "turn_off <light all @Küche>"],
  ["Schalten Sie bitte das Licht in der Küche aus.", "turn_off <light one @Küche>"],
  ["mach das Küchenlicht an", "turn_on <Küchenlicht>"],
  [
    "Mach die Lampen im Wohnzimmer aus und die Heizung an",
    "turn_off <light many @Wohnzimmer>; turn_on <heating one>",
  ],
  ["Fahr die Jalousien hoch", "open <blind many>"],
  ["fahre die Jalousien auf 50 %", "set value 50% <blind many>"],
  ["Wie warm ist es im Schlafzimmer?", "ask value temperature <@Schlafzimmer>"],
  ["Schlafzimmertemperatur", "ask value temperature <@Schlafzimmer>"],
  ["Wie ist die Temperatur des Gartens?", "ask value temperature <@Garten>"],
  ["Welche Fenster sind offen?", "ask which open <window many>"],
  ["Sind alle Fenster zu?", "ask all closed <window all>"],
  ["Ist ein Fenster offen?", "ask any open <window any>"],
  [
    "Sag mir Bescheid, wenn die Waschmaschine fertig ist",
    "watch <washing_machine one> condition state finished",
  ],
  [
    "Sag mir, wenn der Gefrierschrank wärmer als -15 Grad ist",
    "watch <freezer one> condition reading temperature is above -15°",
  ],
  ["Erinnere mich in 10 Minuten an die Pizza", "remind when in_minutes 10 Pizza"],
  [
    "Erinnere mich jeden Werktag um 7 daran, den Müll rauszubringen",
    "remind when every weekday at 07:00 den Müll rauszubringen",
  ],
  [
    "Jeden Morgen um 8 die Temperatur im Garten",
    "briefing when every day at 08:00 asks [ask value temperature <@Garten>] Jeden Morgen um 8 die Temperatur im Garten",
  ],
  ["Dimme die Leselampe auf zwanzig Prozent", "set brightness value 20% <Leselampe>"],
  ["Mach es heller", "raise brightness <it>"],
  ["Mach die Leselampe rot", "set color value color red <Leselampe>"],
  ["schalte die Leselampe in 10 Minuten aus", "? delay"],
  ["schalte die Leselampe um 8 aus", "? delay"],
  ["schalte die Leselampe aus, wenn die Tür aufgeht", "? condition"],
  ["Warum ist die Haustür offen?", "? question"],
  ["Frag das Modell: Was ist Liebe?", "model Was ist Liebe?"],
  ["Welche Erinnerungen habe ich?", "rules list reminder all true"],
  ["Welche Regeln habe ich?", "rules list all true"],
  ["Zeig mir alle Regeln", "rules list all true"],
  ["Lösche alle Erinnerungen", "rules cancel reminder all true"],
  ["Welche Geräte sind online?", "devices online which"],
  ["Was kannst du?", "help"],
  ["schalte die Leselampe und die Deckenlampe aus", "turn_off <Leselampe>; turn_off <Deckenlampe>"],
  ["könntest du bitte das Licht im Badezimmer einschalten?", "turn_on <light one @Badezimmer>"],
  ["Verriegle die Haustür", "lock <Haustür>"],
  ["Ist das Licht in der Küche an?", "ask yes_no on <light one @Küche>"],
  ["Wie viele Lichter sind an?", "ask count on <light many>"],
  ["stelle die Wohnzimmerlampe auf 30 Prozent", "set value 30% <light one @Wohnzimmer>"],
  ["Küchenlampen aus", "turn_off <light many @Küche>"],
  ["heb die Jalousien an", "open <blind many>"],
  ["heb die Leselampe an", "open <Leselampe>"],
  ["schließ die Haustür ab", "lock <Haustür>"],
  ["schließ die Haustür auf", "unlock <Haustür>"],
  ["schließ die Haustür", "close <Haustür>"],
  ["ist die Leselampe an oder aus?", "ask value state <Leselampe>"],
  ["mach die Lautstärke lauter", "raise volume <unsaid>"],
  [
    "schalte die Leselampe und die Deckenlampe aus und verriegle die Haustür",
    "turn_off <Leselampe>; turn_off <Deckenlampe>; lock <Haustür>",
  ],
  [
    "schalte die Leselampe an stell die Heizung auf 21 Grad und mach die Jalousien zu",
    "turn_on <Leselampe>; set temperature value 21° <heating one>; close <blind many>",
  ],
  ["Halten Sie die Jalousien an", "stop <blind many>"],
  ["halt die Leselampe an", "pause or stop <Leselampe>"],
  ["halte die Heizung auf 21 Grad", "set temperature value 21° <heating one>"],
  ["brich die Waschmaschine ab", "stop <washing_machine one>"],
  ["führe die Leselampe aus", "start <Leselampe>"],
  ["schalten Sie die Leselampe um", "toggle <Leselampe>"],
  ["schalte die Leselampe um 8 um", "? delay"],
  ["Heize das Wohnzimmer auf 20 Grad", "set temperature value 20° <@Wohnzimmer>"],
  ["ich möchte die Leselampe in Rot", "set color value color red <Leselampe>"],
  ["Färben Sie die Leselampe blau ein", "set color value color blue <Leselampe>"],
  ["lass die Leselampe grün leuchten", "set color value color green <Leselampe>"],
  ["stell die Leselampe auf maximale Helligkeit ein", "set brightness value bound maximum <Leselampe>"],
  ["ich möchte, dass die Jalousien geschlossen sind", "close <blind many>"],
  ["ich möchte wissen, ob die Leselampe an ist", "ask yes_no on <Leselampe>"],
  ["ist die Leselampe an oder nicht", "ask yes_no on <Leselampe>"],
  ["schalte die Leselampe an oder nicht", "? negation"],
  ["was wird auf dem Fernseher abgespielt?", "ask value state <television one>"],
  ["was läuft im Fernseher?", "ask value state <television one>"],
  ["alles in Ordnung mit der Waschmaschine?", "ask value state <washing_machine one>"],
  ["kann ich die Leselampe einschalten?", "? question"],
  ["macht jemand die Leselampe an?", "? no_sense"],
  ["schick den Saugroboter zurück an seine Basis", "dock <vacuum one>"],
  ["beende den Saugvorgang", "dock <vacuum one>"],
  ["sperr die Haustür", "lock <Haustür>"],
  ["mach die Garage auf", "open <garage_door one>"],
  ["brauche ich die Leselampe eingeschaltet?", "? unknown_word"],
  ["Könnten Sie dafür sorgen, dass die Haustür abgeschlossen ist?", "lock <Haustür>"],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
