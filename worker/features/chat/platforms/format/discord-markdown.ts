/**
 * Discord's own Markdown: no tables, no rules, fences of three signs only. https://support.discord.com/hc/articles/210298617
 */
import { type Block, isWebAddress } from "./blocks.ts";
import { type Form, withTightStyles, written } from "./inline.ts";
import { BREAK_MAX, joined, listed, quoted } from "./lines.ts";
import type { Format } from "./split.ts";

const TEXT: Form = {
  marks: { bold: ["**", "**"], italic: ["*", "*"], strike: ["~~", "~~"] },
  text: escaped,
  code: (text) => codeOf(text) ?? escaped(text, "", ""),
  link(inner, url, text) {
    if (url === text) return url;
    // Discord makes no link of an address that looks like another.
    if (!isWebAddress(url) || /https?:\/\//.test(text)) return `${inner} (${url})`;
    return `[${inner}](${hasPairs(url) ? url : url.replaceAll("(", "%28").replaceAll(")", "%29")})`;
  },
};

export const discordFormat: Format = { size: (block) => write(block).length + BREAK_MAX };

export function discordMarkdown(blocks: readonly Block[]): string {
  return joined(blocks, write);
}

/** Programs read CommonMark: a fence is longer than any run of its sign inside. */
export const markdownFormat: Format = { size: (block) => writeCommon(block).length + BREAK_MAX };

export function commonMarkdown(blocks: readonly Block[]): string {
  return joined(blocks, writeCommon);
}

function writeCommon(block: Block): string {
  if (block.kind === "plain") return block.text;
  if (block.kind !== "code") return write(block);
  const fence = "`".repeat(Math.max(3, ...[...block.text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}${block.language}\n${block.text}\n${fence}`;
}

function write(block: Block): string {
  if (block.kind === "plain") return escapeMarkdown(block.text);
  if (block.kind === "code")
    return block.text.includes("```")
      ? (codeOf(block.text) ?? escaped(block.text, "", ""))
      : `\`\`\`${block.language}\n${block.text}\n\`\`\``;
  const { level = 0, runs } = block;
  // Smaller headings than Discord has are bold.
  const isBold = level > 3;
  const styled = isBold ? runs.map((run) => (run.code ? run : { ...run, bold: true })) : runs;
  const text = written(withTightStyles(styled), TEXT);
  const head = level > 0 && !isBold ? `${"#".repeat(level)} ${text.replaceAll("\n", " ")}` : text;
  return quoted(listed(block, head, "-"), block.quote);
}

/** @returns inline code; undefined: neither one sign nor two can hold it, and three begin a block */
function codeOf(text: string): string | undefined {
  const runs = new Set([...text.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = !runs.has(1) ? "`" : !runs.has(2) ? "``" : undefined;
  if (mark === undefined) return undefined;
  const room = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${mark}${room}${text}${room}${mark}`;
}

/** Discord reads addresses with parentheses in pairs, one in another at most. */
function hasPairs(url: string): boolean {
  return /^[^()]*(?:\([^()]*\)[^()]*)*$/.test(url);
}

/** Text that Discord shows as a person, a channel, an emoji, a time, a command or a link. */
const MENTION = /^<(?:[@#:]|a:|t:|id:|\/[^>]{1,60}:\d|https?:)/;
const MENTION_MAX = 80;

/** A backslash stands only before what Discord would read as markup. */
function escaped(text: string, before: string, after: string): string {
  const signs = text.replace(/[\\*_~`|<[\]]/g, (sign, at: number) => {
    const [left, right] = [text[at - 1] ?? before, text[at + 1] ?? after];
    const isOpen = sign === "<" && MENTION.test(text.slice(at, at + MENTION_MAX));
    return isOpen || isMarkup(sign, left, right) ? `\\${sign}` : sign;
  });
  const isStart = before === "" || before === "\n";
  return signs
    .replace(isStart ? /^(?:[>#+-]|-#|>>>)(?=\s|$|#)/gm : /(?<=\n)(?:[>#+-])(?=\s|$|#)/g, "\\$&")
    .replace(isStart ? /^(\d+)\.(?=\s)/gm : /(?<=\n)(\d+)\.(?=\s)/g, "$1\\.");
}

function isMarkup(sign: string, left: string, right: string): boolean {
  switch (sign) {
    case "\\":
      return /[^0-9A-Za-z\s]/.test(right);
    case "*":
      return !(/\s/.test(left) && /\s/.test(right));
    case "_":
      return !(/[0-9A-Za-z]/.test(left) && /[0-9A-Za-z]/.test(right));
    case "~":
    case "|":
      return left === sign || right === sign;
    case "]":
      return right === "(";
    case "<":
    case "[":
      return false;
    default:
      return true;
  }
}

/** @returns Markdown that shows this text; at most twice as long */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\*_~`|<>[\]()#@:]/g, "\\$&")
    .replace(/(?<=^\s*)[-+]/gm, "\\$&")
    .replace(/(?<=^\s*\d+)\./gm, "\\$&");
}
