/** Words of which the tests make homes and commands, a language each. A language that has none is not tested. */
import type { Language } from "../../text/languages.ts";
import type { Action } from "../frame.ts";

export type CommandWords = {
  areas: readonly string[];
  /** What a device may be called, alone, with a number or behind its area. */
  things: readonly string[];
  /** Plurals and other words that are roles of the reader, taken for names. */
  roles: readonly string[];
  /** Words that are no name, whoever gave it. */
  grammar: readonly string[];
  /** How area and thing are one name. */
  named(area: string, thing: string): string;
  commands: ReadonlyArray<{ action: Action; say: (name: string) => string }>;
  /** The name with its place. */
  inArea(name: string, area: string): string;
  /** Sentences that begin as commands and must not act. */
  mutations: Readonly<Record<Mutation, ReadonlyArray<(command: string, name: string) => string>>>;
};

export const MUTATIONS = ["negation", "condition", "delay", "question", "quotation"] as const;
type Mutation = (typeof MUTATIONS)[number];

const EN: CommandWords = {
  areas: [
    "Kitchen",
    "Living room",
    "Bedroom",
    "Bathroom",
    "Hall",
    "Office",
    "Garden",
    "Garage",
    "Attic",
    "Study",
  ],
  things: [
    "light",
    "lamp",
    "fan",
    "reading lamp",
    "plug",
    "heater",
    "pump",
    "TV",
    "spot",
    "night light",
    "socket",
  ],
  roles: ["lights", "all", "all lights", "everything", "the off switch", "on", "off", "it", "lamp and fan"],
  grammar: ["all", "everything", "on", "off", "it"],
  named: (area, thing) => `${area} ${thing}`,
  commands: [
    { action: "turn_on", say: (name) => `turn on the ${name}` },
    { action: "turn_off", say: (name) => `turn the ${name} off` },
    { action: "turn_off", say: (name) => `please switch off ${name}` },
    { action: "turn_on", say: (name) => `${name} on` },
    { action: "turn_on", say: (name) => `could you switch on my ${name}` },
    { action: "toggle", say: (name) => `toggle the ${name}` },
  ],
  inArea: (name, area) => `${name} in the ${area}`,
  mutations: {
    negation: [
      (command) => `don't ${command}`,
      (command) => `do not ${command}`,
      (command) => `never ${command}`,
      (command) => `${command} not`,
      (command) => `please don't ${command}`,
      (command, name) => `${command.replace(name, `everything but the ${name}`)}`,
    ],
    condition: [
      (command) => `${command} when the door opens`,
      (command) => `if it is cold ${command}`,
      (command) => `${command} unless it is warm`,
      (command) => `${command} once the window is closed`,
      (command) => `as soon as the light is on ${command}`,
    ],
    delay: [
      (command) => `${command} in 10 minutes`,
      (command) => `${command} at 8`,
      (command) => `${command} tomorrow at 7`,
      (command) => `in half an hour ${command}`,
      (command) => `${command} for 5 minutes`,
      (command) => `${command} later`,
      (command) => `every day at 8 ${command}`,
      (command) => `${command} tonight`,
    ],
    question: [
      (command) => `should I ${command}`,
      (command) => `did you ${command}?`,
      (command) => `why ${command}`,
      (command) => `how do I ${command}?`,
      (command) => `who can ${command}`,
      (_, name) => `is the ${name} on?`,
      (_, name) => `was the ${name} off?`,
    ],
    quotation: [
      (command) => `"${command}"`,
      (command) => `she said “${command}”`,
      (command) => `write '${command}'`,
      (command) => `he told me to ${command}`,
    ],
  },
};

