/**
 * The condition by which find_agents chooses devices, in ten languages: `battery < 20`, `Fenster = offen`, 湿度高于55. What a reading
 * is follows from its class, then from its unit, and from its name only where it has neither. Pure.
 */
import { areForms } from "@edgecall/core/agents/case-forms.ts";
import {
  classesOf,
  classOfUnit,
  spaced,
  statesOf,
  type Term,
  termsOf,
  withPhrases,
} from "@edgecall/core/agents/reading-terms.ts";
import { synonyms } from "@edgecall/core/agents/synonyms.ts";
import { fold, isStopWord, isUnspaced, stem, wordsOf } from "@edgecall/core/agents/words.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { isShown } from "./reading-text.ts";

/** A battery of so much counts as low where a device tells percents. */
const LOW_BATTERY_PERCENT = 20;

/** @property words folded @property classes and states: what it may mean */
type AskedWord = { word: string; classes: readonly string[]; states: readonly string[] };

/** @property value lower case, as it is written @property number of `value`, if it is one @property unit as it is written */
export type Condition = {
  words: readonly AskedWord[];
  compare: "<" | "<=" | ">" | ">=" | "=" | undefined;
  value: string;
  values: readonly AskedWord[];
  number: number | undefined;
  unit: string | undefined;
};

/** Folded texts. The longer ones stand first. */
const LESS =
  "au[- ]dessous de|en dessous de|inferieure?s? a|moins de|sous|niedriger als|kleiner als|weniger als|unterhalb|unter|por debajo de|menos (?:de|que)|menor (?:de|que)|inferior a|abaixo de|sotto i|sotto|meno di|inferiore a|minore di|lager dan|minder dan|kleiner dan|onder|ponizej|mniej niz|mniejsz\\w+ niz|nizsz\\w+ niz|below|under|less than|lower than|fewer than|低于|小于|少于|不到|低於|小於";
const MORE =
  "au[- ]dessus de|superieure?s? a|plus de|groesser als|hoeher als|mehr als|oberhalb|ueber|por encima de|mas (?:de|que)|mayor (?:de|que)|superior a|acima de|mais (?:de|que)|maior (?:de|que)|sopra i|sopra|piu di|superiore a|maggiore di|hoger dan|meer dan|groter dan|boven|powyzej|ponad|wiecej niz|wieksz\\w+ niz|wyzsz\\w+ niz|above|over|more than|greater than|higher than|高于|大于|超过|多于|高於|大於|超過";
const AT_LEAST = "at least|mindestens|au moins|al menos|almeno|minstens|co najmniej|pelo menos|至少";
const AT_MOST = "at most|hoechstens|au plus|como mucho|al massimo|hoogstens|co najwyzej|no maximo|最多";
const EQUAL = "is|are|equals|ist|sind|gleich|est|sont|esta|jest|为|是";

const ORDER = new RegExp(
  `^(.*?)(<=|>=|<|>|${[AT_LEAST, AT_MOST, LESS, MORE].map((words) => `(?<![a-z])(?:${words})(?![a-z])`).join("|")})(.*)$`,
);
/** 20以下: the sign stands behind the number. */
const ORDER_BEHIND = /^(.*?)([-+]?\d+(?:[.,]\d+)?[^\d]{0,5}?)(以下|以上|未満|超)/;
const EQUALS = new RegExp(`^(.*?)(==?|(?<![a-z])(?:${EQUAL})(?![a-z]))(.*)$`);
const NUMBER = /[-+]?\d+(?:[.,]\d+)?/;
/** A reading that names one is about the device itself. */
const OF_MACHINE = /\b(?:device|chip|cpu|processor|board|motor|module|internal)\b/;

/** Reads a condition. Words without a comparison ask for that reading, or for a state: `battery`, `window open`. */
export function readCondition(text: string): Condition {
  const plain = text.normalize("NFKC").replaceAll("≤", "<=").replaceAll("≥", ">=").trim();
  const folded = withPhrases(fold(plain).replaceAll("_", " "));
  const behind = ORDER_BEHIND.exec(folded);
  if (behind) return condition(behind[1] ?? "", SIGNS[behind[3] ?? ""], behind[2] ?? "", plain);
  const ordered = ORDER.exec(folded);
  if (ordered) return condition(ordered[1] ?? "", signOf(ordered[2] ?? ""), ordered[3] ?? "", plain);
  const equal = EQUALS.exec(folded);
  // "state = open" is a state, of whatever.
  if (equal) {
    const found = condition(equal[1] ?? "", "=", equal[3] ?? "", plain);
    return {
      ...found,
      words: found.words.filter(({ word }) => found.number !== undefined || !GENERAL.test(word)),
    };
  }
  return condition(folded, undefined, "", plain);
}

