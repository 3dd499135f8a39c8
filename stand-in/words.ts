/** Words of a text, brought to a form in which "busiest processes" meets a tool called `list_processes`. */
import { type Literals, readLiterals } from "./literals.ts";

/** Says nothing about what is asked for. */
const FILLERS = new Set(
  (
    "a about all also am an and any are as ask at be been but by can could did do does for from give had has have " +
    "he her here him his how i if in into is it its just know let like many may me more most much my need no not of " +
    "off on one or our out please she should so some such tell than that the their them then there these they thing " +
    "this to too up us using very want was we were what when where which who why will with would you your"
  ).split(" "),
);

/**
 * Words that half of all tools have in their names. They tell between tools that something else speaks
 * for ("git status", "git log"), and never speak for a tool alone ("memory usage" is not `disk_usage`).
 */
const GENERIC = new Set(
  (
    "agent call check current currently data detail device edge fetch find get info information list look level " +
    "machine make name now number open output percent print query question read report result return run say " +
    "sensor set show stat state statu status tool top unit usage use used value write"
  ).split(" "),
);

/**
 * Very common words for what tools call otherwise. `means` is what to look for; when the question itself
 * has one of `meets`, the word only says more about that ("busiest processes", "how full is the memory").
 */
type Synonym = { means: readonly string[]; meets: readonly string[] };

const SYNONYMS: ReadonlyMap<string, Synonym> = new Map(
  (
    [
      ["ram", ["memory"], ["memory"]],
      [
        ["hot", "warm", "cold", "cool", "heat", "degree", "celsius", "temp"],
        ["temperature"],
        ["temperature"],
      ],
      [["full", "space", "storage", "filesystem", "drive"], ["disk"], ["disk", "memory"]],
      [
        ["busy", "load"],
        ["cpu", "process"],
        ["cpu", "process", "memory", "disk", "network"],
      ],
      [["processor"], ["cpu"], ["cpu"]],
      [["program", "task", "app"], ["process"], ["process"]],
      [["uptime", "kernel", "os"], ["system"], ["system"]],
      [["ip", "wifi", "ethernet", "lan"], ["network"], ["network"]],
      [["content", "contain"], ["read"], ["read"]],
    ] as const
  ).flatMap(([words, means, meets]) =>
    (typeof words === "string" ? [words] : words).map((word): [string, Synonym] => [word, { means, meets }]),
  ),
);

/** What a question is about. */
export type Question = {
  text: string;
  /** Stems that speak for a tool, those that synonyms stand for included. */
  stems: ReadonlySet<string>;
  /** Stems that only tell between tools. */
  generic: ReadonlySet<string>;
  literals: Literals;
};

export function readQuestion(text: string): Question {
  const literals = readLiterals(text);
  // The words in a path or an address are not what the question is about.
  const own = new Set(
    stemsOf([...literals.urls, ...literals.paths].reduce((rest, one) => rest.replaceAll(one, " "), text)),
  );
  const stems = new Set<string>();
  const generic = new Set<string>();
  for (const stem of own) {
    if (GENERIC.has(stem)) generic.add(stem);
    else stems.add(stem);
    const synonym = SYNONYMS.get(stem);
    if (!synonym || synonym.meets.some((word) => own.has(word))) continue;
    for (const word of synonym.means) (GENERIC.has(word) ? generic : stems).add(word);
  }
  return { text, stems, generic, literals };
}

/** The stems of a text's words, fillers left out; `camelCase` and `snake_case` come apart. */
export function stemsOf(text: string): string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replace(/['’]s\b/g, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1 && !FILLERS.has(word))
    .map(stem);
}

/**
 * A light stemmer: only endings that tools' names and questions differ in. It may cut too much; both sides
 * are cut alike, so that costs nothing but a rare false meeting.
 */
function stem(word: string): string {
  let base = word;
  if (base.length > 4 && base.endsWith("ies")) return `${base.slice(0, -3)}y`;
  if (base.length > 5 && base.endsWith("iest")) return `${base.slice(0, -4)}y`;
  if (base.length > 4 && base.endsWith("ier")) return `${base.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh)es$/.test(base)) base = base.slice(0, -2);
  else if (base.length > 3 && /[^su]s$/.test(base) && !base.endsWith("is")) base = base.slice(0, -1);
  for (const ending of ["ing", "est", "er", "ed"]) {
    if (!base.endsWith(ending)) continue;
    const rest = base.slice(0, -ending.length);
    // "running" → "run", "hottest" → "hot"; but "rest", "number", "processed" need their length checked.
    if (/([bdgmnprt])\1$/.test(rest) && rest.length >= 4) return rest.slice(0, -1);
    if ((ending === "ing" || ending === "ed") && rest.length >= 4) return rest;
    if (ending === "est" && rest.length >= 4) return rest;
  }
  return base;
}

/** Whether the text names this id: as it stands, or with other joints (`living-room` as "living room"). */
export function names(text: string, id: string): boolean {
  const parts = id.split(/[-_\s]+/).filter(Boolean);
  if (parts.length === 0) return false;
  const pattern = parts.map(escapeRegExp).join("[-_\\s]*");
  return new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "iu").test(text);
}

/** The text as a pattern that matches it and nothing else. */
export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
