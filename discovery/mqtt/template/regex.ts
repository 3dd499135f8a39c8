/** The filters and tests with a regular expression. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, type Run, takes, textOr } from "./calls.ts";
import { joined } from "./methods.ts";
import { type Match, type Pattern, readPattern } from "./patterns.ts";
import { isTrue, Missing, OMITTED, Tuple, textOf, type Value } from "./values.ts";

/** Steps pay for so many characters that each instruction of an expression may read. */
const CHARACTERS_A_STEP = 96;
const SMALLEST = 8;

type Search = { text: string; pattern: Pattern; pay: (from: number) => void };

/** Reads the parameters that all of them have, and pays for compiling. */
function searchOf(run: Run, value: Value, find: Value, ignoresCase: Value): Search {
  const text = textOf(value, run.budget);
  const read = readPattern(textOr(find, ""), ignoresCase !== OMITTED && isTrue(ignoresCase));
  if (!read.ok) throw new TemplateProblem(`has a regular expression that ${read.problem}`);
  const { pattern } = read;
  if (!pattern.isCompiled) run.budget.spend(pattern.size * 2);
  const pay = (from: number) =>
    run.budget.spend(Math.floor(((text.length - from) * (pattern.size + SMALLEST)) / CHARACTERS_A_STEP));
  return { text, pattern, pay };
}

function withPatternErrors<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (error instanceof TemplateProblem) throw error;
    throw new TemplateProblem(
      `has a regular expression that is none: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Each match is paid for before it is looked for: it may read the rest of the text. */
function allMatches(run: Run, { text, pattern, pay }: Search): Match[] {
  return withPatternErrors(() => {
    const found: Match[] = [];
    pay(0);
    for (const match of pattern.matches(text)) {
      found.push(match);
      run.budget.spend();
      pay(match.end);
    }
    return found;
  });
}

function looking(look: (pattern: Pattern, text: string) => boolean): Builtin {
  return takes("value find? ignorecase?", (run, value, find, ignoresCase) => {
    const { text, pattern, pay } = searchOf(run, value, find, ignoresCase);
    pay(0);
    return withPatternErrors(() => look(pattern, text));
  });
}

/** Python's findall: the text of each match, or of its group, or a tuple of its groups. */
function findAll(run: Run, value: Value, find: Value, ignoresCase: Value): Value[] {
  return allMatches(run, searchOf(run, value, find, ignoresCase)).map(
    ({ groups: [whole = "", ...groups] }) => {
      const texts = groups.map((group) => group ?? "");
      return texts.length > 1 ? Tuple.from(texts) : (texts[0] ?? whole);
    },
  );
}

const replace = takes("value? find? replace? ignorecase?", (run, value, find, by, ignoresCase) => {
  const search = searchOf(run, value, find, ignoresCase);
  const written = textOr(by, "");
  const parts: string[] = [];
  let at = 0;
  for (const match of allMatches(run, search)) {
    parts.push(search.text.slice(at, match.start), run.budget.text(expanded(written, match, search.pattern)));
    at = match.end;
  }
  return joined(run, [...parts, search.text.slice(at)], "");
});

const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\\": "\\" };

/** A replacement with the groups that it names: \1, \g<1> and \g<name>. */
function expanded(by: string, { groups }: Match, pattern: Pattern): string {
  return by.replace(/\\(?:(\d{1,2})|g<(\w{1,40})>|(.))/gs, (_, number, name, letter) => {
    if (letter !== undefined) {
      const made = LETTERS[letter];
      if (made === undefined)
        throw new TemplateProblem(`has a replacement with \\${letter}, which is not known here`);
      return made;
    }
    const at = number ?? (/^\d+$/.test(name) ? name : pattern.groupNumber(name));
    if (at === undefined || Number(at) >= groups.length)
      throw new TemplateProblem(
        `has a replacement with the group ${number ?? name}, which is not in its expression`,
      );
    return groups[Number(at)] ?? "";
  });
}

const match = looking((pattern, text) => pattern.begins(text));
const search = looking((pattern, text) => pattern.isIn(text));

export const REGEX_TESTS: Readonly<Record<string, Builtin>> = { match, search };

export const REGEX_FILTERS: Readonly<Record<string, Builtin>> = {
  regex_findall: takes("value find? ignorecase?", findAll),
  regex_findall_index: takes("value find? index? ignorecase?", (run, value, find, index, ignoresCase) => {
    const found = findAll(run, value, find, ignoresCase).at(intOr(index, 0));
    if (found === undefined) throw new Missing("a match of its regular expression").problem();
    return found;
  }),
  regex_match: match,
  regex_replace: replace,
  regex_search: search,
};
