/** WhatsApp's markup, which has neither links nor headings nor escapes. https://faq.whatsapp.com/539178204879377 */
import type { Block, Run } from "./blocks.ts";
import { type Form, type Style, withTightStyles, written } from "./inline.ts";
import { BREAK_MAX, joined, listed, quoted } from "./lines.ts";
import type { Format } from "./split.ts";

/** Unseen: a mark with it behind begins and ends nothing. It stands in text alone, never in code or in an address. */
const JOINER = "\u2060";

const TEXT: Form = {
  marks: { bold: ["*", "*"], italic: ["_", "_"], strike: ["~", "~"] },
  text: (text, before, after) =>
    text
      .replace(/[*_~`]/g, (mark, at: number) => {
        const [left, right] = [text[at - 1] ?? before, text[at + 1] ?? after];
        const begins = !isWord(left) && right !== "" && !/\s/.test(right);
        return begins || mark === "`" ? `${mark}${JOINER}` : mark;
      })
      .replace(
        before === "" || before === "\n" ? /^(?:[>*-]|\d+\.)(?= )/gm : /(?<=\n)(?:[>*-]|\d+\.)(?= )/g,
        `$&${JOINER}`,
      ),
  code,
  link: (inner, url, text) => (url === text ? url : `${inner} (${url})`),
};

export const whatsappFormat: Format = { size: (block) => write(block).length + BREAK_MAX };

export function whatsappText(blocks: readonly Block[]): string {
  return joined(blocks, write);
}

function write(block: Block): string {
  if (block.kind === "plain") return block.text.replace(/[*_~`]/g, `$&${JOINER}`);
  if (block.kind === "code") return `\`\`\`\n${block.text}\n\`\`\``;
  const text = listed(block, written(formed(block.runs, block.level !== undefined), TEXT), "•");
  return quoted(text, block.quote);
}

/** A sign cannot stand inside its own pair. Three make code in a line, too. What neither holds is shown as it is, byte for byte. */
function code(text: string): string {
  if (!text.includes("`")) return `\`${text}\``;
  if (text.includes("```")) return text;
  const room = /^`|`$/.test(text) ? " " : "";
  return `\`\`\`${room}${text}${room}\`\`\``;
}

/** Marks count only around whole words of one line, so other styles are left out. */
function formed(runs: readonly Run[], isHeading: boolean): Run[] {
  const lines = runs.flatMap((run) => {
    const { bold, italic, strike, ...unstyled } = run;
    const styled = { ...run, ...(isHeading && !run.code && { bold: true }) };
    return run.text.split(/(?<=\n)|(?=\n)/).map((text) => ({ ...(text === "\n" ? unstyled : styled), text }));
  });
  const parts = withTightStyles(lines);
  for (const style of ["bold", "italic", "strike"] as const) clearParts(parts, style);
  return parts;
}

function clearParts(runs: Run[], style: Style): void {
  for (let at = 0; at < runs.length; at += 1) {
    const run = runs[at];
    if (!run?.[style]) continue;
    let end = at;
    while (runs[end + 1]?.[style]) end += 1;
    const before = runs[at - 1]?.text.at(-1) ?? "";
    const after = runs[end + 1]?.text[0] ?? "";
    if (isWord(before) || isWord(after)) for (const one of runs.slice(at, end + 1)) delete one[style];
    at = end;
  }
}

function isWord(sign: string): boolean {
  return /[\p{L}\p{N}]/u.test(sign);
}
