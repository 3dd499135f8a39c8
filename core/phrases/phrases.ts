/** Writes what edgecall says to a person, in one language. Pure: a language is plain data. */

import type { Language } from "../text/languages.ts";
import { numberText } from "../text/quantity.ts";
import {
  DAY_MS,
  HOUR_MS,
  type LocalTime,
  localTime,
  MINUTE_MS,
  WEEKDAYS,
  type Weekday,
} from "../time/zone.ts";
import { en } from "./languages/en.ts";
import type {
  ActWord,
  KindWord,
  MessageKey,
  NeedsOf,
  ParametersOf,
  PhraseData,
  ReadingWord,
  StateClass,
} from "./languages/phrase-data.ts";
import { readingWord } from "./reading-names.ts";

const PLACEHOLDER = /\{(\w+)\}/g;

type Given<Needs> = [keyof Needs] extends [never] ? [] : [Needs];
type Arguments<Key extends MessageKey> = Given<ParametersOf<Key>>;

export class Phrases {
  readonly language: Language;
  readonly #data: PhraseData;
  /** Made when first needed: each takes longer than all of a message. */
  #plural: Intl.PluralRules | undefined;
  #decimalSign: string | undefined;
  readonly #lists = new Map<string, Intl.ListFormat>();

  constructor(data: PhraseData) {
    this.#data = data;
    this.language = data.language;
  }

  /** One message. What stands in for a placeholder is written as it is, whatever is in it. */
  say<Key extends MessageKey>(key: Key, ...[parameters]: Arguments<Key>): string {
    return this.#filled(this.#data.messages[key], parameters);
  }

  /** One message of those that not every program has. @param english their table: it stands in where the language was read without them */
  sayOf<Table extends Readonly<Record<string, string>>, Key extends keyof Table & string>(
    english: Table,
    key: Key,
    ...[parameters]: Given<NeedsOf<Table[Key]>>
  ): string {
    return this.#filled(this.#data.more?.[key] ?? english[key] ?? "", parameters);
  }

