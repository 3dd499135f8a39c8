/** Czech words of which the tests make homes and commands. */
import type { CommandWords } from "./commands.ts";

const PLACES: Readonly<Record<string, string>> = {
  Kuchyň: "v kuchyni",
  Obývák: "v obýváku",
  Ložnice: "v ložnici",
  Koupelna: "v koupelně",
  Chodba: "v chodbě",
  Pracovna: "v pracovně",
  Zahrada: "na zahradě",
  Garáž: "v garáži",
  Sklep: "ve sklepě",
  Předsíň: "v předsíni",
};

/** "lampa" becomes "lampu": the first word of a name, as a verb has it. */
function accusative(name: string): string {
  return name.replace(/^(\p{L}+)a(?!\p{L})/u, "$1u");
}

export const CS: CommandWords = {
  areas: Object.keys(PLACES),
  things: [
    "světlo",
    "lampa",
    "ventilátor",
    "lampa na čtení",
    "zásuvka",
    "topení",
    "čerpadlo",
    "televize",
    "lampička",
    "lustr",
  ],
  roles: ["lampy", "všechny", "všechny lampy", "všechno", "zapni", "vypni", "ho", "lampa a ventilátor"],
  grammar: ["všechny", "všechno", "zapni", "vypni", "ho"],
  named: (area, thing) => `${area} ${thing}`,
  commands: [
    { action: "turn_on", say: (name) => `zapni ${name}` },
    { action: "turn_off", say: (name) => `vypni prosím ${name}` },
    { action: "turn_on", say: (name) => `rozsviť ${accusative(name)}` },
    { action: "turn_off", say: (name) => `zhasni ${accusative(name)}` },
    { action: "turn_off", say: (name) => `můžeš vypnout ${name}` },
    { action: "turn_on", say: (name) => `mohl byste zapnout ${accusative(name)}` },
  ],
  inArea: (name, area) => `${name} ${PLACES[area] ?? area}`,
  mutations: {
    negation: [
      (command) => `ne ${command}`,
      (command) => `${command} a všechno kromě okna`,
      (command) => `nikdy ${command}`,
      (command) => `${command} v žádném případě`,
      (_, name) => `nezapínej ${name}`,
    ],
    condition: [
      (command) => `${command}, když se otevřou dveře`,
      (command) => `pokud je zima, ${command}`,
      (command) => `${command} jakmile bude okno zavřené`,
      (command) => `jestli je světlo zapnuté ${command}`,
      (command) => `až bude tma ${command}`,
    ],
    delay: [
      (command) => `${command} za 10 minut`,
      (command) => `${command} v 8`,
      (command) => `v 8 ${command}`,
      (command) => `${command} v osm hodin`,
      (command) => `zítra v 7 ${command}`,
      (command) => `za půl hodiny ${command}`,
      (command) => `${command} na 5 minut`,
      (command) => `později ${command}`,
      (command) => `každý den v 8 ${command}`,
      (command) => `${command} večer`,
    ],
    question: [
      (command) => `mám ${command}`,
      (command) => `proč ${command}`,
      (command) => `měl bych ${command}?`,
      (command) => `jak můžu ${command}?`,
      (_, name) => `je ${name} zapnuté?`,
      (_, name) => `bylo ${name} vypnuté?`,
    ],
    quotation: [
      (command) => `„${command}“`,
      (command) => `řekla "${command}"`,
      (command) => `napiš '${command}'`,
      (command) => `on říkal ${command}`,
    ],
  },
};
