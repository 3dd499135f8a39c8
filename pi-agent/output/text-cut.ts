/** Cuts text for a model, always in the same form: what is shown, of how much, and how to get the rest. */

export const CUT_MAX_LINES = 2_000;
/** Limit of a result's text including notices; the runner cuts longer ones. */
export const CUT_MAX_BYTES = 50 * 1024;
export const LINE_MAX_CHARS = 500;
/** Room for a notice below the text. */
export const NOTICE_BYTES = 256;

export type Size = { lines: number; bytes: number };

/**
 * `by` is the limit that was reached first; null when nothing was cut. `partialLine`: a single line was longer than the limit
 * and only its end is shown (truncateTail; truncateHead shows only whole lines). A final newline does not begin a line.
 */
export type Cut = {
  content: string;
  by: "lines" | "bytes" | null;
  shown: Size;
  total: Size;
  partialLine: boolean;
};

export type CutLimits = { maxLines?: number; maxBytes?: number };

/** Keeps the first whole lines, for text that is read from its beginning: files, lists, matches. */
export function truncateHead(text: string, limits: CutLimits = {}): Cut {
  return truncate(text, limits, "head");
}

/** Keeps the last lines, for output, whose end says what went wrong. */
export function truncateTail(text: string, limits: CutLimits = {}): Cut {
  return truncate(text, limits, "tail");
}

function truncate(
  text: string,
  { maxLines = CUT_MAX_LINES, maxBytes = CUT_MAX_BYTES }: CutLimits,
  keep: "head" | "tail",
): Cut {
  const lines = linesOf(text);
  const total = { lines: lines.length, bytes: Buffer.byteLength(text) };
  if (total.lines <= maxLines && total.bytes <= maxBytes)
    return { content: text, by: null, shown: total, total, partialLine: false };

  const inOrder = keep === "head" ? lines : lines.toReversed();
  const fitting: string[] = [];
  let bytes = 0;
  let by: "lines" | "bytes" = "lines";
  for (const line of inOrder.slice(0, maxLines)) {
    const more = Buffer.byteLength(line) + (fitting.length > 0 ? 1 : 0);
    if (bytes + more > maxBytes) {
      by = "bytes";
      break;
    }
    fitting.push(line);
    bytes += more;
  }
  // Only the final newline did not fit, so no line is missing.
  if (fitting.length === lines.length)
    return {
      content: lines.join("\n"),
      by: null,
      shown: { lines: fitting.length, bytes },
      total,
      partialLine: false,
    };
  if (keep === "tail" && fitting.length === 0) {
    const content = lastBytes(lines.at(-1) ?? "", maxBytes);
    return { content, by, shown: { lines: 1, bytes: Buffer.byteLength(content) }, total, partialLine: true };
  }
  const content = (keep === "head" ? fitting : fitting.reverse()).join("\n");
  return { content, by, shown: { lines: fitting.length, bytes }, total, partialLine: false };
}

/** Returns the lines of a text without newlines; none for an empty text. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

/** Returns the end of a text, beginning at a whole character. */
function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let start = Math.max(0, bytes.length - maxBytes);
  // 10xxxxxx continues a character.
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start).toString();
}

/** Shortens a line of a list or of matches, so that it does not displace the others. */
export function truncateLine(
  line: string,
  maxChars: number = LINE_MAX_CHARS,
): { text: string; truncated: boolean } {
  if (line.length <= maxChars) return { text: line, truncated: false };
  // Does not split a surrogate pair.
  const end = /[\ud800-\udbff]/.test(line.charAt(maxChars - 1)) ? maxChars - 1 : maxChars;
  return { text: `${line.slice(0, end)}... [truncated]`, truncated: true };
}

/** `512B`, `50.0KB`, `1.5MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1_024) return `${bytes}B`;
  const units = ["KB", "MB", "GB"];
  let size = bytes / 1_024;
  // Compare the rounded value: 1023.96 would print as 1024.0 instead of 1.0 of the next unit.
  while (Number(size.toFixed(1)) >= 1_024 && units.length > 1) {
    size /= 1_024;
    units.shift();
  }
  return `${size.toFixed(1)}${units[0]}`;
}

/**
 * Returns the notice below a cut text, such as
 * `[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]`,
 * `[Showing matches 1-100 of more (50.0KB limit). Use limit=200 for more.]`.
 * @param of the total; absent when it was not counted
 * @param limitBytes the limit, if it caused the cut
 * @param next a sentence on how to get the rest, naming the argument
 */
export function cutNotice({
  what,
  first,
  last,
  of,
  limitBytes,
  next,
}: {
  what: string;
  first: number;
  last: number;
  of?: number | undefined;
  limitBytes?: number | undefined;
  next: string;
}): string {
  const limit = limitBytes === undefined ? "" : ` (${formatSize(limitBytes)} limit)`;
  return `[Showing ${what} ${first}-${last} of ${of ?? "more"}${limit}. ${next}]`;
}

/** Returns a text with the notice below it, separated by an empty line. */
export function withNotice(text: string, notice: string): string {
  if (text === "") return notice;
  return `${text}${text.endsWith("\n") ? "\n" : "\n\n"}${notice}`;
}
