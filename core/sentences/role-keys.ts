/** The roles as a language's file names them, each a key such as `act:turn_on`. Pure. */
import {
  ACTIONS,
  COLORS,
  OPTIONS,
  PAST_FORMS,
  PAST_PERIODS,
  READINGS,
  STATES,
  THING_TYPES,
  UNITS,
  WHITES,
} from "./frame.ts";
import type { Meaning, Role } from "./roles.ts";

/** Roles without a value. */
const PLAIN: ReadonlySet<string> = new Set<Role>([
  ..."filler prep in a request ensure be exist show all each everything and or half and_half point to level by from minus changes becomes both".split(
    " ",
  ),
  ..."watch remind timer that model help at for after every oclock latest was tenseless".split(" "),
] as Role[]);

const WORD_NUMBERS: Readonly<Record<string, "many" | "either">> = { "+": "many", "~": "either" };

const LISTED: Readonly<Record<string, readonly string[]>> = {
  do: ["any", "lock", "raise", "lower", "stop", "run", "flip", "power"],
  change: ["raise", "lower"],
  ask: ["value", "yes_no", "which", "count", "any", "all"],
  reading: READINGS,
  it: ["one", "many"],
  here: ["here", "home"],
  color: [...COLORS, "other"],
  white: WHITES,
  option: OPTIONS,
  bound: ["minimum", "maximum"],
  unit: UNITS,
  compare: ["above", "below", "equal"],
  share: ["free", "used"],
  stop: [..."negation exception condition when then delay quotation question general no_sense".split(" ")],
  clock: ["time", "date"],
  ack: ["ack", "snooze"],
  cancel: ["cancel", "pause", "resume"],
  past: PAST_FORMS,
  period: PAST_PERIODS,
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

/** @throws Error at a role or a value that does not exist */
export function meaningOf(key: string): Meaning {
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

const RADIX = 36;

/** A key of several roles as the places of its parts in `roleKeys`. A part that has none stands for itself. */
export function shortKey(key: string): string {
  return key
    .split(" ")
    .map((one) => {
      const at = roleKeys().indexOf(one === "do" ? "do:any" : one);
      return at < 0 ? one : at.toString(RADIX);
    })
    .join(" ");
}

/** @param key of one role, or the short one of several */
export function meaningsOf(key: string, isShort: boolean): Meaning[] {
  return key.split(" ").map((one) => {
    const found = isShort && !one.includes(":") ? roleKeyAt(Number.parseInt(one, RADIX)) : one;
    return meaningOf(typeof found === "string" ? found : one);
  });
}

/** In an order that the build and the Worker share. `suffixes`: each word has so many keys. */
const GROUPS: ReadonlyArray<{ prefix: string; words: readonly string[]; suffixes: readonly string[] }> = [
  { prefix: "", words: [...PLAIN], suffixes: [""] },
  ...[...Object.entries(LISTED), ...Object.entries(EITHER)].map(([role, words]) => ({
    prefix: `${role}:`,
    words,
    suffixes: [""],
  })),
  { prefix: "type:", words: THING_TYPES, suffixes: ["", "+", "~"] },
  { prefix: "rule:", words: RULES, suffixes: ["", "+"] },
];

/** Keys of one role: a compiled language has its rows in their order. */
export function roleKeys(): string[] {
  return GROUPS.flatMap(({ prefix, words, suffixes }) =>
    words.flatMap((word) => suffixes.map((suffix) => prefix + word + suffix)),
  );
}

/** The key at a place of `roleKeys`, without the others, which a cold start would wait for. */
export function roleKeyAt(place: number): string | { beyond: number } {
  let left = place;
  for (const { prefix, words, suffixes } of GROUPS) {
    const word = words[Math.floor(left / suffixes.length)];
    if (word !== undefined) return prefix + word + (suffixes[left % suffixes.length] ?? "");
    left -= words.length * suffixes.length;
  }
  return { beyond: left };
}
