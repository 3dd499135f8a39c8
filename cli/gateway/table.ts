/** Formats rows in columns, for people. Pure. */
import { printableLine } from "./printable.ts";

export type Column = {
  title: string;
  /** Aligned to the right, for figures. */
  right?: boolean;
  /** This column shrinks when the terminal is too narrow. The others keep their width. */
  gives?: boolean;
  /** Styles a cell that has its final width. */
  paint?: (cell: string, row: readonly string[]) => string;
};

/** The least width of a column that shrinks. */
const LEAST = 8;
const GAP = "  ";

/**
 * @param width columns of the terminal; undefined: no limit (a file, a pipe)
 * @returns the lines, each with a line break
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): string {
  const cells = rows.map((row) => columns.map((_, index) => printableLine(row[index] ?? "")));
  const widths = fitted(columns, naturalWidths(columns, cells), width);
  const lines = [columns.map(({ title }) => title), ...cells].map((row, line) => {
    const shown = columns.map(({ right, paint }, index) => {
      const cell = cut(row[index] ?? "", widths[index] ?? 0);
      const room = " ".repeat(Math.max(0, (widths[index] ?? 0) - cellWidth(cell)));
      const painted = line > 0 && paint ? paint(cell, row) : cell;
      if (right) return room + painted;
      return index === columns.length - 1 ? painted : painted + room;
    });
    return `${shown.join(GAP).trimEnd()}\n`;
  });
  return lines.join("");
}

/** Formats names with their descriptions, without titles. */
export function pairs(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${printableLine(value)}\n`).join("");
}

function naturalWidths(columns: readonly Column[], cells: readonly (readonly string[])[]): number[] {
  return columns.map(({ title }, index) =>
    Math.max(cellWidth(title), ...cells.map((row) => cellWidth(row[index] ?? ""))),
  );
}

/** Shrinks the widest of the columns that can shrink first. */
function fitted(columns: readonly Column[], natural: readonly number[], width: number | undefined): number[] {
  const widths = [...natural];
  if (width === undefined) return widths;
  const gaps = GAP.length * (columns.length - 1);
  for (let over = sum(widths) + gaps - width; over > 0; over -= 1) {
    const givers = columns.flatMap(({ gives }, index) => (gives ? [index] : []));
    const [widest] = givers.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
    if (widest === undefined || (widths[widest] ?? 0) <= LEAST) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function cut(text: string, width: number): string {
  if (cellWidth(text) <= width) return text;
  let shortened = "";
  for (const character of text) {
    if (cellWidth(shortened + character) > width - 1) break;
    shortened += character;
  }
  return `${shortened}…`;
}

/** East Asian text and emoji take two columns. Joiners and accents take none. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\p{Emoji_Presentation}]/u;
const NONE = /[\p{Mn}\p{Cf}]/u;

function cellWidth(text: string): number {
  let width = 0;
  for (const character of text) width += NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}
