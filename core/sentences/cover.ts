/** The ways to read a sentence: stretches of words, each a phrase or a name, that cover all of it. Pure. */
import type { Lexicon } from "./lexicon.ts";
import type { NameTable } from "./names.ts";
import type { Item, Meaning, Role } from "./roles.ts";
import { isUnspaced, type Word } from "./words.ts";

/** A stretch that begins at a word, and the roles that it plays. */
type Span = { readonly to: number; meanings: readonly Meaning[] };

/** The spans that begin at each word. */
export type Spans = ReadonlyArray<readonly Span[]>;

/** Spans that are tried for a sentence in a language. */
export const STEPS_MAX = 4_000;

export type Steps = { left: number };

const COMMA = /^[,，、]$/;
const BETWEEN = /^[,，、;；.。!！]$/;

export function spansOf(words: readonly Word[], lexicon: Lexicon, names: NameTable): Spans {
  const said = words.map(({ text }) => text);
  const spans: Span[][] = words.map(ownSpans);
  for (const [from, at] of spans.entries()) {
    addPhrases(at, from, said, lexicon);
    addNames(at, from, said, lexicon, names);
  }
  for (const [from, at] of spans.entries()) {
    const isKnown =
      at.length > 0 || spans.some((others, begin) => begin < from && others.some(({ to }) => to > from));
    if (!isKnown)
      for (const meanings of wordForms(said[from] ?? "", lexicon, names)) at.push({ to: from + 1, meanings });
  }
  return spans.map((at, from) => at.filter((span) => !isArticle(spans, from, span)));
}

const NOUNS: ReadonlySet<Role> = new Set<Role>(["name", "type"]);

/** The pronoun of "allume la" is an article before a noun: "allume la liseuse". */
function isArticle(spans: Spans, from: number, { to, meanings }: Span): boolean {
  const has = (at: number, end: number | undefined, isIt: (role: Role) => boolean) =>
    spans[at]?.some(
      (one) => (end === undefined || one.to === end) && one.meanings.some(({ role }) => isIt(role)),
    ) === true;
  return (
    to - from > 1 &&
    meanings.some(({ role }) => role === "it") &&
    has(to, undefined, (role) => NOUNS.has(role)) &&
    has(to - 1, to, (role) => role === "filler") &&
    has(from, to - 1, (role) => role === "act")
  );
}

function addPhrases(at: Span[], from: number, said: readonly string[], lexicon: Lexicon): void {
  let key = "";
  const end = Math.min(said.length, from + lexicon.longest + 1);
  for (let to = from + 1; to <= end; to += 1) {
    // "Sag mir Bescheid, wenn …"
    if (to > from + 1 && COMMA.test(said[to - 1] ?? "")) continue;
    key = to === from + 1 ? (said[from] ?? "") : `${key} ${said[to - 1]}`;
    for (const meanings of lexicon.phrases.get(key) ?? []) at.push({ to, meanings });
  }
}

/** Ways to write a name out of forms of its words that are looked up. */
const KEYS_MAX = 9;

function addNames(
  at: Span[],
  from: number,
  said: readonly string[],
  lexicon: Lexicon,
  names: NameTable,
): void {
  let keys: string[] = [];
  let exact = "";
  const end = Math.min(said.length, from + names.longest);
  for (let to = from + 1; to <= end; to += 1) {
    const word = said[to - 1] ?? "";
    const forms = formsOf(word, lexicon, names).filter(
      (form) => to > from + 1 || !isOtherThing(word, form, lexicon) || !isPlaced(said, to, lexicon, names),
    );
    const isFirst = to === from + 1;
    exact = isFirst ? word : `${exact} ${word}`;
    keys = isFirst ? forms : keys.flatMap((key) => forms.map((form) => `${key} ${form}`)).slice(0, KEYS_MAX);
    if (keys.length === 0) return;
    // A name as it was said is no form of another one.
    for (const key of names.has(exact) ? [exact] : keys)
      for (const meaning of isOtherThing(exact, key, lexicon) ? [] : names.get(key))
        addName(at, { to, meanings: [meaning] }, key, lexicon);
  }
  // "Wohnzimmer Lampe", "bed room" of a name that is one word.
  if (from + 1 < said.length && !names.has(`${said[from]} ${said[from + 1]}`))
    for (const meaning of names.get(`${said[from]}${said[from + 1]}`))
      at.push({ to: from + 2, meanings: [meaning] });
}

/** Roles of words that a publisher could put into a name, and so turn "all lights" into its own device. */
const GRAMMAR = rolesOf("all each everything it and stop");
/** Roles whose words are no name by themselves, also where a person gave it: in "off on" neither is one. */
const NO_NAMES = rolesOf("all each everything it and stop particle act do be to in");

function rolesOf(roles: string): ReadonlySet<Role> {
  return new Set(roles.split(" ") as Role[]);
}

