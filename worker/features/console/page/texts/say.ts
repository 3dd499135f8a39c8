/**
 * The page's own texts in the person's language. English is in the first script; another language is a script of its own, which is loaded
 * before the page shows anything.
 */
import type { PhraseData } from "@edgecall/core/phrases/languages/phrase-data.ts";
import { CLASS_WORDS } from "@edgecall/core/text/class-words.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { en } from "./en.ts";

export type TextKey = keyof typeof en;
type Texts = Readonly<Record<TextKey, string>>;
/** A language other than English. `phrases`: what the gateway says in it, for the words of devices' states. */
export type Spoken = { phrases: PhraseData; texts: Texts };

/** A test has none. */
type Browser = { navigator?: { languages: readonly string[] } };

const PLACEHOLDER = /\{(\w+)\}/g;

let spoken: Spoken | undefined;

/** The tag by which `Intl` writes numbers and times. In English those of the browser's own kind of English. */
export function locale(): string | undefined {
  if (spoken) return spoken.phrases.locale;
  return (globalThis as Browser).navigator?.languages.find((one) => one.startsWith("en")) ?? "en";
}

export function language(): Language {
  return spoken?.phrases.language ?? "en";
}

/** @param chosen undefined: English */
export function setSpoken(chosen: Spoken | undefined): void {
  spoken = chosen;
}

/** One text. A number `count` chooses among its forms, which `|` separates. */
export function say(key: TextKey, given: Readonly<Record<string, number | string>> = {}): string {
  const forms = (spoken?.texts ?? en)[key].split("|");
  return formOf(forms, given.count).replace(PLACEHOLDER, (whole, name: string) => {
    const value = given[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? value.toLocaleString(locale()) : value;
  });
}

function formOf(forms: readonly string[], count: unknown): string {
  const plurals = spoken?.phrases.plurals ?? ["one", "other"];
  const at = typeof count === "number" ? plurals.indexOf(new Intl.PluralRules(locale()).select(count)) : -1;
  return forms[at] ?? forms.at(-1) ?? "";
}

/**
 * A state as a device reports it (`locked`). What is not known stays as it is.
 * @param of the class of a sensor that knows two states, and the one it is in: they have words of their own (`wet`)
 */
export function stateText(word: string, of?: { class: string | undefined; value: boolean }): string {
  const { values = {}, states = CLASS_WORDS }: Words = spoken?.phrases ?? {};
  const pair = of?.class !== undefined && Object.hasOwn(states, of.class) ? states[of.class] : undefined;
  const key = word.toLowerCase().replaceAll(" ", "_");
  return capital(pair?.[of?.value ? 0 : 1] ?? (Object.hasOwn(values, key) ? values[key] : undefined) ?? word);
}

type Words = {
  values?: Readonly<Record<string, string>>;
  states?: Readonly<Record<string, readonly [on: string, off: string]>>;
};

export function capital(text: string): string {
  const [first = ""] = text;
  return first.toLocaleUpperCase(locale()) + text.slice(first.length);
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

function largest(ms: number): { value: number; unit: (typeof UNITS)[number][0] } {
  const [unit, of] = UNITS.find(([name, size]) => ms >= size * (name === "day" ? 2 : 1)) ?? ["second", 1_000];
  return { value: Math.max(1, Math.round(ms / of)), unit };
}

/** `12 min`, `3 hr`. @param ms negative ones are none */
export function spanText(ms: number): string {
  const { value, unit } = largest(ms);
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "short" }).format(value);
}

/** `12 min ago` */
export function agoText(then: number, now: number): string {
  if (now - then < 5_000) return say("justNow");
  const { value, unit } = largest(now - then);
  return new Intl.RelativeTimeFormat(locale(), { style: "short", numeric: "always" }).format(-value, unit);
}

/** `13:58`; of another day with its date. */
export function timeText(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  const time = then.toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === today.toDateString()) return time;
  return `${then.toLocaleDateString(locale(), { day: "numeric", month: "short" })}, ${time}`;
}

export function numberText(value: number, digits = 1): string {
  return value.toLocaleString(locale(), { maximumFractionDigits: digits }).replace("-", "−");
}
