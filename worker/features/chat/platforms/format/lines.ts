/** The lines of a block in a message that is one text: marks of lists and quotes, and what stands between blocks. */
import type { Block, TextBlock } from "./blocks.ts";

/** Deeper than a phone shows. */
const SHOWN_DEPTH = 8;

/** @param bullet the platform's mark of an item */
export function listed({ depth, marker }: TextBlock, text: string, bullet: string): string {
  const level = Math.min(depth, SHOWN_DEPTH);
  const indent = "  ".repeat(Math.max(0, marker ? level - 1 : level));
  const mark = !marker ? "" : marker.kind === "bullet" ? `${bullet} ` : `${marker.start}. `;
  const inside = `\n${indent}${" ".repeat(mark.length)}`;
  return `${indent}${mark}${text.replaceAll("\n", inside)}`;
}

/** @param levels of quotes that are written as marks */
export function quoted(text: string, levels: number): string {
  const mark = "> ".repeat(Math.min(Math.max(0, levels), SHOWN_DEPTH));
  return mark === "" ? text : text.replace(/^/gm, mark);
}

/** Longer than the break between any two blocks. */
export const BREAK_MAX = 2;

export function joined(blocks: readonly Block[], write: (block: Block) => string): string {
  return blocks.map((block, at) => `${at === 0 ? "" : block.apart ? "\n\n" : "\n"}${write(block)}`).join("");
}