  #filled(message: string, parameters: object = {}): string {
    const given = parameters as Record<string, number | string>;
    const text = this.#form(message, given.count);
    return text.replace(PLACEHOLDER, (whole, name: string) => {
      const value = given[name];
      if (value !== undefined) return String(value);
      const word = given[name[0]?.toLowerCase() + name.slice(1)];
      return word === undefined ? whole : this.capital(String(word));
    });
  }

  /** Sentences after one another; empty ones are left out. */
  sentences(...texts: readonly string[]): string {
    return texts.filter((text) => text !== "").join(this.#data.space);
  }

  /** Parts of one sentence; empty ones are left out. */
  parts(...texts: readonly string[]): string {
    return texts.filter((text) => text !== "").join(this.#data.comma);
  }

  /** @param how `and`: "a, b and c"; `or`: "a, b or c"; `plain`: "a, b, c" */
  list(items: readonly string[], how: "and" | "or" | "plain"): string {
    if (how === "plain") return items.join(this.#data.listComma);
    const type = how === "and" ? "conjunction" : "disjunction";
    const known = this.#lists.get(type);
    const format = known ?? new Intl.ListFormat(this.#data.locale, { type });
    this.#lists.set(type, format);
    return format.format(items);
  }

  /** All digits that were reported, with this language's decimal sign and a true minus. */
  number(value: number): string {
    this.#decimalSign ??= new Intl.NumberFormat(this.#data.locale)
      .formatToParts(0.5)
      .find(({ type }) => type === "decimal")?.value;
    return numberText(value)
      .replace("-", "−")
      .replace(".", this.#decimalSign ?? ".");
  }

  /** A number with the unit that was reported, or a boolean in its words. */
  figure(value: number | boolean, unit?: string): string {
    const [on, off] = this.#data.states.on;
    const figure = typeof value === "number" ? this.number(value) : value ? on : off;
    return unit === undefined ? figure : `${figure} ${unit}`;
  }

  /** `40 s`, `49 min`, `2 h 5 min`, `3 days 4 h`. A negative span is none. */
  span(ms: number): string {
    const span = Math.max(0, ms);
    if (span < MINUTE_MS) return this.say("seconds", { count: Math.round(span / 1_000) });
    const minutes = Math.round(span / MINUTE_MS);
    if (minutes < 60) return this.say("minutes", { count: minutes });
    const [large, small] = span < DAY_MS ? (["hours", "minutes"] as const) : (["days", "hours"] as const);
    const [units, base] = span < DAY_MS ? [minutes, 60] : [Math.round(span / HOUR_MS), 24];
    const rest = units % base;
    const whole = this.say(large, { count: Math.floor(units / base) });
    return rest === 0 ? whole : `${whole} ${this.say(small, { count: rest })}`;
  }

  /**
   * A time of the home's clock. `at` and `now` are epoch ms.
   * @param now when it is read: on the same day the time alone is enough. Absent: with the day and the year
   */
  time(at: number, zone: string, now?: number): string {
    const local = localTime(zone, at);
    const today = now === undefined ? undefined : localTime(zone, now);
    const time = `${two(local.hour)}:${two(local.minute)}`;
    if (today && isSameDay(local, today)) return time;
    return this.say("dayTime", { day: this.#day(local, today?.year !== local.year), time });
  }

  /** The day of the home's calendar, with its year. @param at epoch ms */
  date(at: number, zone: string): string {
    return this.#day(localTime(zone, at), true);
  }

  /** `Mon` */
  weekday(day: Weekday): string {
    return this.#data.weekdays.split(" ")[WEEKDAYS.indexOf(day)] ?? "";
  }

  /** The words of a binary sensor's class, or those of on and off. */
  stateWords(deviceClass: string | undefined): readonly [on: string, off: string] {
    const { states } = this.#data;
    return isKeyOf(states, deviceClass) ? states[deviceClass] : states.on;
  }

  /** The same words for a pair that is given in English, as rules keep it. @returns undefined: it is a device's own */
  stateWordsOf(yes: string, no: string): readonly [yes: string, no: string] | undefined {
    const found = Object.entries(en.states).find(([, [on, off]]) => on === yes && off === no);
    return found && this.#data.states[found[0] as StateClass];
  }

  /** A value that a device reports as a word. Unknown ones stay as they are. */
  value(word: string): string {
    const { values } = this.#data;
    const key = word.toLowerCase().replaceAll(" ", "_");
    return isKeyOf(values, key) ? values[key] : word;
  }

  reading(word: ReadingWord): string {
    return this.#data.readings[word];
  }

  /** A reading by the name that its device has for it. Devices name theirs in English; unknown ones stay as they are. */
  readingName(name: string): string {
    if (this.language === "en") return name;
    const word = readingWord(name);
    return word === undefined ? name : this.#data.readings[word];
  }

  act(word: ActWord): string {
    return this.#data.acts[word];
  }

  /** `lights`; with `count` one, `light` */
  kind(word: KindWord, count: number): string {
    return this.#form(this.#data.kinds[word], count);
  }

  #form(text: string, count: unknown): string {
    if (typeof count !== "number" || !text.includes("|")) return text;
    const { locale, plurals } = this.#data;
    this.#plural ??= new Intl.PluralRules(locale);
    const forms = text.split("|");
    const at = plurals.indexOf(this.#plural.select(count));
    return forms[at] ?? forms.at(-1) ?? text;
  }

  /** The text with a capital at its beginning. */
  capital(text: string): string {
    const [first = ""] = text;
    return first.toLocaleUpperCase(this.#data.locale) + text.slice(first.length);
  }

  #day({ year, month, day, weekday }: LocalTime, withYear: boolean): string {
    const names = {
      weekday: this.weekday(weekday),
      day: String(day),
      month: this.#data.months.split(" ")[month - 1] ?? "",
    };
    return withYear ? this.say("dayOfYear", { ...names, year: String(year) }) : this.say("day", names);
  }
}

/** English is always there. */
export const ENGLISH = new Phrases(en);

function isKeyOf<Table extends object>(table: Table, key: string | undefined): key is keyof Table & string {
  return key !== undefined && Object.hasOwn(table, key);
}

function isSameDay(a: LocalTime, b: LocalTime): boolean {
  return a.year === b.year && a.month === b.month && a.day === b.day;
}

function two(n: number): string {
  return String(n).padStart(2, "0");
}