const DE: CommandWords = {
  areas: [
    "Küche",
    "Wohnzimmer",
    "Schlafzimmer",
    "Bad",
    "Flur",
    "Büro",
    "Garten",
    "Garage",
    "Keller",
    "Dachboden",
  ],
  things: [
    "Licht",
    "Lampe",
    "Lüfter",
    "Leselampe",
    "Steckdose",
    "Heizung",
    "Pumpe",
    "Fernseher",
    "Nachtlicht",
  ],
  roles: ["Lichter", "alle", "alle Lampen", "alles", "Aus-Schalter", "an", "aus", "es", "Lampe und Lüfter"],
  grammar: ["alle", "alles", "an", "aus", "es"],
  named: (area, thing) => `${area} ${thing}`,
  commands: [
    { action: "turn_on", say: (name) => `schalte ${name} ein` },
    { action: "turn_off", say: (name) => `schalte bitte die ${name} aus` },
    { action: "turn_on", say: (name) => `mach das ${name} an` },
    { action: "turn_off", say: (name) => `${name} aus` },
    { action: "turn_off", say: (name) => `kannst du ${name} ausschalten` },
    { action: "turn_on", say: (name) => `${name} bitte einschalten` },
  ],
  inArea: (name, area) => `${name} im ${area}`,
  mutations: {
    negation: [
      (command, name) => command.replace(name, `${name} nicht`),
      (command) => `nicht ${command}`,
      (command, name) => command.replace(name, `alles außer ${name}`),
      (command) => `${command} auf keinen Fall`,
      (command) => `niemals ${command}`,
    ],
    condition: [
      (command) => `${command}, wenn die Tür aufgeht`,
      (command) => `falls es kalt ist, ${command}`,
      (command) => `${command} sobald das Fenster zu ist`,
      (command) => `wenn das Licht an ist ${command}`,
    ],
    delay: [
      (command) => `${command} in 10 Minuten`,
      (command) => `${command} um 8`,
      (command) => `um 8 Uhr ${command}`,
      (command) => `morgen um 7 ${command}`,
      (command) => `in einer halben Stunde ${command}`,
      (command) => `${command} für 5 Minuten`,
      (command) => `später ${command}`,
      (command) => `jeden Tag um 8 ${command}`,
    ],
    question: [
      (command) => `soll ich ${command}`,
      (command) => `warum ${command}`,
      (command) => `habe ich ${command}?`,
      (command) => `wie kann ich ${command}?`,
      (_, name) => `ist ${name} an?`,
      (_, name) => `war ${name} aus?`,
    ],
    quotation: [
      (command) => `„${command}“`,
      (command) => `sie sagte "${command}"`,
      (command) => `schreib '${command}'`,
      (command) => `er meinte ${command}`,
    ],
  },
};

const ZH: CommandWords = {
  areas: ["厨房", "客厅", "卧室", "浴室", "走廊", "书房", "花园", "车库", "阁楼", "餐厅"],
  things: ["灯", "台灯", "风扇", "阅读灯", "插座", "暖气", "水泵", "电视", "夜灯", "前灯"],
  roles: ["所有灯", "全部", "一切", "开关", "开", "关", "它", "台灯和风扇"],
  grammar: ["全部", "一切", "开", "关", "它"],
  named: (area, thing) => `${area}${thing}`,
  commands: [
    { action: "turn_on", say: (name) => `打开${name}` },
    { action: "turn_off", say: (name) => `请把${name}关掉` },
    { action: "turn_off", say: (name) => `关闭${name}` },
    { action: "turn_on", say: (name) => `帮我打开${name}` },
    { action: "turn_on", say: (name) => `${name}打开` },
  ],
  inArea: (name, area) => `${area}里的${name}`,
  mutations: {
    negation: [
      (command) => `不要${command}`,
      (command) => `别${command}`,
      (command) => `请不要${command}`,
      (command) => `不用${command}`,
      (command, name) => command.replace(name, `除了${name}以外的所有灯`),
    ],
    condition: [
      (command) => `如果门开了就${command}`,
      (command) => `当窗户关着时${command}`,
      (command) => `门打开的时候${command}`,
      (command) => `要是冷的话${command}`,
    ],
    delay: [
      (command) => `十分钟后${command}`,
      (command) => `八点${command}`,
      (command) => `明天早上7点${command}`,
      (command) => `半小时后${command}`,
      (command) => `晚点${command}`,
      (command) => `每天8点${command}`,
      (command) => `今晚${command}`,
    ],
    question: [
      (command) => `为什么${command}`,
      (command) => `我应该${command}吗？`,
      (command) => `要不要${command}`,
      (command) => `怎么${command}`,
      (_, name) => `${name}开着吗？`,
      (_, name) => `谁关了${name}`,
    ],
    quotation: [
      (command) => `“${command}”`,
      (command) => `她说「${command}」`,
      (command) => `写下"${command}"`,
      (command) => `他说${command}`,
    ],
  },
};

export const COMMAND_WORDS: Partial<Record<Language, CommandWords>> = { en: EN, de: DE, zh: ZH };
