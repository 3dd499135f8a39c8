/**
 * Prepares text that a person approves or reads as an argument. Invisible characters become escapes, so that the person sees
 * exactly what would run ("Trojan Source", CVE-2021-42574). Long text is cut to its head and tail, with a count between.
 */

import { graphemeCut } from "../text/cut.ts";
import { lazy } from "../text/lazy.ts";

/** An emoji with its joiners and selectors. It is kept, because together they are one visible sign. */
const EMOJI = String.raw`\p{ExtPict}[\u{1F3FB}-\u{1F3FF}]?\uFE0F?(?:\u200D\p{ExtPict}[\u{1F3FB}-\u{1F3FF}]?\uFE0F?)*`;
/**
 * Control characters except tab and line feed, format characters (bidirectional, zero width, tags), line separators,
 * characters that fonts ignore by default (variation selectors, fillers), lone surrogates, private and unassigned
 * characters, and all spaces except the ordinary one. And marks beyond the fourth on one letter: they cover the lines around it.
 */
const HIDDEN = String.raw`[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}|(?<=\p{M}{4})\p{M}`;
const EITHER = lazy(() => new RegExp(`(${EMOJI})|(${HIDDEN})`, "gu"));

/** Replaces invisible characters by escapes such as `\u202e`. Line feeds and tabs stay. */
export function visible(text: string): string {
  return replaceHidden(text, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : unitEscape(code);
  });
}

/** Returns JSON with visible characters only; it still parses to the same value. */
export function visibleJson(value: unknown, indent?: number): string {
  return replaceHidden(JSON.stringify(value, null, indent) ?? "", (sign) =>
    [...Array(sign.length).keys()].map((at) => unitEscape(sign.charCodeAt(at))).join(""),
  );
}

/** Returns a notice that names the invisible characters in a value's texts; undefined when there are none. */
export function hiddenNotice(value: unknown): string | undefined {
  const found = new Set<string>();
  const look = (text: string) => {
    for (const [sign, emoji] of text.matchAll(EITHER()))
      if (emoji === undefined && sign !== "\n" && sign !== "\t") found.add(codePoint(sign));
  };
  JSON.stringify(value, (key, inner: unknown) => {
    look(key);
    if (typeof inner === "string") look(inner);
    return inner;
  });
  if (found.size === 0) return undefined;
  const list = [...found].slice(0, NAMED_MAX).join(", ");
  const more = found.size > NAMED_MAX ? ` and ${found.size - NAMED_MAX} more kinds` : "";
  return `Contains characters that cannot be seen, shown as escapes: ${list}${more}.`;
}

const NAMED_MAX = 6;

export type HeadAndTail = { head: string; tail: string; between: number };

/** @returns undefined when the whole text is short enough */
export function headAndTail(text: string, max: { chars: number; lines?: number }): HeadAndTail | undefined {
  const lines = max.lines === undefined ? undefined : linesOf(text, max.lines);
  if (text.length <= max.chars && lines === undefined) return undefined;
  const half = Math.floor(max.chars / 2);
  let end = Math.min(half, lines?.head ?? half);
  let begin = Math.max(text.length - half, lines?.tail ?? 0);
  end = graphemeCut(text, end);
  begin = Math.max(end, graphemeCut(text, begin));
  // The tail's first character began before it.
  if (begin === end) return undefined;
  return { head: text.slice(0, end), tail: text.slice(begin), between: begin - end };
}

/** The same as a single text. */
export function shortened(text: string, max: { chars: number; lines?: number }): string {
  const cut = headAndTail(text, max);
  return cut ? `${cut.head}${betweenText(cut)}${cut.tail}` : text;
}

export function betweenText({ between }: HeadAndTail): string {
  return ` … ${between.toLocaleString("en")} more characters … `;
}

/** Returns where the first half of `max` lines ends and the last half begins; undefined when there are no more lines. */
function linesOf(text: string, max: number): { head: number; tail: number } | undefined {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index);
  if (ends.length < max) return undefined;
  const half = Math.floor(max / 2);
  return { head: (ends[half - 1] ?? 0) + 1, tail: (ends[ends.length - half] ?? 0) + 1 };
}

function replaceHidden(text: string, by: (sign: string) => string): string {
  return text.replace(EITHER(), (sign, emoji: string | undefined) =>
    emoji !== undefined || sign === "\n" || sign === "\t" ? sign : by(sign),
  );
}

function unitEscape(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

function codePoint(sign: string): string {
  return `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