const SIGNS: Readonly<Record<string, Condition["compare"]>> = { 以下: "<=", 以上: ">=", 未満: "<", 超: ">" };

function signOf(sign: string): Condition["compare"] {
  if (/^[<>]=?$/.test(sign)) return sign as Condition["compare"];
  const isOneOf = (words: string) => new RegExp(`^(?:${words})$`).test(sign);
  if (isOneOf(AT_LEAST)) return ">=";
  if (isOneOf(AT_MOST)) return "<=";
  return isOneOf(LESS) ? "<" : ">";
}

function condition(left: string, compare: Condition["compare"], right: string, plain: string): Condition {
  const value = right.trim();
  const number = NUMBER.exec(value)?.[0].replace(",", ".");
  const isNumber =
    number !== undefined && compare !== undefined && /^\D{0,12}$/.test(value.split(NUMBER)[0] ?? "");
  // A unit's case counts, which the folded text has lost: mW, MW.
  const unit = isNumber ? /\d\s*([%°\p{L}³/]+)/u.exec(plain.slice(plain.search(/\d/)))?.[1] : undefined;
  const words = parseWords(left);
  const meant = words.length === 0 && unit !== undefined ? wordsOfUnit(unit) : words;
  return {
    words: meant,
    compare,
    value,
    values: isNumber ? [] : parseWords(value),
    number: isNumber ? Number(number) : undefined,
    unit,
  };
}

/** "more than 100 watts" asks for what has that unit. */
function wordsOfUnit(unit: string): AskedWord[] {
  const [name = classOfUnit(`°${unit}`) ?? classesOf(fold(unit))[0]] = [classOfUnit(unit)];
  return name === undefined ? [] : [{ word: name, classes: [name], states: [] }];
}

function parseWords(text: string): AskedWord[] {
  const found: AskedWord[] = [];
  let isNegated = false;
  for (const word of spaced(text.replace(GENERAL_UNSPACED, " ")).match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (NEGATION.test(word)) {
      isNegated = true;
      continue;
    }
    const terms: readonly Term[] = termsOf(word);
    if (terms.length === 0 && (isStopWord(word) || PARTICLE.test(word))) continue;
    const named = (of: Term["of"]) => terms.flatMap((term) => (term.of === of ? [term.name] : []));
    const states = named("state");
    const opposite = states.flatMap((state) => OPPOSITES.get(state) ?? []);
    // What is not of a kind has no word here.
    if (isNegated && opposite.length === 0) found.push({ word: "not", classes: [], states: [] });
    if (isNegated && opposite.length > 0) found.push({ word: `not ${word}`, classes: [], states: opposite });
    else found.push({ word, classes: named("class"), states });
    isNegated = false;
  }
  const isTelling = ({ classes, states }: AskedWord) => classes.length + states.length > 0;
  return found.some(isTelling) ? found.filter((one) => isTelling(one) || !GENERAL.test(one.word)) : found;
}

const NEGATION = /^(?:not|nicht|pas|no|non|niet|nie|nao|没|未|不)$/;
const PAIRS =
  "open closed,on off,locked unlocked,wet dry,low normal,detected clear,occupied clear,home away,connected disconnected";
const OPPOSITES: ReadonlyMap<string, string> = new Map(
  PAIRS.split(",").flatMap((pair): Array<[string, string]> => {
    const [one = "", other = ""] = pair.split(" ");
    return [
      [one, other],
      [other, one],
    ];
  }),
);
/** Words that say nothing beside one that does: battery level, "Zustand: offen". */
const GENERAL =
  /^(?:level|state|status|value|reading|sensors?|stand|ladestand|ladezustand|zustand|wert|niveau|etat|valeur|capteurs?|nivel|estado|valor|livello|stato|valore|toestand|waarde|poziom|stan|wartosc|czujniki?)$/;
const GENERAL_UNSPACED = /状态|狀態|状態|处于|正在|当前|现在|目前|室内|传感器|水平/g;
/** Particles that are left between the words of a text without blanks. */
const PARTICLE = /^(?:[的了着在里是吗呢吧都把请有个些到已哪扇度がのをにはでいるたます]+|から|まで)$/u;

