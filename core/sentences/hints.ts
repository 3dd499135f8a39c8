/** Hints of what a sentence is about, also where it was not understood: for examples that are near to it. Pure. */
import { spansOf } from "./cover.ts";
import type { ThingType } from "./frame.ts";
import type { Lexicon } from "./lexicon.ts";
import type { NameTable } from "./names.ts";
import type { Meaning, Role } from "./roles.ts";
import { isQuestion, wordsOf } from "./words.ts";

export type Hints = {
  /** Undefined: its words tell none. */
  kind: "ask" | "act" | "watch" | undefined;
  types: ReadonlySet<ThingType>;
  /** Actions, states and readings. */
  about: ReadonlySet<string>;
  /** Ids of areas. */
  areas: ReadonlySet<string>;
};

const WORDS_MAX = 30;
const WATCHING: ReadonlySet<Role> = new Set<Role>(["watch", "remind", "timer"]);
const ASKING: ReadonlySet<Role> = new Set<Role>(["ask", "exist"]);
const ACTING: ReadonlySet<Role> = new Set<Role>(["act", "do", "particle", "change", "ensure", "unit"]);
/** With these a question begins; behind others their words may be something else. */
const BEGINNING: ReadonlySet<Role> = new Set<Role>(["be", "show"]);

/** @param lexicon of the language that knows most of its words */
export function hintsOf(text: string, lexicon: Lexicon, names: NameTable): Hints {
  const said = meaningsIn(text, lexicon, names);
  const all = said.flat();
  const has = (roles: ReadonlySet<Role>) => all.some(({ role }) => roles.has(role));
  const is = (role: Role) => all.some((one) => one.role === role);
  const doubts = all.some(({ role, value }) => role === "stop" && value === "question");
  const begins = said[0]?.some(({ role }) => BEGINNING.has(role)) ?? false;
  const asks = (isQuestion(text) && !is("request")) || doubts || begins || has(ASKING);
  // "What can you do?" is about all of it.
  const isOpen = is("help") || all.length === 0;
  const kind = isOpen ? undefined : has(WATCHING) ? "watch" : asks ? "ask" : has(ACTING) ? "act" : undefined;
  const about = all.flatMap(({ role, value }): string[] => {
    if (role === "act" || role === "particle" || role === "state") return [value.is, value.or ?? []].flat();
    return role === "reading" ? [value] : [];
  });
  return {
    kind,
    types: new Set(all.flatMap(({ role, value }) => (role === "type" ? value.type : []))),
    about: new Set(about),
    areas: new Set(all.flatMap(({ role, value }) => (role === "area" ? value.ids : []))),
  };
}

/** The longest phrases and names from the beginning on, each with all that it may mean. */
function meaningsIn(text: string, lexicon: Lexicon, names: NameTable): Meaning[][] {
  const words = wordsOf(text).slice(0, WORDS_MAX);
  const spans = spansOf(words, lexicon, names);
  const found: Meaning[][] = [];
  for (let at = 0; at < words.length; ) {
    const to = Math.max(at + 1, ...(spans[at] ?? []).map((span) => span.to));
    found.push((spans[at] ?? []).flatMap((span) => (span.to === to ? span.meanings : [])));
    at = to;
  }
  return found.filter((meanings) => meanings.length > 0);
}
