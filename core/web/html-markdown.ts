/**
 * Converts HTML to Markdown for a model: text, headings, lists, links, code and tables, in one pass and without a document
 * tree. It leaves out what a person would not see (scripts, forms, hidden parts). It also leaves out navigation and footer,
 * unless the page has nothing else.
 */
import { Parser } from "htmlparser2";

export type Markdown = { title: string; text: string };

/** The parser's cost grows with the depth; no real page is half as deep. */
const DEPTH_MAX = 512;
/** The page is parsed in pieces of this size; after each, the converter checks whether to continue. */
const PIECE_CHARS = 16 * 1024;
/** A shorter `main` part is not the page's content. */
const MAIN_MIN_CHARS = 200;
const TITLE_MAX_CHARS = 300;
const LINK_MAX_CHARS = 500;
const INDENT_MAX = 8;

const NEVER_SEEN = new Set(
  "script style noscript template iframe object embed canvas svg math audio video select datalist textarea button".split(
    " ",
  ),
);
const AROUND = new Set(["nav", "footer", "aside"]);
const BLOCKS = new Set(
  "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol option p pre section summary table tbody tfoot thead tr ul".split(
    " ",
  ),
);
const PARAGRAPHS = new Set("blockquote dl figure h1 h2 h3 h4 h5 h6 hr ol p pre table ul".split(" "));
const WANTED_ATTRIBUTES = new Set(["href", "alt", "hidden", "aria-hidden", "style", "start"]);

/**
 * @param base address from which relative links are resolved
 * @param maxChars approximate limit of the text; the rest of the page is not read
 */
export function htmlToMarkdown(html: string, base: URL | undefined, maxChars: number): Markdown {
  const page = convert(html, base, maxChars, AROUND);
  return page.text === "" ? convert(html, base, maxChars, new Set()) : page;
}

function convert(
  html: string,
  base: URL | undefined,
  maxChars: number,
  around: ReadonlySet<string>,
): Markdown {
  const writer = new Writer(base, around);
  // Not `onopentag`: it collects all attributes of a tag in an object, and a hostile tag has a million.
  const parser = new Parser({
    onopentagname: (name) => writer.open(name),
    onattribute: (name, value) => writer.attribute(name, value),
    ontext: (text) => writer.text(text),
    onclosetag: (name) => writer.close(name),
  });
  for (
    let at = 0;
    at < html.length && writer.depth <= DEPTH_MAX && writer.length < maxChars;
    at += PIECE_CHARS
  )
    parser.write(html.slice(at, at + PIECE_CHARS));
  parser.end();
  return writer.result();
}

type List = { ordered: boolean; next: number };

class Writer {
  readonly #base: URL | undefined;
  readonly #around: ReadonlySet<string>;
  /** Open elements; the parser guarantees that they close in order. */
  readonly #open: string[] = [];
  /** The depth at which a hidden part began. */
  #unseenFrom: number | undefined;
  #pending: { name: string; attributes: Map<string, string> } | undefined;
  /** The output so far, as a list, because a string would be copied each time it grows or is cut. */
  readonly #parts: string[] = [];
  #length = 0;
  #title = "";
  /** Line breaks due before the next text. */
  #breaks = 0;
  #space = false;
  readonly #lists: List[] = [];
  #quotes = 0;
  #pre = 0;
  /** For each open table: the number of cells in the present row, and whether one is open. */
  readonly #tables: Array<{ cells: number; inCell: boolean }> = [];
  readonly #links: Array<{ href: string; from: number; length: number }> = [];
  /** Output length when a bullet, heading mark or fence was written; the next text stays on the same line. */
  #marked = -1;
  #main: { from: number; to?: number } | undefined;

  constructor(base: URL | undefined, around: ReadonlySet<string>) {
    this.#base = base;
    this.#around = around;
  }

  get depth(): number {
    return this.#open.length;
  }

  get length(): number {
    return this.#length;
  }

  open(name: string): void {
    this.#begin();
    this.#pending = { name, attributes: new Map() };
  }

