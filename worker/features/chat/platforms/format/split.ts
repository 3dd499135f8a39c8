/** Splits what is to be shown into messages of limited length: between blocks, lines or words, else between graphemes. */
import { graphemeCut } from "@edgecall/core/text/cut.ts";
import { type Block, type Content, type Run, runsText } from "./blocks.ts";

/**
 * How a platform writes blocks.
 * @property size the length of one block as the platform counts it, with what stands between it and the block before it
 * @property marks where a message has a limited number of styles and links: how many, and those of a block
 */
export type Format = {
  size(block: Block): number;
  marks?: { max: number; of(block: Block): number };
};

export function sizeOf({ blocks }: Content, { size }: Format): number {
  return blocks.reduce((sum, block) => sum + size(block), 0);
}

/** @param max length of one message in the format's own count, at least 64 @returns no message is empty */
export function split(content: Content, format: Format, max: number): Content[] {
  const parts: Block[][] = [];
  let part: Block[] = [];
  let size = 0;
  let marks = 0;
  const { max: marksMax, of: marksOf } = format.marks ?? { max: Number.POSITIVE_INFINITY, of: () => 0 };
  const end = () => {
    if (part.length > 0) parts.push(part);
    part = [];
    size = 0;
    marks = 0;
  };
  for (const block of content.blocks) {
    let rest: Block | undefined = block;
    while (rest) {
      const own = format.size(rest);
      const ownMarks = marksOf(rest);
      if (size + own <= max && marks + ownMarks <= marksMax) {
        part.push(rest);
        size += own;
        marks += ownMarks;
        break;
      }
      // A block that fits the next message moves there whole, unless this one is nearly empty.
      if (size >= max / 2 || marks >= marksMax / 2 || (size > 0 && max - size < 2 * LEAST)) {
        end();
        continue;
      }
      const [room, marksRoom] = [max - size, marksMax - marks];
      const fits = (head: Block) => format.size(head) <= room && marksOf(head) <= marksRoom;
      const cut = cutBlock(rest, fits, room);
      if (cut) part.push(cut[0]);
      // An address that no message has room for is written out, so that it can be cut.
      else if (size === 0) rest = withUrlsWrittenOut(rest);
      if (cut) rest = cut[1];
      end();
    }
  }
  end();
  if (parts.length === 1 && content.markdown !== undefined) return [content];
  return parts.map((blocks) => ({ blocks }));
}

/** Room that is worth a beginning. */
const LEAST = 32;

/** @returns both parts; the second is undefined when nothing is left. Undefined: this room takes nothing of it */
function cutBlock(
  block: Block,
  isTaken: (head: Block) => boolean,
  room: number,
): [Block, Block | undefined] | undefined {
  const text = block.kind === "text" ? block.runs.map((run) => run.text).join("") : block.text;
  // The longest beginning that fits (each character counts at least once), then the best place before it.
  let [least, most] = [0, Math.min(text.length, room)];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (isTaken(headOf(block, middle))) least = middle;
    else most = middle - 1;
  }
  if (least === 0) return undefined;
  const at = place(block, text, least);
  return [headOf(block, at), tailOf(block, at)];
}

function withUrlsWrittenOut(block: Block): Block {
  return block.kind === "text" ? { ...block, runs: [{ text: runsText(block.runs) }] } : block;
}

function place(block: Block, text: string, most: number): number {
  const least = Math.floor(most / 2);
  for (const mark of block.kind === "code" ? ["\n", " "] : ["\n\n", "\n", " "]) {
    // The mark itself is left out at the end of a message, but for a space in code: the next one begins with it.
    const at = text.lastIndexOf(mark, most);
    if (at >= least && at > 0 && isBetween(block, at)) return at;
  }
  const at = graphemeCut(text, most);
  const start = block.kind === "text" ? startOfWhole(block.runs, at) : at;
  return start > 0 ? start : at;
}

/** @returns the start of the link or inline code that `at` lies in; else `at` */
function startOfWhole(runs: readonly Run[], at: number): number {
  let from = 0;
  for (const { text, url, code } of runs) {
    const end = from + text.length;
    if (at > from && at < end) return url !== undefined || code ? from : at;
    from = end;
  }
  return at;
}

function isBetween(block: Block, at: number): boolean {
  return block.kind !== "text" || startOfWhole(block.runs, at) === at;
}

function headOf(block: Block, at: number): Block {
  if (block.kind !== "text") return { ...block, text: block.text.slice(0, at) };
  return { ...block, runs: sliced(block.runs, 0, at) };
}

/** @returns undefined when nothing is left */
function tailOf(block: Block, at: number): Block | undefined {
  const begins = { apart: false };
  if (block.kind === "code") {
    const text = block.text.slice(at).replace(/^\n/, "");
    return text === "" ? undefined : { ...block, ...begins, text };
  }
  if (block.kind === "plain") {
    const text = block.text.slice(at).trimStart();
    return text === "" ? undefined : { ...block, ...begins, text };
  }
  const { marker: _, ...rest } = block;
  const runs = sliced(block.runs, at, Number.POSITIVE_INFINITY);
  const [first, ...more] = runs;
  if (!first) return undefined;
  const begun = first.code ? first.text : first.text.trimStart();
  const left = begun === "" ? more : [{ ...first, text: begun }, ...more];
  return left.length === 0 ? undefined : { ...rest, ...begins, runs: left };
}

function sliced(runs: readonly Run[], from: number, to: number): Run[] {
  const kept: Run[] = [];
  let at = 0;
  for (const run of runs) {
    const text = run.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += run.text.length;
    if (text === "") continue;
    const { url, ...bare } = { ...run, text };
    // Half an address leads nowhere.
    const leads = url !== undefined && (url !== run.text || text === url);
    kept.push(leads ? { ...bare, url } : bare);
  }
  return kept;
}
