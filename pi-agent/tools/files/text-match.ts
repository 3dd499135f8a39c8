/**
 * Finds text in text as a model means it, and says where that is in the original: what is replaced is spliced
 * there, and everything else stays byte for byte.
 *
 * Exactly first, but for the kind of line ending. Only when that finds nothing, loosely: without blanks at the
 * ends of lines, with every form of a letter, quote, dash or space as good as another.
 */

/** Offsets in the original text, in UTF-16 units. */
export type Span = { start: number; end: number };

/** `spans` in order, overlapping ones too. */
export type Found = { how: "exact" | "loose"; spans: Span[] };

/** `starts[i]`, `ends[i]`: what unit i of `text` stands for in the original; left out where `text` is the original. */
type Mapped = { text: string; starts?: readonly number[]; ends?: readonly number[] };

/** A text, ready to be searched several times. */
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

/** The new text with the line endings of what it replaces, or of the lines around it. */
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

/** Maps piece after piece; a piece is replaced as a whole or not at all. */
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

  /** Blanks at the end of a line are as good as none. */
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

/** CRLF as one LF, and without the byte order mark, which no model sees. */
function exactly(text: string): Mapped {
  // Nearly every file on a device; the lists would take forty times its size.
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
  // A letter and its combining marks are one piece, so that their composed form is found.
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
  // Nearly all text is this, and needs no look.
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
    // Half of a letter cannot be replaced: `f` is not found in the ligature `ﬁ`, nor half of a surrogate pair.
    const whole = starts[first] !== starts[first - 1] && starts[last] !== starts[last + 1];
    if (whole) spans.push({ start: starts[first] ?? 0, end: ends[last] ?? 0 });
  }
  return spans;
}