  attribute(name: string, value: string): void {
    if (WANTED_ATTRIBUTES.has(name)) this.#pending?.attributes.set(name, value);
  }

  text(text: string): void {
    this.#begin();
    if (this.#open.at(-1) === "title" && this.#title.length < TITLE_MAX_CHARS && !this.#open.includes("svg"))
      this.#title += text;
    if (this.#unseenFrom !== undefined) return;
    if (this.#pre > 0) {
      this.#put(escaped(text));
      return;
    }
    const words = text.replace(/[ \t\r\n\f\u00a0]+/g, " ");
    if (words.startsWith(" ")) this.#space = true;
    const trimmed = words.trim();
    if (trimmed !== "") this.#put(escaped(trimmed));
    if (words.endsWith(" ")) this.#space = true;
  }

  close(name: string): void {
    this.#begin();
    if (!VOID.has(name)) {
      if (this.#unseenFrom === this.#open.length) this.#unseenFrom = undefined;
      else if (this.#unseenFrom === undefined) this.#end(name);
      this.#open.pop();
    }
  }

  result(): Markdown {
    this.#begin();
    const main = this.#main ? tidied(this.#parts.slice(this.#main.from, this.#main.to).join("")) : "";
    const text = main.length >= MAIN_MIN_CHARS ? main : tidied(this.#parts.join(""));
    return { title: this.#title.replace(/\s+/g, " ").trim().slice(0, TITLE_MAX_CHARS), text };
  }

  /** Attributes arrive one by one. They are complete when the next item arrives. */
  #begin(): void {
    const tag = this.#pending;
    if (!tag) return;
    this.#pending = undefined;
    const { name, attributes } = tag;
    if (!VOID.has(name)) this.#open.push(name);
    if (this.#unseenFrom !== undefined) return;
    if (
      NEVER_SEEN.has(name) ||
      name === "head" ||
      name === "title" ||
      this.#around.has(name) ||
      isHidden(attributes)
    ) {
      if (!VOID.has(name)) this.#unseenFrom = this.#open.length;
      return;
    }
    this.#start(name, attributes);
  }

  #start(name: string, attributes: ReadonlyMap<string, string>): void {
    if (BLOCKS.has(name)) this.#break(PARAGRAPHS.has(name) && this.#lists.length === 0 ? 2 : 1);
    if (/^h[1-6]$/.test(name)) this.#mark(`${"#".repeat(Number(name[1]))} `);
    else if (name === "br") this.#break(1);
    else if (name === "hr") {
      this.#put("---");
      this.#break(2);
    } else if (name === "ul" || name === "ol" || name === "menu") {
      const start = Number.parseInt(attributes.get("start") ?? "1", 10);
      this.#lists.push({ ordered: name === "ol", next: Number.isNaN(start) ? 1 : start });
    } else if (name === "li") this.#bullet();
    else if (name === "blockquote") this.#quotes += 1;
    else if (name === "pre") {
      this.#put("```\n");
      this.#pre += 1;
    } else if (name === "code" && this.#pre === 0) this.#put("`");
    else if (name === "table") this.#tables.push({ cells: 0, inCell: false });
    else if (name === "tr") this.#row();
    else if (name === "td" || name === "th") this.#cell();
    else if (name === "img") {
      const alt = attributes.get("alt")?.trim();
      if (alt) this.#put(`[image: ${escaped(alt.slice(0, TITLE_MAX_CHARS))}]`);
    } else if (name === "a") {
      this.#links.push({
        href: this.#address(attributes.get("href")),
        from: this.#parts.length,
        length: this.#length,
      });
    } else if (name === "main" && !this.#main) {
      this.#main = { from: this.#parts.length };
    }
  }

  #end(name: string): void {
    if (name === "pre") {
      this.#pre = Math.max(0, this.#pre - 1);
      this.#put(this.#parts.at(-1)?.endsWith("\n") ? "```" : "\n```");
    } else if (name === "code" && this.#pre === 0) {
      this.#space = false;
      this.#write("`");
    } else if (name === "ul" || name === "ol" || name === "menu") this.#lists.pop();
    else if (name === "blockquote") this.#quotes = Math.max(0, this.#quotes - 1);
    else if (name === "a") this.#endLink();
    else if (name === "main" && this.#main) this.#main.to ??= this.#parts.length;
    else if (name === "table") this.#tables.pop();
    else if (name === "tr") this.#row();
    if (BLOCKS.has(name)) this.#break(PARAGRAPHS.has(name) && this.#lists.length === 0 ? 2 : 1);
  }

  #bullet(): void {
    const list = this.#lists.at(-1);
    const indent = "  ".repeat(Math.min(INDENT_MAX, Math.max(0, this.#lists.length - 1)));
    this.#mark(list?.ordered ? `${indent}${list.next}. ` : `${indent}- `);
    if (list) list.next += 1;
  }

  /** Keeps only addresses that can be fetched; others would waste tokens. */
  #address(href: string | undefined): string {
    if (href === undefined || href.startsWith("#") || !URL.canParse(href, this.#base?.href)) return "";
    const url = new URL(href, this.#base?.href);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : "";
  }

  #endLink(): void {
    const link = this.#links.pop();
    // A link that encloses a whole part of the page has no useful link text.
    if (!link?.href || this.#length - link.length > LINK_MAX_CHARS) return;
    const text = this.#parts.slice(link.from).join("");
    const words = text.trim();
    if (words === "" || words === link.href || words.includes("\n")) return;
    const lead = text.slice(0, text.length - text.trimStart().length);
    this.#parts.length = link.from;
    this.#write(`${lead}[${words}](${link.href})`);
    this.#length = link.length + (this.#parts.at(-1)?.length ?? 0);
  }

  #row(): void {
    const table = this.#tables.at(-1);
    if (table) Object.assign(table, { cells: 0, inCell: false });
  }

  #cell(): void {
    const table = this.#tables.at(-1);
    if (!table) return;
    this.#space = false;
    if (table.cells > 0) this.#put(" | ");
    table.cells += 1;
    table.inCell = true;
  }

  #break(lines: number): void {
    if (this.#length === this.#marked) return;
    // A table row must stay on one line, whatever its cells contain.
    if (this.#tables.at(-1)?.inCell) this.#space = true;
    else {
      this.#breaks = Math.max(this.#breaks, lines);
      this.#space = false;
    }
  }

  #mark(text: string): void {
    this.#put(text);
    this.#marked = this.#length;
  }

  #put(text: string): void {
    if (this.#breaks > 0) {
      if (this.#length > 0) this.#write("\n".repeat(this.#breaks));
      this.#write("> ".repeat(Math.min(this.#quotes, 5)));
    } else if (this.#space && this.#length > 0 && !/\s$/.test(this.#parts.at(-1)?.slice(-1) ?? "")) {
      this.#write(" ");
    }
    this.#breaks = 0;
    this.#space = false;
    this.#write(text);
  }

  #write(text: string): void {
    if (text === "") return;
    this.#parts.push(text);
    this.#length += text.length;
  }
}

/** Elements without an end tag; the parser still reports one. */
const VOID = new Set(
  "area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr".split(
    " ",
  ),
);

function isHidden(attributes: ReadonlyMap<string, string>): boolean {
  if (attributes.has("hidden") || attributes.get("aria-hidden") === "true") return true;
  const style = attributes.get("style")?.toLowerCase().replace(/\s/g, "") ?? "";
  return /display:none|visibility:hidden|font-size:0(?![.\d])|opacity:0(?![.\d])/.test(style);
}

/** Escapes characters that would be read as Markdown. */
function escaped(text: string): string {
  return text.replaceAll("```", "'''");
}

function tidied(text: string): string {
  // Line by line, because a pattern for trailing blanks takes quadratic time on a long run of blanks.
  const lines = text.split("\n").map((line) => line.trimEnd());
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
