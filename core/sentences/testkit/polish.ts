/** Polish words of which the tests make homes and commands. */
import type { CommandWords } from "./commands.ts";

const PLACES: Readonly<Record<string, string>> = {
  Kuchnia: "w kuchni",
  Salon: "w salonie",
  Sypialnia: "w sypialni",
  Łazienka: "w łazience",
  Przedpokój: "w przedpokoju",
  Biuro: "w biurze",
  Ogród: "w ogrodzie",
  Garaż: "w garażu",
  Piwnica: "w piwnicy",
  Strych: "na strychu",
};

/** "lampa" becomes "lampę": the first word of a name, as a verb has it. */
function accusative(name: string): string {
  return name.replace(/^(\p{L}+)a(?!\p{L})/u, "$1ę");
}

export const PL: CommandWords = {
  areas: Object.keys(PLACES),
  things: [
    "światło",
    "lampa",
    "wentylator",
    "lampa do czytania",
    "gniazdko",
    "ogrzewanie",
    "pompa",
    "telewizor",
    "lampka nocna",
    "kinkiet",
  ],
  roles: ["lampy", "wszystkie", "wszystkie lampy", "wszystko", "włącz", "wyłącz", "go", "lampa i wentylator"],
  grammar: ["wszystkie", "wszystko", "włącz", "wyłącz", "go"],
  named: (area, thing) => `${area} ${thing}`,
  commands: [
    { action: "turn_on", say: (name) => `włącz ${name}` },
    { action: "turn_off", say: (name) => `wyłącz proszę ${name}` },
    { action: "turn_on", say: (name) => `zapal ${accusative(name)}` },
    { action: "turn_off", say: (name) => `zgaś ${accusative(name)}` },
    { action: "turn_off", say: (name) => `czy możesz wyłączyć ${name}` },
    { action: "turn_on", say: (name) => `proszę włączyć ${accusative(name)}` },
  ],
  inArea: (name, area) => `${name} ${PLACES[area] ?? area}`,
  mutations: {
    negation: [
      (command) => `nie ${command}`,
      (command) => `${command} i wszystko oprócz okna`,
      (command) => `nigdy ${command}`,
      (command) => `${command} w żadnym wypadku`,
      (command) => `proszę nie ${command}`,
    ],
    condition: [
      (command) => `${command}, gdy drzwi się otworzą`,
      (command) => `jeśli jest zimno, ${command}`,
      (command) => `${command} jak tylko okno będzie zamknięte`,
      (command) => `kiedy światło jest włączone ${command}`,
      (command) => `${command} chyba że jest ciepło`,
    ],
    delay: [
      (command) => `${command} za 10 minut`,
      (command) => `${command} o 8`,
      (command) => `o 8 ${command}`,
      (command) => `${command} o ósmej`,
      (command) => `jutro o 7 ${command}`,
      (command) => `za pół godziny ${command}`,
      (command) => `${command} na 5 minut`,
      (command) => `później ${command}`,
      (command) => `codziennie o 8 ${command}`,
      (command) => `${command} wieczorem`,
    ],
    question: [
      (command) => `czy powinienem ${command}`,
      (command) => `dlaczego ${command}`,
      (command) => `czy mam ${command}?`,
      (command) => `jak mogę ${command}?`,
      (_, name) => `czy ${name} jest włączone?`,
      (_, name) => `czy ${name} było wyłączone?`,
    ],
    quotation: [
      (command) => `„${command}”`,
      (command) => `powiedziała "${command}"`,
      (command) => `napisz '${command}'`,
      (command) => `on mówił ${command}`,
    ],
  },
};
