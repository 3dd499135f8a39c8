/**
 * Slack's rich text: Slack parses nothing in it, so no character needs an escape, code arrives as it is, and no text notifies a
 * channel. https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
 */
import { type Block, isWebAddress, type Marker, type Run, runsText } from "./blocks.ts";
import { listed } from "./lines.ts";
import type { Format } from "./split.ts";

type Style = { bold?: true; italic?: true; strike?: true; code?: true };
export type Element =
  | { type: "text"; text: string; style?: Style }
  | { type: "link"; url: string; text?: string; style?: Style }
  | { type: "user"; user_id: string };
type Section = { type: "rich_text_section"; elements: Element[] };
type Quote = { type: "rich_text_quote"; elements: Element[] };
type Preformatted = { type: "rich_text_preformatted"; border: 0 | 1; elements: Element[] };
type List = {
  type: "rich_text_list";
  style: "bullet" | "ordered";
  indent: number;
  offset?: number;
  border: 0 | 1;
  elements: Section[];
};
type Part = Section | Quote | Preformatted | List;

const INDENT_MAX = 8;
/** An address beyond this is no link in Slack. */
const URL_MAX = 3_000;

export const slackFormat: Format = { size: (block) => JSON.stringify(partsOf([block])).length };

/** @returns the one block of a message, without its buttons */
export function slackRichText(blocks: readonly Block[]): { type: "rich_text"; elements: Part[] } {
  return { type: "rich_text", elements: partsOf(blocks) };
}

/** Notifications show this text, since they show no blocks. Slack reads markup in it. */
export function slackFallback(blocks: readonly Block[]): string {
  const text = blocks
    .map((block) => (block.kind === "text" ? listed(block, runsText(block.runs), "•") : block.text))
    .join("\n");
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function partsOf(blocks: readonly Block[]): Part[] {
  const parts: Part[] = [];
  for (const block of blocks) {
    const border = block.quote > 0 ? 1 : 0;
    if (block.kind === "code") {
      parts.push({ type: "rich_text_preformatted", border, elements: [{ type: "text", text: block.text }] });
      continue;
    }
    const elements =
      block.kind === "plain" ? [{ type: "text" as const, text: block.text }] : elementsOf(block);
    if (block.kind === "text" && block.marker) addItem(parts, block.marker, block.depth, border, elements);
    else addLines(parts, block.quote > 0 ? "rich_text_quote" : "rich_text_section", block.apart, elements);
  }
  return parts;
}

/** Sections that follow each other stand on one line, so they are one with line breaks. */
function addLines(parts: Part[], type: (Section | Quote)["type"], apart: boolean, elements: Element[]): void {
  const last = parts.at(-1);
  if (last?.type !== type) return void parts.push({ type, elements });
  last.elements.push({ type: "text", text: apart ? "\n\n" : "\n" }, ...elements);
}

function addItem(parts: Part[], marker: Marker, depth: number, border: 0 | 1, elements: Element[]): void {
  const item: Section = { type: "rich_text_section", elements };
  const style = marker.kind === "bullet" ? "bullet" : "ordered";
  const indent = Math.min(Math.max(0, depth - 1), INDENT_MAX);
  const offset = marker.kind === "bullet" ? 0 : marker.start - 1;
  const last = parts.at(-1);
  const continues =
    last?.type === "rich_text_list" &&
    last.style === style &&
    last.indent === indent &&
    last.border === border &&
    (style === "bullet" || (last.offset ?? 0) + last.elements.length === offset);
  if (continues) last.elements.push(item);
  else
    parts.push({
      ...{ type: "rich_text_list", style, indent },
      ...(offset > 0 && { offset }),
      ...{ border, elements: [item] },
    } as List);
}

function elementsOf({ runs, level, quote }: Block & { kind: "text" }): Element[] {
  const inner = quote > 1 ? [{ text: "> ".repeat(Math.min(quote - 1, INDENT_MAX)) }, ...runs] : runs;
  const elements = inner.flatMap((run) =>
    elementOf(level !== undefined && !run.code ? { ...run, bold: true } : run),
  );
  // Slack refuses an empty section.
  return elements.length > 0 ? elements : [{ type: "text", text: " " }];
}

function elementOf({ text, url, bold, italic, strike, code }: Run): Element[] {
  const style: Style = {
    ...(bold && { bold }),
    ...(italic && { italic }),
    ...(strike && { strike }),
    ...(code && { code }),
  };
  const styled = Object.keys(style).length > 0 ? { style } : {};
  if (url === undefined) return [{ type: "text", text, ...styled }];
  if (isWebAddress(url) && url.length <= URL_MAX)
    return [{ type: "link", url, ...(text !== url && { text }), ...styled }];
  const words: Element = { type: "text", text, ...styled };
  return text === url ? [words] : [words, { type: "text", text: ` (${url})` }];
}
