/** Telegram's `parse_mode: HTML`. https://core.telegram.org/bots/api#html-style */
import { type Block, isWebAddress } from "./blocks.ts";
import { type Form, written } from "./inline.ts";
import { BREAK_MAX, joined, listed } from "./lines.ts";
import type { Format } from "./split.ts";

const HTML: Form = {
  marks: { bold: ["<b>", "</b>"], italic: ["<i>", "</i>"], strike: ["<s>", "</s>"] },
  text: escaped,
  // A link contains no other entity but styles.
  code: (text, inLink) => (inLink ? escaped(text) : `<code>${escaped(text)}</code>`),
  link(inner, url, text) {
    if (url === text) return escaped(url);
    return isWebAddress(url) ? `<a href="${escaped(url)}">${inner}</a>` : `${inner} (${escaped(url)})`;
  },
};

/** Telegram counts the text that is left when it has read the markup. */
const SHOWN: Form = {
  marks: { bold: ["", ""], italic: ["", ""], strike: ["", ""] },
  text: (text) => text,
  code: (text) => text,
  link: (inner, url, text) => (url === text || isWebAddress(url) ? inner : `${inner} (${url})`),
};

export const telegramFormat: Format = {
  size: (block) => (block.kind === "text" ? textOf(block, SHOWN).length : block.text.length) + BREAK_MAX,
  // Telegram leaves out the form of all that comes after a hundred. https://limits.tginfo.me/en
  marks: { max: 100, of: marksOf },
};

/** The count is at least Telegram's own. */
function marksOf(block: Block): number {
  if (block.kind === "plain") return 0;
  if (block.kind === "code") return 1;
  const isHeading = block.level !== undefined ? 1 : 0;
  return block.runs.reduce(
    (sum, { bold, italic, strike, code, url }) =>
      sum + isHeading + [bold, italic, strike, code, url].filter(Boolean).length,
    block.quote > 0 ? 1 : 0,
  );
}

export function telegramHtml(blocks: readonly Block[]): string {
  return (
    joined(blocks, (block) => {
      if (block.kind === "plain") return escaped(block.text);
      if (block.kind === "text") return inQuote(block, textOf(block, HTML));
      const code = escaped(block.text);
      return block.language === ""
        ? `<pre>${code}</pre>`
        : `<pre><code class="language-${escaped(block.language)}">${code}</code></pre>`;
    })
      // Lines of one quote.
      .replace(/<\/blockquote>(\n+)<blockquote>/g, "$1")
  );
}

/** Quotes are not nested in Telegram: the inner ones get a mark. Code is part of no other entity, so it stands outside. */
function inQuote({ quote }: Block, text: string): string {
  return quote === 0 ? text : `<blockquote>${text}</blockquote>`;
}

function textOf(block: Block & { kind: "text" }, form: Form): string {
  const runs =
    block.level === undefined
      ? block.runs
      : block.runs.map((run) => (run.code ? run : { ...run, bold: true }));
  const text = listed(block, written(runs, form), "•");
  const mark = form.text("> ", "", "").repeat(Math.min(Math.max(0, block.quote - 1), 8));
  return mark === "" ? text : text.replace(/^/gm, mark);
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
