/** The roles as a language's file names them, each a key such as `act:turn_on`. Pure. */
import { ACTIONS, COLORS, OPTIONS, READINGS, STATES, THING_TYPES, UNITS, WHITES } from "./frame.ts";
import type { Meaning, Role } from "./roles.ts";

/** Roles without a value. */
const PLAIN: ReadonlySet<string> = new Set<Role>([
  ..."filler prep in a request ensure be exist show all each everything and or half and_half point to level by from minus changes becomes both".split(
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
  color: [...COLORS, "other"],
  white: WHITES,
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

let keys: readonly string[] | undefined;

/** Keys of one role, in an order that the build and the Worker share: a compiled language has its rows in it. */
export function roleKeys(): readonly string[] {
  keys ??= [
    ...PLAIN,
    ...[...Object.entries(LISTED), ...Object.entries(EITHER)].flatMap(([role, words]) =>
      words.map((word) => `${role}:${word}`),
    ),
    ...THING_TYPES.flatMap((type) => [`type:${type}`, `type:${type}+`, `type:${type}~`]),
    ...RULES.flatMap((rule) => [`rule:${rule}`, `rule:${rule}+`]),
  ];
  return keys;
}
