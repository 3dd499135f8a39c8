/** A table as text in columns: chat apps have no tables, and a code block has letters of one width. */
import { graphemes } from "@edgecall/core/text/cut.ts";
import type { Token } from "markdown-it";
import { type Run, runsText } from "./blocks.ts";

/** @param tokens of one table */
export function tableText(tokens: readonly Token[], runsOf: (inline: Token) => Run[]): string {
  const rows: string[][] = [];
  const aligns: string[] = [];
  for (const token of tokens) {
    if (token.type === "tr_open") rows.push([]);
    if (token.type === "th_open")
      aligns.push(/text-align:(\w+)/.exec(String(token.attrGet("style") ?? ""))?.[1] ?? "");
    if (token.type === "inline") rows.at(-1)?.push(runsText(runsOf(token)).replaceAll("\n", " "));
  }
  const widths = aligns.map((_, column) => Math.max(1, ...rows.map((row) => widthOf(row[column] ?? ""))));
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, column) => padded(cell, widths[column] ?? 0, aligns[column] ?? ""))
      .join(" | ")
      .trimEnd();
  const [head = [], ...body] = rows;
  const rule = widths.map((width) => "-".repeat(width)).join("-|-");
  return [lineOf(head), rule, ...body.map(lineOf)].join("\n");
}

function padded(cell: string, width: number, align: string): string {
  const room = Math.max(0, width - widthOf(cell));
  const left = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return `${" ".repeat(left)}${cell}${" ".repeat(room - left)}`;
}

const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;

/** Columns of a terminal: a Chinese character and an emoji take two. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes().segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
