/** Converts a model's Markdown into a platform's markup. It works recursively, so the result is always well nested. */

export type Dialect = {
  /** Escapes text without markup. */
  plain(text: string): string;
  bold(inner: string): string;
  italic(inner: string): string;
  strike(inner: string): string;
  code(text: string): string;
  block(text: string, language: string): string;
  link(inner: string, url: string): string;
  quote(inner: string): string;
};

const INLINE = [
  /(?<ticks>`{1,3})(?<code>[^`\n]+)\k<ticks>(?!`)/,
  /\*\*(?=\S)(?<bold>[^\n]+?)(?<=\S)\*\*/,
  /(?<!\w)__(?=\S)(?<bold2>[^\n]+?)(?<=\S)__(?!\w)/,
  /~~(?=\S)(?<strike>[^\n]+?)(?<=\S)~~/,
  /\[(?<label>[^\]\n]{1,500})\]\((?<url>https?:\/\/[^\s()<>"]{1,1000})\)/,
  /(?<![\w*])\*(?=[^\s*])(?<italic>[^\n*]+?)(?<=\S)\*(?![\w*])/,
  /(?<![\w_])_(?=[^\s_])(?<italic2>[^\n_]+?)(?<=\S)_(?![\w_])/,
];
const ANY = new RegExp(INLINE.map(({ source }) => source).join("|"));
/** Deeper than real texts. */
const DEPTH_MAX = 8;

export function render(markdown: string, dialect: Dialect): string {
  const out: string[] = [];
  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const [, marks, language = ""] = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*).*$/.exec(line) ?? [];
    if (marks === undefined) {
      out.push(renderLine(line, dialect));
      continue;
    }
    const end = lines.findIndex(
      (one, index) => index > at && one.trim().startsWith(marks) && /^[`~]+$/.test(one.trim()),
    );
    const until = end === -1 ? lines.length : end;
    out.push(dialect.block(lines.slice(at + 1, until).join("\n"), language));
    at = until;
  }
  return out.join("\n");
}

function renderLine(line: string, dialect: Dialect): string {
  const [, heading] = /^#{1,6}\s+(.*?)\s*#*$/.exec(line) ?? [];
  if (heading !== undefined) return dialect.bold(renderInline(heading.replaceAll("**", ""), dialect, 0));
  const [, quoted] = /^>\s?(.*)$/.exec(line) ?? [];
  if (quoted !== undefined) return dialect.quote(renderInline(quoted, dialect, 0));
  const [, indent = "", item] = /^(\s*)[-*+]\s+(.*)$/.exec(line) ?? [];
  if (item !== undefined) return `${indent}• ${renderInline(item, dialect, 0)}`;
  return renderInline(line, dialect, 0);
}

function renderInline(text: string, dialect: Dialect, depth: number): string {
  let out = "";
  let rest = text;
  for (let match = ANY.exec(rest); match && depth < DEPTH_MAX; match = ANY.exec(rest)) {
    out += dialect.plain(rest.slice(0, match.index)) + renderMark(match.groups ?? {}, dialect, depth + 1);
    rest = rest.slice(match.index + match[0].length);
  }
  return out + dialect.plain(rest);
}

function renderMark(found: Record<string, string | undefined>, dialect: Dialect, depth: number): string {
  const inner = (text: string) => renderInline(text, dialect, depth);
  const bold = found.bold ?? found.bold2;
  const italic = found.italic ?? found.italic2;
  if (found.code !== undefined) return dialect.code(found.code);
  if (bold !== undefined) return dialect.bold(inner(bold));
  if (found.strike !== undefined) return dialect.strike(inner(found.strike));
  if (italic !== undefined) return dialect.italic(inner(italic));
  return dialect.link(inner(found.label ?? ""), found.url ?? "");
}

/** @returns Markdown that shows this text; at most twice as long */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\*_~`|<>[\]()#@:]/g, "\\$&")
    .replace(/(?<=^\s*)[-+]/gm, "\\$&")
    .replace(/(?<=^\s*\d+)\./gm, "\\$&");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Telegram's `parse_mode: HTML`. */
export const telegramHtml: Dialect = {
  plain: escaped,
  bold: (inner) => `<b>${inner}</b>`,
  italic: (inner) => `<i>${inner}</i>`,
  strike: (inner) => `<s>${inner}</s>`,
  code: (text) => `<code>${escaped(text)}</code>`,
  block: (text, language) =>
    language === ""
      ? `<pre>${escaped(text)}</pre>`
      : `<pre><code class="language-${escaped(language)}">${escaped(text)}</code></pre>`,
  link: (inner, url) => `<a href="${escaped(url)}">${inner}</a>`,
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
};

/** WhatsApp's markup, which has no links and no headings. */
export const whatsappText: Dialect = {
  plain: (text) => text,
  bold: (inner) => `*${inner}*`,
  italic: (inner) => `_${inner}_`,
  strike: (inner) => `~${inner}~`,
  code: (text) => `\`${text}\``,
  block: (text) => `\`\`\`\n${text}\n\`\`\``,
  link: (inner, url) => (inner === url ? url : `${inner} (${url})`),
  quote: (inner) => `> ${inner}`,
};

/** Slack's mrkdwn, for blocks with buttons. It is escaped, so that no text notifies a whole channel. */
export const slackMrkdwn: Dialect = {
  ...whatsappText,
  plain: escaped,
  code: (text) => `\`${escaped(text)}\``,
  block: (text) => `\`\`\`\n${escaped(text)}\n\`\`\``,
  link: (inner, url) => `<${escaped(url)}|${inner}>`,
  quote: (inner) => `> ${inner}`,
};
