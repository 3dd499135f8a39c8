/** Converts a fetched page to text that a model can read. */
import { isLow } from "../text/cut.ts";
import { htmlToMarkdown } from "./html-markdown.ts";

export type Page = {
  /** The bytes that were read. */
  body: Uint8Array;
  /** The header's value; empty when there is none. */
  contentType: string;
  url: URL;
};

export type PageText = { ok: true; title: string; text: string } | { ok: false; mediaType: string };

/** Largest text in characters: no model reads more, and a small machine must hold it. */
export const TEXT_MAX_CHARS = 2_000_000;
/** A `<meta>` that names the charset must be within these first bytes (HTML standard, 4.2.5.4). */
const META_WITHIN_BYTES = 1_024;

/** @returns not ok when the page is not text: a picture, an archive, a PDF */
export function pageText(page: Page): PageText {
  const mediaType = mediaTypeOf(page);
  const hasNul = page.body.subarray(0, META_WITHIN_BYTES).includes(0) && !isUtf16(page.body);
  if (!isText(mediaType) || hasNul) return { ok: false, mediaType };
  const text = decode(page.body, charsetOf(page, mediaType)).slice(0, 5 * TEXT_MAX_CHARS);
  if (isHtml(mediaType)) {
    const { title, text: markdown } = htmlToMarkdown(text, page.url, TEXT_MAX_CHARS);
    return { ok: true, title: visible(title), text: visible(markdown) };
  }
  const plain = isJson(mediaType) ? prettyJson(text) : text;
  return { ok: true, title: "", text: visible(plain.slice(0, TEXT_MAX_CHARS)).trim() };
}

function mediaTypeOf({ body, contentType }: Page): string {
  const named = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (named !== "") return named;
  const start = new TextDecoder().decode(body.subarray(0, META_WITHIN_BYTES)).trimStart();
  if (/^<(!doctype html|html|head|body)/i.test(start)) return "text/html";
  return body.subarray(0, META_WITHIN_BYTES).includes(0) ? "application/octet-stream" : "text/plain";
}

function isHtml(type: string): boolean {
  return type === "text/html" || type === "application/xhtml+xml";
}

function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

function isText(type: string): boolean {
  if (type.startsWith("text/") || isHtml(type) || isJson(type) || type.endsWith("+xml")) return true;
  return /^application\/(xml|javascript|ecmascript|x-ndjson|jsonl|yaml|x-yaml|toml|sql|graphql|x-sh|rtf)$/.test(
    type,
  );
}

function charsetOf({ body, contentType }: Page, mediaType: string): string {
  if (isUtf16(body)) return body[0] === 0xff ? "utf-16le" : "utf-16be";
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  const named = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
  if (named) return named;
  if (!isHtml(mediaType)) return "utf-8";
  const start = new TextDecoder("latin1").decode(body.subarray(0, META_WITHIN_BYTES));
  return /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1] ?? "utf-8";
}

function isUtf16(body: Uint8Array): boolean {
  return (body[0] === 0xff && body[1] === 0xfe) || (body[0] === 0xfe && body[1] === 0xff);
}

function decode(body: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // An unknown name, or an encoding that this runtime does not support.
    return new TextDecoder().decode(body);
  }
}

/** Returns the text unchanged when it is not complete JSON. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/**
 * Removes characters that a person would not see but a model reads: control characters, marks that reverse the direction of
 * text, and tag characters, in which whole sentences have been hidden.
 */
export function visible(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[\p{Cc}\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu, (mark) =>
      mark === "\n" || mark === "\t" ? mark : "",
    );
}

export type TextPart = { text: string; next?: number; total: number };

/**
 * Returns a part of a text, cut at a whole character.
 * @param offset in characters
 */
export function partOf(text: string, offset: number, maxChars: number, maxBytes: number): TextPart {
  const from = isLow(text, offset) ? offset + 1 : offset;
  let to = Math.min(text.length, from + maxChars);
  // A UTF-16 unit takes 1 to 3 bytes in UTF-8; a result's size is counted in bytes.
  for (
    let over = bytesOf(text.slice(from, to)) - maxBytes;
    over > 0;
    over = bytesOf(text.slice(from, to)) - maxBytes
  )
    to -= Math.ceil(over / 3);
  if (to < text.length && isLow(text, to)) to -= 1;
  return { text: text.slice(from, to), total: text.length, ...(to < text.length && { next: to }) };
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