const STRETCH_MAX = 3;

/** The words of a key and the phrases of few words in it. A single sign of a script without blanks is no word. */
function stretchesOf(key: string): string[] {
  const words = key.split(" ");
  const found: string[] = [];
  for (let from = 0; from < words.length; from += 1)
    for (let to = from + 1; to <= Math.min(words.length, from + STRETCH_MAX); to += 1)
      if (to > from + 1 || !isUnspaced(words[from] ?? "")) found.push(words.slice(from, to).join(" "));
  return found;
}

/**
 * A name that is a word of a type stands with that type: target.ts chooses. Another one counts, unless it is a word such as "off", or a
 * publisher's with a word such as "all" in it.
 */
function addName(at: Span[], span: Span, key: string, lexicon: Lexicon): void {
  const [name] = span.meanings;
  const has = (words: string, roles: ReadonlySet<Role>) =>
    lexicon.phrases.get(words)?.some((meanings) => meanings.some(({ role }) => roles.has(role))) ?? false;
  if (name?.role !== "name") {
    at.push(span);
    return;
  }
  const phrases = at.filter((one) => one.to === span.to && lexicon.phrases.get(key)?.includes(one.meanings));
  let isType = false;
  for (const phrase of phrases) {
    const [type] = phrase.meanings;
    if (type?.role !== "type" || phrase.meanings.length > 1) continue;
    phrase.meanings = [{ role: "type", value: { ...type.value, named: name.value } }];
    isType = true;
  }
  if (isType) return;
  const isWord = name.value.own
    ? has(key, NO_NAMES)
    : phrases.length > 0 || stretchesOf(key).some((words) => has(words, GRAMMAR));
  if (!isWord) at.push(span);
}

/** Roles of words that may be another case of a name's word: "lampę" of the name "Lampa do czytania". */
const THINGS = rolesOf("type reading color");

/** The word, or the words of names of which it may be another form. A word that says what to do is itself. */
function formsOf(word: string, lexicon: Lexicon, names: NameTable): string[] {
  if (word.length < 4) return [word];
  const known = lexicon.phrases.get(word);
  if (lexicon.hasCases) {
    if (known && !known.every((meanings) => meanings.every(({ role }) => THINGS.has(role)))) return [word];
    const bases = names.formsOf(word);
    return bases.length === 0 || names.words().has(word) ? [word, ...bases] : bases.slice(0, KEYS_MAX);
  }
  // A whole name is found without the words of all others, which a cold start would have to collect.
  if (known || names.has(word) || names.words().has(word)) return [word];
  const bases = lexicon.endings
    .filter((ending) => word.endsWith(ending))
    .map((ending) => word.slice(0, -ending.length))
    .filter((base) => base.length > 2 && names.words().has(base));
  return bases.length > 0 ? bases : [word];
}

/** "światła w sypialni" are all of them, and no case of the name "Światło w sypialni". "lampy do czytania" may be one lamp's. */
function isPlaced(said: readonly string[], at: number, lexicon: Lexicon, names: NameTable): boolean {
  const [before, place] = [said[at], said[at + 1]];
  if (before === undefined || place === undefined) return false;
  const isIn = lexicon.phrases.get(before)?.some(([first]) => first?.role === "in") ?? false;
  const isArea = (form: string) => names.get(form).some(({ role }) => role === "area");
  return isIn && formsOf(place, lexicon, names).some(isArea);
}

/** "lampy" is the plural of "lampa", and no case of the name "Lampa". */
function isOtherThing(said: string, key: string, lexicon: Lexicon): boolean {
  if (said === key) return false;
  const [one, other] = [lexicon.phrases.get(said), lexicon.phrases.get(key)];
  return one !== undefined && other !== undefined && !one.some((meanings) => other.includes(meanings));
}

/** Numbers, times and signs between parts have their roles in each language. */
function ownSpans(word: Word, at: number): Span[] {
  const span = (meaning: Meaning): Span => ({ to: at + 1, meanings: [meaning] });
  if (word.number !== undefined)
    return [span({ role: "number", value: { number: word.number, small: false } })];
  if (word.clock !== undefined) return [span({ role: "time", value: { minutes: word.clock } })];
  if (/^[?？]$/.test(word.text)) return [span({ role: "filler", value: null })];
  if (BETWEEN.test(word.text))
    return [span({ role: "filler", value: null }), span({ role: "and", value: null })];
  return [];
}

/** Roles that may stand within a compound. */
const PARTS = rolesOf("type reading area floor name");

/** A longer run of letters is no compound of any language. To look for its cuts would take time by the square of its length. */
const COMPOUND_CHARS_MAX = 64;

