/**
 * Regular expressions of publishers, in RE2's engine: its time grows in proportion to the text and to the expression, where
 * JavaScript's own grows without bound. It knows no lookahead, lookbehind and backreference.
 */
import { RE2JS } from "re2js";

const PATTERN_MAX = 500;
/** Instructions of a compiled expression. 2,800 take about 30 ms and half a megabyte. */
const INSTRUCTIONS_MAX = 3_000;
/** Bound of all patterns that stay compiled. */
const KEPT_MAX = 20_000;

/** Constructs that RE2 does not have, with the words that name them. */
const UNKNOWN: ReadonlyArray<readonly [begin: RegExp, what: string]> = [
  [/^\(\?<?[=!]/, "a lookahead or lookbehind"],
  [/^\\[1-9]/, "a backreference"],
  [/^\(\?P=/, "a backreference"],
  [/^\(\?\(/, "a condition"],
];

export type Match = {
  start: number;
  end: number;
  /** The whole first; undefined: the group took no part. */
  groups: Array<string | undefined>;
};

/** An expression that was read, and is compiled when it is used first. */
export class Pattern {
  readonly source: string;
  /** At most so many instructions. */
  readonly size: number;
  readonly #ignoresCase: boolean;

  constructor(source: string, size: number, ignoresCase: boolean) {
    this.source = source;
    this.size = size;
    this.#ignoresCase = ignoresCase;
  }

  /** It is compiled, so the next use takes no time for that. */
  get isCompiled(): boolean {
    return COMPILED.has(this.#key);
  }

  /** The matches in their order, each found when it is asked for. Throws an Error in words when the expression is none. */
  *matches(text: string): Generator<Match> {
    const matcher = this.#compiled().matcher(text);
    while (matcher.find()) {
      const groups = Array.from(
        { length: matcher.groupCount() + 1 },
        (_, at) => matcher.group(at) ?? undefined,
      );
      yield { start: matcher.start(), end: matcher.end(), groups };
    }
  }

  /** Tells whether the text begins with it, as Python's re.match does. Throws as above. */
  begins(text: string): boolean {
    return this.#compiled().matcher(text).lookingAt();
  }

  /** Throws as above. */
  isIn(text: string): boolean {
    return this.#compiled().matcher(text).find();
  }

  /** Throws as above. @returns the number of a named group; undefined: there is none */
  groupNumber(name: string): number | undefined {
    return this.#compiled().namedGroups()[name];
  }

  get #key(): string {
    return `${this.#ignoresCase ? "i" : "c"}${this.source}`;
  }

  #compiled(): RE2JS {
    const known = COMPILED.get(this.#key);
    if (known) return known.program;
    let program: RE2JS;
    try {
      program = RE2JS.compile(pythonClasses(this.source), this.#ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
    } catch (error) {
      throw new Error(
        String(error instanceof Error ? error.message : error).replace(/^error parsing regexp: /, ""),
      );
    }
    kept += this.size;
    if (kept > KEPT_MAX) {
      COMPILED.clear();
      kept = this.size;
    }
    COMPILED.set(this.#key, { program });
    return program;
  }
}

const COMPILED = new Map<string, { program: RE2JS }>();
let kept = 0;

/** @returns problem: the end of a sentence that begins with "The pattern" */
export function readPattern(
  source: string,
  ignoresCase = false,
): { ok: true; pattern: Pattern } | { ok: false; problem: string } {
  if (source.length > PATTERN_MAX) return { ok: false, problem: `has more than ${PATTERN_MAX} characters` };
  const size = sizeOf(source);
  if (typeof size === "string") return { ok: false, problem: `has ${size}, which is not known here` };
  if (size > INSTRUCTIONS_MAX) return { ok: false, problem: "repeats too much: it would take too long" };
  return { ok: true, pattern: new Pattern(source, size, ignoresCase) };
}

const REPEAT = /\{(\d{1,4})(?:(,)(\d{0,4}))?\}/y;
const CLASS = /\[\^?\]?(?:[^\]\\[]|\\.|\[:\^?\w{1,10}:\]|\[)*\]/suy;

/** Instructions that an expression needs at most, found in one pass without compiling it. @returns a text: what is not known */
function sizeOf(source: string): number | string {
  const outer: number[] = [];
  let total = 1;
  let last = 0;
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at, at + 4);
    const unknown = UNKNOWN.find(([begin]) => begin.test(rest));
    if (unknown) return unknown[1];
    const letter = source[at];
    CLASS.lastIndex = at;
    REPEAT.lastIndex = at;
    const group = letter === "[" ? CLASS.exec(source)?.[0] : undefined;
    const repeat = letter === "{" ? REPEAT.exec(source) : null;
    let width = 1;
    if (letter === "(") {
      outer.push(total);
      total = 2;
      last = 0;
      // The question mark of (?: is no repetition.
      if (source[at + 1] === "?") width = 2;
    } else if (letter === ")") {
      last = total;
      total = (outer.pop() ?? 0) + total;
    } else if (repeat) {
      const times = Math.max(Number(repeat[1]), Number(repeat[3] || 0), 1);
      // Each optional repetition has an instruction that skips it.
      total += last * 2 * times;
      last *= 2 * times;
      width = repeat[0].length;
    } else if (letter !== undefined && "*+?|^$".includes(letter)) {
      total += 1;
    } else {
      if (letter === "\\") width = 2;
      if (group !== undefined) width = group.length;
      last = 1;
      total += 1;
    }
    at += width;
  }
  return total;
}

const WORDS: Readonly<Record<string, string>> = {
  d: "\\p{Nd}",
  w: "\\p{L}\\p{N}_",
  s: "\\s\\v\\x{85}\\x{a0}",
};

/** RE2's \d, \w and \s are those of ASCII, and Python's are those of all letters. */
function pythonClasses(source: string): string {
  let isClass = false;
  return source.replace(/\\(.)|\[\^?\]?|\]/gsu, (part, letter: string | undefined) => {
    if (letter === undefined) {
      isClass = part.startsWith("[") || (isClass && part !== "]");
      return part;
    }
    const word = WORDS[letter.toLowerCase()];
    if (letter === "Z" && !isClass) return "\\z";
    if (word === undefined) return part;
    if (letter !== letter.toLowerCase()) return isClass ? part : `[^${word}]`;
    return isClass ? word : `[${word}]`;
  });
}
