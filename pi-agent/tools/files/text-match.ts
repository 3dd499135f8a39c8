/**
 * Finds text as a model means it, and returns its place in the original. Only that place is replaced; everything else stays
 * byte for byte.
 *
 * The first search is exact except for the kind of line ending. Only when it finds nothing, a loose search ignores blanks at
 * line ends and treats all forms of a letter, quote, dash or space as equal.
 */

/** Offsets in the original text, in UTF-16 units. */
export type Span = { start: number; end: number };

/** `spans` in order; they may overlap. */
export type Found = { how: "exact" | "loose"; spans: Span[] };

/** `starts[i]`, `ends[i]`: the span of unit i of `text` in the original; absent where `text` is the original. */
type Mapped = { text: string; starts?: readonly number[]; ends?: readonly number[] };

/** A text prepared for several searches. */
export class Searched {
  readonly #original: string;
  #exact: Mapped | undefined;
  #loose: Mapped | undefined;

  constructor(original: string) {
    this.#original = original;
  }

  find(wanted: string): Found {
    this.#exact ??= exactly(this.#original);
    const exact = spansOf(this.#exact, exactly(wanted).text);
    if (exact.length > 0) return { how: "exact", spans: exact };
    const loosely = loosened(wanted).text;
    if (loosely.trim() === "") return { how: "exact", spans: [] };
    this.#loose ??= loosened(this.#original);
    return { how: "loose", spans: spansOf(this.#loose, loosely) };
  }
}

/** Gives the new text the line endings of the replaced text, or of the lines around it. */
export function withEndingsOf(original: string, { start, end }: Span, text: string): string {
  const inside = /\r?\n/.exec(original.slice(start, end))?.[0];
  const ending = inside ?? endingAfter(original, end) ?? endingBefore(original, start);
  if (ending === undefined) return text;
  return text.replaceAll(/\r?\n/g, ending);
}

function endingAfter(original: string, from: number): string | undefined {
  const at = original.indexOf("\n", from);
  if (at < 0) return undefined;
  return original[at - 1] === "\r" ? "\r\n" : "\n";
}

function endingBefore(original: string, from: number): string | undefined {
  const at = from === 0 ? -1 : original.lastIndexOf("\n", from - 1);
  if (at < 0) return undefined;
  return original[at - 1] === "\r" ? "\r\n" : "\n";
}

/** Builds the mapping piece by piece; a piece is replaced as a whole or not at all. */
class Mapping {
  readonly #units: string[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  add(as: string, start: number, end: number): void {
    for (let at = 0; at < as.length; at += 1) {
      this.#units.push(as.charAt(at));
      this.#starts.push(start);
      this.#ends.push(end);
    }
  }

  /** Ignores blanks at the end of a line. */
  dropBlanks(): void {
    let length = this.#units.length;
    while (length > 0 && /^[^\S\n]$/.test(this.#units[length - 1] ?? "")) length -= 1;
    this.#units.length = length;
    this.#starts.length = length;
    this.#ends.length = length;
  }

  done(): Mapped {
    return { text: this.#units.join(""), starts: this.#starts, ends: this.#ends };
  }
}

/** Maps CRLF to LF, and removes the byte order mark, which no model sees. */
function exactly(text: string): Mapped {
  // Nearly every file on a device is like this; the lists would take forty times its size.
  if (!text.includes("\r\n") && !text.startsWith("\ufeff")) return { text };
  const mapping = new Mapping();
  for (let at = text.startsWith("\ufeff") ? 1 : 0; at < text.length; at += 1) {
    const isCrlf = text[at] === "\r" && text[at + 1] === "\n";
    mapping.add(isCrlf ? "\n" : text.charAt(at), at, at + (isCrlf ? 2 : 1));
    if (isCrlf) at += 1;
  }
  return mapping.done();
}

function loosened(text: string): Mapped {
  const mapping = new Mapping();
  // A letter and its combining marks are one piece, so that the composed form matches too.
  for (const match of text.matchAll(/\r\n|\P{M}\p{M}*|\p{M}+/gu)) {
    const [piece] = match;
    const start = match.index;
    if (start === 0 && piece === "\ufeff") continue;
    const isEnd = piece === "\r\n" || piece === "\n";
    if (isEnd) mapping.dropBlanks();
    mapping.add(isEnd ? "\n" : looseForm(piece), start, start + piece.length);
  }
  mapping.dropBlanks();
  return mapping.done();
}

function looseForm(text: string): string {
  // Fast path: nearly all text is like this.
  if (/^[\x20-\x7e\t]$/.test(text)) return text;
  return text
    .normalize("NFKC")
    .replaceAll(/[\u2018-\u201b\u2032]/g, "'")
    .replaceAll(/[\u201c-\u201f\u2033]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

function spansOf({ text, starts, ends }: Mapped, wanted: string): Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const [first, last] = [at, at + wanted.length - 1];
    if (!starts || !ends) {
      spans.push({ start: first, end: last + 1 });
      continue;
    }
    // Half of a character cannot be replaced: `f` does not match in the ligature `ﬁ`, nor half of a surrogate pair.
    const whole = starts[first] !== starts[first - 1] && starts[last] !== starts[last + 1];
    if (whole) spans.push({ start: starts[first] ?? 0, end: ends[last] ?? 0 });
  }
  return spans;
}
