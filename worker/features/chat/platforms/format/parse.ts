/** Reads Markdown (CommonMark with GFM's tables, strikethrough and bare addresses) into the blocks of a message. */
import { lazy } from "@edgecall/core/text/lazy.ts";
import MarkdownIt, { type Token } from "markdown-it";
import cjkFriendly from "markdown-it-cjk-friendly";
import { type Block, type Content, type Marker, plainContent, type Run } from "./blocks.ts";
import { tableText } from "./table.ts";

/** Longer than any answer. What is longer is shown as it is: the time of reading is bounded by this. */
const READ_MAX_CHARS = 100_000;
/** Deeper than real texts. markdown-it leaves out what is nested deeper, so such a text is shown as it is. */
const DEPTH_MAX = 60;

/** HTML is text. */
const markdownIt = lazy(() => {
  const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: DEPTH_MAX });
  // CommonMark leaves the asterisks of `**注意：**请`: a closing mark behind punctuation needs a space after it.
  parser.use(cjkFriendly);
  // Chat apps make links of these themselves, and most are names of files.
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  // Addresses stay as they are written: each platform escapes them in its own way.
  parser.normalizeLink = (url) => url;
  parser.normalizeLinkText = (url) => url;
  return parser;
});

export function markdownContent(markdown: string): Content {
  if (markdown.length > READ_MAX_CHARS) return plainContent(markdown);
  const tokens = markdownIt().parse(markdown, {});
  if (tokens.some(({ level }) => level >= DEPTH_MAX - 1)) return plainContent(markdown);
  return { blocks: new Reader().read(tokens), markdown };
}

type List = { ordered: boolean; next: number };

class Reader {
  readonly #blocks: Block[] = [];
  readonly #lists: List[] = [];
  #quote = 0;
  /** The marker of an item that has no block yet. */
  #marker: Marker | undefined;
  /** The line after the last block's. */
  #end = 0;

  read(tokens: readonly Token[]): Block[] {
    for (let at = 0; at < tokens.length; at += 1) {
      const token = tokens[at];
      if (!token) continue;
      if (token.type === "table_open") {
        const end = tokens.findIndex(({ type }, index) => index > at && type === "table_close");
        this.#code(tableText(tokens.slice(at, end), runsOf), "", token);
        at = end;
      } else this.#apply(token, tokens[at - 1]);
    }
    return this.#blocks;
  }

  #apply(token: Token, before: Token | undefined): void {
    switch (token.type) {
      case "bullet_list_open":
        this.#lists.push({ ordered: false, next: 1 });
        break;
      case "ordered_list_open":
        this.#lists.push({ ordered: true, next: Number(token.attrGet("start") ?? 1) });
        break;
      case "bullet_list_close":
      case "ordered_list_close":
        this.#lists.pop();
        break;
      case "list_item_open":
        this.#item();
        break;
      case "list_item_close":
        // An item without words.
        if (this.#marker) this.#text([], token);
        break;
      case "blockquote_open":
        this.#quote += 1;
        break;
      case "blockquote_close":
        this.#quote -= 1;
        break;
      case "inline":
        this.#text(runsOf(token), token, before?.type === "heading_open" ? Number(before.tag.slice(1)) : 0);
        break;
      case "hr":
        this.#text([{ text: RULE }], token);
        break;
      case "fence":
      case "code_block":
        this.#code(token.content.replace(/\n$/, ""), languageOf(token.info), token);
        break;
    }
  }

  #item(): void {
    const list = this.#lists.at(-1);
    if (this.#marker || !list) this.#text([], undefined);
    if (!list) return;
    this.#marker = list.ordered ? { kind: "number", start: list.next } : { kind: "bullet" };
    list.next += 1;
  }

  #place(token: Token | undefined): { apart: boolean; depth: number; quote: number } {
    const [begin, end] = token?.map ?? [this.#end, this.#end];
    const apart = this.#blocks.length > 0 && begin > this.#end;
    this.#end = Math.max(this.#end, end);
    return { apart, depth: this.#lists.length, quote: this.#quote };
  }

  #text(runs: Run[], token: Token | undefined, level = 0): void {
    const marker = this.#marker;
    this.#marker = undefined;
    this.#blocks.push({
      kind: "text",
      runs: marker ? ticked(runs) : runs,
      ...this.#place(token),
      ...(level > 0 && { level }),
      ...(marker && { marker }),
    });
  }

  #code(text: string, language: string, token: Token): void {
    // A fence that is still open, in words that arrive.
    if (text === "") return void this.#place(token);
    if (this.#marker) this.#text([], { ...token, map: token.map && [token.map[0], token.map[0]] } as Token);
    this.#blocks.push({ kind: "code", text, language, ...this.#place(token) });
  }
}

const RULE = "———";

/** A box of a list of tasks. */
function ticked(runs: Run[]): Run[] {
  const [first, ...more] = runs;
  const box = /^\[([ xX])\](?=\s)/.exec(first?.text ?? "");
  if (!first || !box || first.code) return runs;
  return [{ ...first, text: `${box[1] === " " ? "☐" : "☑"}${first.text.slice(box[0].length)}` }, ...more];
}

function languageOf(info: string): string {
  return /^[\w+#.-]{1,40}/.exec(info.trim())?.[0] ?? "";
}

/** @param token of type `inline` */
function runsOf({ children }: Token): Run[] {
  const runs: Run[] = [];
  const open = { strong: 0, em: 0, s: 0 };
  const links: Array<string | undefined> = [];
  const add = (text: string, code = false) => {
    if (text === "") return;
    const url = links.at(-1);
    const run: Run = {
      text,
      // No platform shows code in another form besides.
      ...(!code && open.strong > 0 && { bold: true }),
      ...(!code && open.em > 0 && { italic: true }),
      ...(!code && open.s > 0 && { strike: true }),
      ...(code && { code }),
      ...(url !== undefined && { url }),
    };
    const last = runs.at(-1);
    if (last && isSameForm(last, run)) last.text += text;
    else runs.push(run);
  };
  for (const token of children ?? []) {
    const { type, nesting, content } = token;
    if (type === "text" || type === "text_special") add(content);
    else if (type === "code_inline") add(content, true);
    else if (type === "softbreak" || type === "hardbreak") add("\n");
    else if (type === "link_open") links.push(addressOf(token));
    else if (type === "link_close") links.pop();
    else if (type === "image") {
      links.push(String(token.attrGet("src") ?? ""));
      add(content || "image");
      links.pop();
    } else if (nesting !== 0 && Object.hasOwn(open, token.tag))
      open[token.tag as keyof typeof open] += nesting;
  }
  return runs;
}

/** @returns undefined for a bare address of mail, which chat apps link themselves */
function addressOf(token: Token): string | undefined {
  const url = String(token.attrGet("href") ?? "");
  return token.info === "auto" && url.startsWith("mailto:") ? undefined : url;
}

function isSameForm(a: Run, b: Run): boolean {
  return (
    a.bold === b.bold &&
    a.italic === b.italic &&
    a.strike === b.strike &&
    a.code === b.code &&
    a.url === b.url
  );
}