/** A device's own words, folded: id and line. Made when they are first needed. */
export class DeviceWords {
  readonly #text: string;
  #words: ReadonlySet<string> | undefined;
  #stems: ReadonlySet<string> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get words(): ReadonlySet<string> {
    this.#words ??= new Set(wordsOf(this.#text));
    return this.#words;
  }

  get stems(): ReadonlySet<string> {
    this.#stems ??= new Set([...this.words].map(stem));
    return this.#stems;
  }
}

/**
 * How well a reading fits: the least is the best; undefined: it does not. By its class 0, by its unit 1, by its name 2; 4 more where it
 * is about the device itself or a setting, and 8 more for a text that reads as a number.
 */
export function fit(condition: Condition, reading: Reading, device: DeviceWords): number | undefined {
  if (!isShown(reading)) return undefined;
  const own = cachedReadingWords(reading);
  const { words, compare, number } = condition;
  const isMeant = (word: AskedWord) => isOwn(word, own) || isInName(word, own) || isOfDevice(word, device);
  const value = numberOf(reading);
  if (compare === undefined) {
    const isState = ({ word, states }: AskedWord) => hasState(reading, word, states, words.length > 1);
    // The name of a reading may have a word for a state: "Low battery" is normal.
    const namesMore = ({ states, classes }: AskedWord) => states.length === 0 || classes.length > 0;
    if (!words.some((word) => isState(word) || (namesMore(word) && isOwn(word, own)))) return undefined;
    const isFitting = words.every((word) => isState(word) || (namesMore(word) && isMeant(word)));
    return isFitting ? rank(words, own) : undefined;
  }
  if (number !== undefined && value !== undefined) {
    // The words of a device tell of which of its numbers nothing.
    if (!words.some((word) => isOwn(word, own)) || !words.every(isMeant)) return undefined;
    if (!compared(value, compare, inUnit(number, condition.unit, reading.unit))) return undefined;
    return rank(words, own) + (typeof reading.value === "number" ? 0 : 8);
  }
  if (compare !== "=" || !isValue(condition, reading)) return undefined;
  return words.every(isMeant) ? rank(words, own) : undefined;
}

/** @property classes what the reading is, and by what that is known @property words of its name, class and kind, folded */
type ReadingWords = { classes: readonly string[]; by: 0 | 1 | 2; words: readonly string[]; aside: boolean };

/** Readings of many devices have the same names. */
const OWN_WORDS_MAX = 2_000;
const known = new Map<string, ReadingWords>();

function cachedReadingWords(reading: Reading): ReadingWords {
  const key = JSON.stringify([reading.name, reading.class, reading.kind, reading.unit]);
  const words = known.get(key) ?? parseReadingWords(reading);
  if (known.size >= OWN_WORDS_MAX) known.clear();
  known.set(key, words);
  return words;
}

function parseReadingWords({ name, class: of, kind, unit }: Reading): ReadingWords {
  const folded = withPhrases(fold(`${name} ${of ?? ""} ${kind}`.replaceAll("_", " ")));
  const words = wordsOf(folded);
  const special = words.filter((word) => /^(?:colourtemp|targettemp|soilmoisture)$/.test(word));
  const unitClass = unit === undefined ? undefined : classOfUnit(unit);
  const aside = ["number", "select", "text"].includes(kind) || OF_MACHINE.test(folded);
  const kinds = classesOf(kind);
  if (special.length > 0) return { classes: special, by: 0, words, aside };
  if (of !== undefined) return { classes: [of, ...kinds], by: 0, words, aside };
  if (unitClass !== undefined) return { classes: [unitClass], by: 1, words, aside };
  return { classes: [...words.flatMap(classesOf), ...kinds], by: 2, words, aside };
}

/** A word for a class counts where the reading is of it; another one where the name, class or kind has it. */
function isOwn({ word, classes }: AskedWord, own: ReadingWords): boolean {
  if (classes.length === 0)
    return own.words.includes(word) || own.words.some((one) => stem(one) === stem(word));
  return classes.some((name) => own.classes.includes(name));
}

/** A battery's temperature is also asked for by "battery", which alone would not do. */
function isInName({ word, classes }: AskedWord, { words }: ReadingWords): boolean {
  return words.some((one) => stem(one) === stem(word) || isNamedBy(one, classes));
}

