/**
 * What a message shows: blocks in their order, one below the other. Lists and quotes are no blocks of their own, since chat apps
 * nest little: a block knows how deep it stands in them. So each block can be measured, cut and written alone.
 */

/** Text in one form. `url`: it leads there. */
export type Run = {
  text: string;
  bold?: boolean;
  italic?: boolean;
  strike?: boolean;
  code?: boolean;
  url?: string;
};

/** @property start of an ordered list's item: its number */
export type Marker = { kind: "bullet" } | { kind: "number"; start: number };

type Place = {
  /** A blank line stands before it. */
  apart: boolean;
  /** Levels of lists around it. */
  depth: number;
  /** Levels of quotes around it. */
  quote: number;
};

/** `level`: of a heading. `marker`: it begins an item of a list. */
export type TextBlock = Place & { kind: "text"; runs: Run[]; level?: number; marker?: Marker };
type CodeBlock = Place & { kind: "code"; text: string; language: string };
/** Words in which no character is markup. */
type PlainBlock = Place & { kind: "plain"; text: string };
export type Block = TextBlock | CodeBlock | PlainBlock;

/** Content of one message. `markdown`: its source, where the message has all of it. */
export type Content = { blocks: Block[]; markdown?: string };

const AT_TOP = { apart: false, depth: 0, quote: 0 };

export function plainContent(text: string): Content {
  const shown = text.trimEnd();
  return { blocks: shown.trim() === "" ? [] : [{ kind: "plain", text: shown, ...AT_TOP }] };
}

/** True if no character of it is markup. */
export function isPlain({ blocks }: Content): boolean {
  return blocks.length > 0 && blocks.every(({ kind }) => kind === "plain");
}

/** Our own words below others, on a line of their own. */
export function withLine({ blocks }: Content, text: string): Content {
  return { blocks: [...blocks, { kind: "text", runs: [{ text }], ...AT_TOP }] };
}

/** The text of runs as a place without links shows it. */
export function runsText(runs: readonly Run[]): string {
  return runs
    .map(({ text, url }) => (url === undefined || url === text ? text : `${text} (${url})`))
    .join("");
}

/** Chat apps make a link only of these. Any other address is written out. */
export function isWebAddress(url: string): boolean {
  return /^https?:\/\/[^\s]/i.test(url) && URL.canParse(url);
}
