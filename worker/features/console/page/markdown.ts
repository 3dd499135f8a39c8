/**
 * Parses the Markdown that models write into a tree of plain text. Unknown syntax stays text, and only https, http and mailto
 * addresses become links. Neither this module nor markdown-view.tsx turns a string into markup.
 */

export type Inline =
  | { kind: "text" | "code" | "strong" | "em"; text: string }
  | { kind: "link"; text: string; href: string }
  /** A picture of this home. Others become links, because loading one would tell its host who reads. */
  | { kind: "picture"; text: string; src: string };

export type Block =
  | { kind: "paragraph" | "quote"; content: Inline[] }
  | { kind: "heading"; level: number; content: Inline[] }
  | { kind: "code"; text: string }
  /** `start`: the first number. */
  | { kind: "list"; ordered: boolean; start: number; items: ListItem[] }
  | { kind: "table"; align: Align[]; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

/** `done` is set for an item of a task list. */
export type ListItem = { done?: boolean; content: Block[] };
type Align = "start" | "center" | "end";

/** Longer than any answer. Parsing more would be noticeably slow at each new word. */
const PARSED_MAX = 60_000;
/** Depth of nested lists; deeper ones stay text. */
const DEPTH_MAX = 8;
const ITEM = /^(\s{0,12})([-*+]|\d{1,3}[.)])(?:\s+(.*)|)$/;
const DELIMITERS = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-*:?\s*)*$/;
const FENCE = /^\s{0,3}(```|~~~)/;

export function parseMarkdown(text: string): Block[] {
  if (text.length > PARSED_MAX) return [{ kind: "code", text }];
  return blocksOf(text.replaceAll("\r", "").split("\n"), 0);
}

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = blockAt(lines, at, depth);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines: readonly string[], at: number, depth: number): [Block | undefined, number] {
  const line = lines[at] ?? "";
  if (line.trim() === "") return [undefined, at + 1];
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) {
    let end = at + 1;
    while (end < lines.length && !lines[end]?.trimStart().startsWith(fence)) end += 1;
    return [{ kind: "code", text: lines.slice(at + 1, end).join("\n") }, end + 1];
  }
  const heading = /^(#{1,6})\s+(.*)$/.exec(line);
  if (heading)
    return [{ kind: "heading", level: heading[1]?.length ?? 1, content: inline(heading[2] ?? "") }, at + 1];
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return [{ kind: "rule" }, at + 1];
  if (depth < DEPTH_MAX && ITEM.test(line)) return listAt(lines, at, depth);
  if (line.startsWith(">")) {
    const end = endOf(lines, at, (one) => one.startsWith(">"));
    const content = inline(
      lines
        .slice(at, end)
        .map((one) => one.replace(/^>\s?/, ""))
        .join("\n"),
    );
    return [{ kind: "quote", content }, end];
  }
  if (line.includes("|") && DELIMITERS.test(lines[at + 1] ?? "")) {
    const end = endOf(lines, at + 2, (one) => one.includes("|"));
    const rows = lines.slice(at + 2, end).map(cells);
    return [{ kind: "table", align: texts(lines[at + 1] ?? "").map(alignOf), head: cells(line), rows }, end];
  }
  const end = endOf(
    lines,
    at + 1,
    (one) =>
      one.trim() !== "" &&
      !FENCE.test(one) &&
      !(depth < DEPTH_MAX && ITEM.test(one)) &&
      !/^(#{1,6}\s|>)/.test(one),
  );
  return [{ kind: "paragraph", content: inline(lines.slice(at, end).join("\n")) }, end];
}

/** Reads a list. The indented lines below an item are parsed as a text of their own. */
function listAt(lines: readonly string[], at: number, depth: number): [Block, number] {
  const [, indent = "", first = ""] = ITEM.exec(lines[at] ?? "") ?? [];
  const ordered = /\d/.test(first);
  const items: string[][] = [];
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? "";
    const within = line.length - line.trimStart().length - indent.length;
    const item = within < 2 ? ITEM.exec(line) : null;
    const last = items.at(-1);
    if (item && /\d/.test(item[2] ?? "") === ordered) items.push([item[3] ?? ""]);
    else if (line.trim() === "" && goesOn(lines, end, indent.length, ordered)) last?.push("");
    else if (line.trim() !== "" && within >= (item ? 2 : 1) && last)
      last.push(line.slice(indent.length + Math.min(within, ordered ? first.length + 1 : 2)));
    else break;
  }
  const content = items.map((own): ListItem => {
    const [, mark] = /^\[([ xX])\]\s/.exec(own[0] ?? "") ?? [];
    if (mark === undefined) return { content: blocksOf(own, depth + 1) };
    const [task = "", ...rest] = own;
    return { done: mark !== " ", content: blocksOf([task.slice(4), ...rest], depth + 1) };
  });
  return [{ kind: "list", ordered, start: Number.parseInt(first, 10) || 1, items: content }, end];
}

/** Whether a list continues after an empty line. */
function goesOn(lines: readonly string[], at: number, indent: number, ordered: boolean): boolean {
  const next = lines[at + 1] ?? "";
  const within = next.length - next.trimStart().length - indent;
  const [, , mark] = ITEM.exec(next) ?? [];
  return (
    next.trim() !== "" && (within >= 2 || (mark !== undefined && within >= 0 && /\d/.test(mark) === ordered))
  );
}

function endOf(lines: readonly string[], from: number, belongs: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && belongs(lines[end] ?? "")) end += 1;
  return end;
}

function cells(line: string): Inline[][] {
  return texts(line).map((cell) => inline(cell.replaceAll("\\|", "|")));
}

function texts(line: string): string[] {
  return line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

function alignOf(cell: string): Align {
  if (!cell.endsWith(":")) return "start";
  return cell.startsWith(":") ? "center" : "end";
}

/** All repetitions are bounded, so that no text makes it slow. */
const MARK =
  /`([^`\n]{1,2000})`|\*\*([^*\n]{1,1000})\*\*|\*([^*\s][^*\n]{0,1000})\*|(!?)\[([^\]\n]{0,300})\]\(([^)\s]{1,2000})\)|(https?:\/\/[^\s<>"'`)\]]{1,2000})/g;

function inline(text: string): Inline[] {
  const found: Inline[] = [];
  let from = 0;
  for (const match of text.matchAll(MARK)) {
    if (match.index > from) found.push({ kind: "text", text: text.slice(from, match.index) });
    found.push(markOf(match));
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ kind: "text", text: text.slice(from) });
  return found;
}

function markOf([whole, code, strong, em, bang, label, target, bare]: RegExpExecArray): Inline {
  if (code !== undefined) return { kind: "code", text: code };
  if (strong !== undefined) return { kind: "strong", text: strong };
  if (em !== undefined) return { kind: "em", text: em };
  if (bare !== undefined) return { kind: "link", text: bare, href: bare };
  if (target !== undefined && bang && /^\/v1\/media\/[A-Za-z0-9._~-]+$/.test(target))
    return { kind: "picture", text: label ?? "", src: target };
  const href = safeHref(target ?? "");
  return href === undefined ? { kind: "text", text: whole } : { kind: "link", text: label || href, href };
}

/** Returns an absolute address that a click may open, or undefined. */
export function safeHref(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return ["https:", "http:", "mailto:"].includes(url.protocol) ? url.href : undefined;
}