function isOfDevice({ word, classes, states }: AskedWord, { words, stems }: DeviceWords): boolean {
  if (words.has(word) || stems.has(stem(word))) return true;
  // "Bad" is the Badezimmer. States have opposites among their synonyms.
  const alike = states.length === 0 ? [...(synonyms().get(stem(word)) ?? [])] : [];
  if (alike.some((one) => !isSign(one) && stems.has(one))) return true;
  for (const one of words) if (isPart(word, one) || (!isSign(one) && isNamedBy(one, classes))) return true;
  return false;
}

function isPart(word: string, one: string): boolean {
  if (isUnspaced(word)) return word.length > 2 && one.length === 2 && word.includes(one);
  const isEnd = word.length > 3 && one.length > word.length;
  return areForms(word, one) || (isEnd && (one.startsWith(word) || one.endsWith(word)));
}

/** A single sign is part of many words: 窗 of a curtain. */
function isSign(word: string): boolean {
  return word.length === 1 && isUnspaced(word);
}

function isNamedBy(word: string, classes: readonly string[]): boolean {
  return classes.length > 0 && classesOf(word).some((name) => classes.includes(name));
}

function rank(words: readonly AskedWord[], own: ReadingWords): number {
  const isAsked = words.some(({ word }) => OF_MACHINE.test(word) && own.words.includes(word));
  // A plug that is called night light is no light.
  const isOther = words.some((one) => one.classes.length > 0 && !isOwn(one, own));
  return own.by + (isOther ? 3 : 0) + (own.aside && !isAsked ? 4 : 0);
}

/** Tells whether a reading's state is the word's. @param isNamed the condition says more, so a cover's position counts as its state */
function hasState(reading: Reading, word: string, states: readonly string[], isNamed: boolean): boolean {
  const { text, value, class: of, unit, kind } = reading;
  if (states.includes("low") && of === "battery" && unit === "%" && typeof value === "number")
    return value <= LOW_BATTERY_PERCENT;
  if (isNamed && kind === "cover" && typeof value === "number" && unit === "%")
    return states.includes(value > 0 ? "open" : "closed");
  const told = wordsOf(text);
  if (told.includes(word)) return states.length === 0 || !isNegated(text);
  return !isNegated(text) && told.some((one) => statesOf(one).some((state) => states.includes(state)));
}

function isNegated(text: string): boolean {
  return /^(?:no|not) /i.test(text);
}

/** The state after `=`: as the reading has it, or in another language. */
function isValue({ words, value, values }: Condition, reading: Reading): boolean {
  const { text, value: own } = reading;
  if (fold(text) === value || fold(String(own)) === value) return true;
  const isOnOff = (states: readonly string[]) =>
    typeof own === "boolean" && states.includes(own ? "on" : "off");
  return (
    values.length > 0 &&
    values.every(({ word, states }) => hasState(reading, word, states, words.length > 0) || isOnOff(states))
  );
}

function numberOf({ value }: Reading): number | undefined {
  if (typeof value === "number") return value;
  const text =
    typeof value === "string" ? /^\s*([-+]?\d+(?:[.,]\d+)?)\s*\D{0,8}$/.exec(value)?.[1] : undefined;
  return text === undefined ? undefined : Number(text.replace(",", "."));
}

const PREFIX: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, m: 1e-3 };

/** A number of the condition in the reading's unit: 1 kW is 1000 W, 77 °F are 25 °C. Another unit leaves it as it is. */
function inUnit(number: number, asked: string | undefined, unit: string | undefined): number {
  if (asked === undefined || unit === undefined || asked === unit) return number;
  if (/^°?F$/.test(asked) && unit === "°C") return (number - 32) / 1.8;
  if (/^°?C$/.test(asked) && unit === "°F") return number * 1.8 + 32;
  const factor = (of: string, base: string) => (of.slice(1) === base ? PREFIX[of.charAt(0)] : undefined);
  const up = factor(asked, unit);
  const down = factor(unit, asked);
  return up !== undefined ? number * up : down !== undefined ? number / down : number;
}

function compared(value: number, compare: Condition["compare"], to: number): boolean {
  if (compare === "<") return value < to;
  if (compare === "<=") return value <= to;
  if (compare === ">") return value > to;
  return compare === ">=" ? value >= to : value === to;
}

/** Tells whether a word names a class or a state, or stands among these. */
export function isKnownWord(asked: AskedWord, words: DeviceWords): boolean {
  return asked.classes.length + asked.states.length > 0 || isOfDevice(asked, words);
}