/** A word of a type or reading with an ending ("des Thermostats"), or else a compound. */
function wordForms(word: string, lexicon: Lexicon, names: NameTable): Meaning[][] {
  if (word.length > COMPOUND_CHARS_MAX) return [];
  const endings = lexicon.links === undefined ? [] : lexicon.endings;
  const bases = endings.filter((one) => word.endsWith(one)).map((one) => word.slice(0, -one.length));
  const bent = bases.flatMap((base) => (base.length < 4 ? [] : partsOf(base, lexicon, names)));
  return bent.length > 0 ? bent.map((meaning) => [meaning]) : compound(word, lexicon, names);
}

/** "livingroom" of a name of two words, in any language. */
const NO_LINKS: readonly string[] = [""];

function compound(word: string, lexicon: Lexicon, names: NameTable): Meaning[][] {
  const found: Meaning[][] = [];
  for (let cut = 3; cut <= word.length - 3; cut += 1) {
    const right = word.slice(cut);
    const rights = lexicon.links === undefined ? [] : partsOf(right, lexicon, names);
    for (const link of lexicon.links ?? NO_LINKS) {
      if (!word.slice(0, cut).endsWith(link)) continue;
      const left = word.slice(0, cut - link.length);
      if (left.length < 3) continue;
      for (const meaning of names.get(`${left} ${right}`)) found.push([meaning]);
      if (rights.length === 0) continue;
      for (const first of partsOf(left, lexicon, names))
        for (const second of rights) if (first.role !== second.role) found.push([first, second]);
    }
  }
  return found;
}

function partsOf(word: string, lexicon: Lexicon, names: NameTable): Meaning[] {
  const phrases = (lexicon.phrases.get(word) ?? []).flatMap((meanings) =>
    meanings.length === 1 ? meanings : [],
  );
  return [...phrases, ...names.get(word)].filter(({ role }) => PARTS.has(role));
}

/** The fewest spans that cover the words from each on to `end`; Infinity where none do. */
export function costs(spans: Spans, end: number): number[] {
  const least: number[] = new Array(end + 1).fill(Number.POSITIVE_INFINITY);
  least[end] = 0;
  for (let from = end - 1; from >= 0; from -= 1)
    for (const { to } of spans[from] ?? [])
      if (to <= end) least[from] = Math.min(least[from] ?? 0, 1 + (least[to] ?? 0));
  return least;
}

/**
 * All covers of `from` to `end` by exactly `cost` spans.
 * @returns by `found`, for each; it stops where the steps are used up
 */
export function covers(
  spans: Spans,
  [from, end]: readonly [from: number, end: number],
  cost: number,
  least: readonly number[],
  steps: Steps,
  found: (items: readonly Item[]) => void,
): void {
  const items: Item[] = [];
  const walk = (at: number, left: number): void => {
    if (at === end) {
      if (left === 0) found(items.slice());
      return;
    }
    for (const span of spans[at] ?? []) {
      const { to, meanings } = span;
      if (to > end || 1 + (least[to] ?? 0) > left || isIdle(spans, at, span)) continue;
      if (steps.left <= 0) return;
      steps.left -= 1;
      for (const meaning of meanings) items.push({ ...meaning, at, to } as Item);
      walk(to, left - 1);
      items.length -= meanings.length;
    }
  };
  walk(from, cost);
}

/** "to the film scene": as many words of a name may stand before it. */
const SCENE_WORDS = 5;
const IDLE: ReadonlySet<Role> = new Set<Role>(["that", "at", "to"]);

/** A word that reminders, times and values have for themselves, where it has another role: "a" of "fecha a porta" is no "at". */
function isIdle(spans: Spans, from: number, { to, meanings }: Span): boolean {
  const roles = meanings.map(({ role }) => role);
  if (!roles.every((role) => IDLE.has(role))) return false;
  const isScene = (one: Meaning) => one.role === "type" && one.value.type === "scene";
  const behind = spans.slice(to, to + SCENE_WORDS).flatMap((at) => at.flatMap((one) => one.meanings));
  const next = spans[to]?.flatMap((one) => one.meanings) ?? [];
  const isBeforeNoun = next.length > 0 && next.every(({ role }) => NOUNS.has(role)) && !behind.some(isScene);
  if (!roles.includes("that") && !isBeforeNoun) return false;
  return (spans[from] ?? []).some((one) => one.to === to && one.meanings.some(({ role }) => !IDLE.has(role)));
}

/** @returns the first word that no span has, or at which the covers from the beginning end */
export function unknownAt(spans: Spans): number {
  const known = new Set<number>();
  const reached = new Set([0]);
  for (const [from, at] of spans.entries())
    for (const { to } of at) {
      for (let word = from; word < to; word += 1) known.add(word);
      if (reached.has(from)) reached.add(to);
    }
  for (let word = 0; word < spans.length; word += 1) if (!known.has(word)) return word;
  return Math.max(...reached);
}
