import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { PL_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { pl } from "./pl.ts";

const names = new NameTable(PL_HOME);
const lexicons = [makeLexicon(pl)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["Co jest otwarte?", "ask which open <everything>"],
  ["Czy coś jest włączone?", "ask any on <everything>"],
  ["Które baterie są słabe?", "ask which low_battery <everything>"],
  ["Ile miejsca jest na dysku?", "ask value disk <unsaid>"],
  ["włącz lampę do czytania", "turn_on <Lampa do czytania>"],
  ["wlacz lampe do czytania", "turn_on <Lampa do czytania>"],
  ["zapal lampkę biurkową", "turn_on <Lampka biurkowa>"],
  ["zgaś światło w kuchni", "turn_off <Światło w kuchni>"],
  ["zgaś lampy w kuchni", "turn_off <light many @Kuchnia>"],
  ["czy drzwi wejściowe są zamknięte na klucz?", "ask yes_no locked <Drzwi wejściowe>"],
  ["zamknij drzwi wejściowe na klucz", "lock <Drzwi wejściowe>"],
  ["zamknij drzwi wejściowe", "close <Drzwi wejściowe>"],
  ["odblokuj drzwi wejściowe", "unlock <Drzwi wejściowe>"],
  ["ustaw ogrzewanie na 21 stopni", "set temperature value 21° <heating one>"],
  ["nie włączaj lampy do czytania", "? negation"],
  ["lampa do czytania na 40 procent", "set value 40% <Lampa do czytania>"],
  ["wyłącz wszystkie światła w kuchni", "turn_off <light all @Kuchnia>"],
  ["Proszę wyłączyć światła w salonie.", "turn_off <light many @Salon>"],
  ["Czy możesz włączyć lampę sufitową?", "turn_on <Lampa sufitowa>"],
  ["Czy mogłaby pani zgasić światła w sypialni", "turn_off <light many @Sypialnia>"],
  ["zgaś lampy w salonie i włącz ogrzewanie", "turn_off <light many @Salon>; turn_on <heating one>"],
  ["podnieś żaluzje", "open <blind many>"],
  ["ustaw żaluzje na 50 %", "set value 50% <blind many>"],
  ["Jak ciepło jest w sypialni?", "ask value temperature <@Sypialnia>"],
  ["Jaka jest temperatura w łazience?", "ask value temperature <@Łazienka>"],
  ["Jaka jest wilgotność w ogrodzie?", "ask value humidity <@Ogród>"],
  ["Które okna są otwarte?", "ask which open <window many>"],
  ["Czy wszystkie okna są zamknięte?", "ask all closed <window all>"],
  ["Czy jakieś okno jest otwarte?", "ask any open <window any>"],
  ["Ile świateł jest włączonych?", "ask count on <light many>"],
  ["Daj mi znać, gdy pralka skończy", "watch <washing_machine one> condition state finished"],
  [
    "Powiadom mnie, gdy zamrażarka będzie cieplejsza niż -15 stopni",
    "watch <freezer one> condition reading temperature is above -15°",
  ],
  ["Przypomnij mi za 10 minut o pizzy", "remind when in_minutes 10 pizzy"],
  [
    "Przypomnij mi w każdy dzień roboczy o 7, żeby wynieść śmieci",
    "remind when every weekday at 07:00 wynieść śmieci",
  ],
  ["Przypomnij mi jutro o ósmej rano o lekach", "remind when at 08:00 day tomorrow lekach"],
  ["Ustaw minutnik na 5 minut", "remind when in_minutes 5 ''"],
  ["Przyciemnij lampę do czytania do dwudziestu procent", "set brightness value 20% <Lampa do czytania>"],
  ["ustaw lampę sufitową na dwadzieścia dwa procent", "set value 22% <Lampa sufitowa>"],
  ["Zmień kolor lampy do czytania na czerwony", "set color value color red <Lampa do czytania>"],
  ["głośniej", "raise volume <unsaid>"],
  ["wyłącz lampę do czytania za 10 minut", "? delay"],
  ["wyłącz lampę do czytania o 8", "? delay"],
  ["wyłącz lampę do czytania, gdy drzwi się otworzą", "? condition"],
  ["Dlaczego drzwi wejściowe są otwarte?", "? question"],
  ["Zapytaj model: co to jest miłość?", "model co to jest miłość?"],
  ["Jakie mam przypomnienia?", "rules list reminder all true"],
  ["Jakie reguły mam?", "rules list all true"],
  ["Pokaż wszystkie reguły", "rules list all true"],
  ["Usuń wszystkie przypomnienia", "rules cancel reminder all true"],
  ["Które urządzenia są online?", "devices online which"],
  ["Co potrafisz?", "help"],
  ["Która jest godzina?", "clock time"],
  ["wyłącz lampę do czytania i lampę sufitową", "turn_off <Lampa do czytania>; turn_off <Lampa sufitowa>"],
  ["czy lampa sufitowa jest włączona czy wyłączona?", "ask value state <Lampa sufitowa>"],
  [
    "czy w biurze jest cieplej niż 20 stopni?",
    "ask yes_no compare reading temperature is above 20° <@Biuro>",
  ],
  [
    "wyłącz lampę sufitową podnieś żaluzje i włącz pompę",
    "turn_off <Lampa sufitowa>; open <blind many>; turn_on <pump one>",
  ],
  ["pokaż lampę sufitową", "ask value state <Lampa sufitowa>"],
  ["lampa sufitowa świeci na zielono", "? no_sense"],
  ["lampa sufitowa w odcieniu czerwonym", "set color value color red <Lampa sufitowa>"],
  ["wyłącz lampę sufitową, jeśli możesz", "turn_off <Lampa sufitowa>"],
  ["wyłącz lampę sufitową, jeśli jest zimno", "? condition"],
  ["włącz lampę sufitową czy nie", "? negation"],
  ["czy zostawiliśmy okno w kuchni otwarte?", "ask yes_no open <Okno w kuchni>"],
  ["wszystko w porządku z pralką?", "ask value state <washing_machine one>"],
  ["czas wyłączyć lampę sufitową", "turn_off <Lampa sufitowa>"],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
