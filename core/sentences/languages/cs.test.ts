import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { CS_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { cs } from "./cs.ts";

const names = new NameTable(CS_HOME);
const lexicons = [makeLexicon(cs)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["Co je otevřené?", "ask which open <everything>"],
  ["Je něco zapnuté?", "ask any on <everything>"],
  ["Které baterie jsou slabé?", "ask which low_battery <everything>"],
  ["Kolik místa je na disku?", "ask value disk <unsaid>"],
  ["rozsviť lampu na čtení", "turn_on <Lampa na čtení>"],
  ["rozsvit lampu na cteni", "turn_on <Lampa na čtení>"],
  ["zapni stropní lampu", "turn_on <Stropní lampa>"],
  ["zhasni světlo v kuchyni", "turn_off <Světlo v kuchyni>"],
  ["zhasni světla v kuchyni", "turn_off <light many @Kuchyň>"],
  ["zhasni lampy v obýváku", "turn_off <light many @Obývák>"],
  ["jsou vchodové dveře zamčené?", "ask yes_no locked <Vchodové dveře>"],
  ["zamkni vchodové dveře", "lock <Vchodové dveře>"],
  ["odemkni vchodové dveře", "unlock <Vchodové dveře>"],
  ["nastav topení na 21 stupňů", "set temperature value 21° <heating one>"],
  ["nezapínej lampu na čtení", "? negation"],
  ["lampa na čtení na 40 procent", "set value 40% <Lampa na čtení>"],
  ["vypni všechna světla v kuchyni", "turn_off <light all @Kuchyň>"],
  ["Mohla byste prosím zhasnout světla v ložnici?", "turn_off <light many @Ložnice>"],
  ["Můžeš zapnout stropní lampu?", "turn_on <Stropní lampa>"],
  ["Zhasněte světla na chodbě", "turn_off <light many @Chodba>"],
  ["zhasni lampy v obýváku a zapni topení", "turn_off <light many @Obývák>; turn_on <heating one>"],
  ["vytáhni žaluzie", "open <blind many>"],
  ["nastav žaluzie na 50 %", "set value 50% <blind many>"],
  ["Jak je teplo v ložnici?", "ask value temperature <@Ložnice>"],
  ["Jaká je teplota v koupelně?", "ask value temperature <@Koupelna>"],
  ["Jaká je vlhkost na zahradě?", "ask value humidity <@Zahrada>"],
  ["Která okna jsou otevřená?", "ask which open <window many>"],
  ["Jsou všechna okna zavřená?", "ask all closed <window all>"],
  ["Je nějaké okno otevřené?", "ask any open <window any>"],
  ["Kolik světel svítí?", "ask count on <light many>"],
  ["Dej mi vědět, až pračka skončí", "watch <washing_machine one> condition state finished"],
  [
    "Upozorni mě, když bude mrazák teplejší než -15 stupňů",
    "watch <freezer one> condition reading temperature is above -15°",
  ],
  ["Připomeň mi za 10 minut pizzu", "remind when in_minutes 10 pizzu"],
  ["Připomeň mi každý pracovní den v 7, že mám vynést koš", "remind when every weekday at 07:00 vynést koš"],
  ["Připomeň mi zítra v osm ráno léky", "remind when at 08:00 day tomorrow léky"],
  ["Nastav časovač na 5 minut", "remind when in_minutes 5 ''"],
  ["Ztlum lampu na čtení na dvacet procent", "set brightness value 20% <Lampa na čtení>"],
  ["nastav stropní lampu na dvaadvacet procent", "set value 22% <Stropní lampa>"],
  ["Změň barvu lampy na čtení na červenou", "set color value color red <Lampa na čtení>"],
  ["hlasitěji", "raise volume <unsaid>"],
  ["vypni lampu na čtení za 10 minut", "? delay"],
  ["vypni lampu na čtení v 8", "? delay"],
  ["vypni lampu na čtení, když se otevřou dveře", "? condition"],
  ["Proč jsou vchodové dveře otevřené?", "? question"],
  ["Zeptej se modelu: co je láska?", "model co je láska?"],
  ["Jaké mám připomínky?", "rules list reminder all true"],
  ["Jaká mám pravidla?", "rules list all true"],
  ["Ukaž všechna pravidla", "rules list all true"],
  ["Smaž všechny připomínky", "rules cancel reminder all true"],
  ["Která zařízení jsou online?", "devices online which"],
  ["Co umíš?", "help"],
  ["Kolik je hodin?", "clock time"],
  ["vypni lampu na čtení a stropní lampu", "turn_off <Lampa na čtení>; turn_off <Stropní lampa>"],
  ["je stropní lampa zapnutá nebo vypnutá?", "ask value state <Stropní lampa>"],
  ["je v pracovně tepleji než 20 stupňů?", "ask yes_no compare reading temperature is above 20° <@Pracovna>"],
  [
    "vypni lampu na čtení vytáhni žaluzie a zapni topení",
    "turn_off <Lampa na čtení>; open <blind many>; turn_on <heating one>",
  ],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
