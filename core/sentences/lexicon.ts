/** A language's words, ready to be looked up. Pure. */
import { fold } from "../agents/words.ts";
import type { Language } from "../text/languages.ts";
import { ACTIONS, COLORS, OPTIONS, READINGS, STATES, THING_TYPES, UNITS } from "./frame.ts";
import { type LanguageData, numberForms, phrasesOf } from "./language.ts";
import type { Meaning, Role } from "./roles.ts";
import { keyOf } from "./words.ts";

export type Lexicon = {
  language: Language;
  /** By phrase: each way to read it, as the roles that it plays. */
  phrases: ReadonlyMap<string, ReadonlyArray<readonly Meaning[]>>;
  /** Words of the longest phrase. */
  longest: number;
  /** Single words, for "Did you mean …?". */
  vocabulary(): Iterable<string>;
  /** Letters between the parts of a compound. Undefined: the language writes none. */
  links: readonly string[] | undefined;
  endings: readonly string[];
  hasCases: boolean;
};

/** Letters, and the signs of a row: its phrases are keys as they stand. */
const PLAIN_ROW = /^[a-z ,()[\]|]*$/;

/** @throws Error at a row whose role or value does not exist; the tests load each language */
export function makeLexicon(data: LanguageData): Lexicon {
  const phrases = new Map<string, Array<readonly Meaning[]>>();
  let longest = 1;
  const add = (key: string, meanings: readonly Meaning[]): void => {
    const known = phrases.get(key);
    if (known) known.push(meanings);
    else phrases.set(key, [meanings]);
    let words = 1;
    for (let at = key.indexOf(" "); at >= 0; at = key.indexOf(" ", at + 1)) words += 1;
    if (words > longest) longest = words;
  };
  for (const [roles, row = ""] of Object.entries(data.phrases)) {
    const meanings = roles.split(" ").map((one) => meaningOf(one));
    // A row at once: a phrase each would take a cold start several times as long.
    const folded = fold(row);
    const isPlain = PLAIN_ROW.test(folded);
    for (const phrase of phrasesOf(folded)) add(isPlain ? phrase : keyOf(phrase), meanings);
  }
  markVerbs(phrases);
  for (const [form, number] of numberForms(data.numbers))
    add(keyOf(form), [{ role: "number", value: { number, small: number < 2 } }]);
  const endings = data.endings ?? "";
  return {
    language: data.code,
    phrases,
    longest,
    *vocabulary() {
      for (const key of phrases.keys()) yield* key.split(" ");
    },
    links:
      data.compounds === undefined ? undefined : ["", ...data.compounds.split(",").map((one) => one.trim())],
    endings: endings === "cases" || endings === "" ? [] : endings.split(",").map((one) => one.trim()),
    hasCases: endings === "cases",
  };
}

function markVerbs(phrases: Map<string, Array<readonly Meaning[]>>): void {
  for (const [key, ways] of phrases) {
    if (ways.length < 2 || !ways.some(([first, second]) => first?.role === "act" && !second)) continue;
    const marked = ways.map((way) =>
      way.map(
        (one): Meaning => (one.role === "type" ? { ...one, value: { ...one.value, isVerb: true } } : one),
      ),
    );
    phrases.set(key, marked);
  }
}

/** Roles without a value. */
const PLAIN: ReadonlySet<string> = new Set<Role>([
  ..."filler prep in a request ensure be exist show all each everything and or half and_half point to level by minus changes becomes both".split(
    " ",
  ),
  ..."watch remind timer that model help at for after every oclock".split(" "),
] as Role[]);

const WORD_NUMBERS: Readonly<Record<string, "many" | "either">> = { "+": "many", "~": "either" };

const LISTED: Readonly<Record<string, readonly string[]>> = {
  do: ["any", "lock", "raise", "lower", "stop", "run", "flip", "power"],
  change: ["raise", "lower"],
  ask: ["value", "yes_no", "which", "count", "any", "all"],
  reading: READINGS,
  it: ["one", "many"],
  here: ["here", "home"],
  color: COLORS,
  white: ["warm", "neutral", "cold"],
  option: OPTIONS,
  bound: ["minimum", "maximum"],
  unit: UNITS,
  compare: ["above", "below", "equal"],
  share: ["free", "used"],
  stop: ["negation", "exception", "condition", "delay", "quotation", "question", "general", "no_sense"],
  clock: ["time", "date"],
  ack: ["ack", "snooze"],
  cancel: ["cancel", "pause", "resume"],
  days: ["mo", "tu", "we", "th", "fr", "sa", "su", "day", "weekday", "weekend", "hour", "today", "tomorrow"],
  daily: ["day", "hour"],
  part: ["am", "pm", "morning", "noon", "evening", "night"],
};

const EITHER: Readonly<Record<string, readonly string[]>> = {
  act: ACTIONS,
  particle: ACTIONS,
  state: STATES,
};
const RULES = ["rule", "watch", "reminder", "briefing"];
const ONE_DAY = /^(?:mo|tu|we|th|fr|sa|su)$/;

function meaningOf(key: string): Meaning {
  const [role = "", word = ""] = key.split(":");
  const value = word === "" && PLAIN.has(role) ? null : valueFor(role, role === "do" ? word || "any" : word);
  if (value === undefined) throw new Error(`phrases: '${key}' is no role with a value of it`);
  // SAFETY: the value was looked up by the role.
  return { role, value } as Meaning;
}

function valueFor(role: string, word: string): unknown {
  const suffix = WORD_NUMBERS[word.slice(-1)];
  const bare = suffix === undefined ? word : word.slice(0, -1);
  const number = suffix ?? "one";
  if (role === "type") return isOneOf(THING_TYPES, bare) ? { type: bare, number } : undefined;
  if (role === "rule") return isOneOf(RULES, bare) ? { of: bare, number } : undefined;
  if (role === "span" || role === "minutes") return word === "" ? undefined : Number(word);
  const either = EITHER[role];
  if (either) {
    const [is = "", or] = word.split("/");
    if (!isOneOf(either, is) || (or !== undefined && !isOneOf(either, or))) return undefined;
    return or === undefined ? { is } : { is, or };
  }
  if (!isOneOf(LISTED[role] ?? [], word)) return undefined;
  return role === "days" && ONE_DAY.test(word) ? [word] : word;
}

function isOneOf(list: readonly string[], word: string): boolean {
  return list.includes(word);
}
