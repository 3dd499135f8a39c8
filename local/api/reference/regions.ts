/** Pages that people write, with regions that programs write: between `<!-- made: NAME -->` and `<!-- end -->`. */

const REGION = /(<!-- made: ([\w-]+) -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * @param texts Markdown by the name of its region
 * @returns the page with these regions
 * @throws when the page lacks a region, or has one that nothing makes
 */
export function withRegions(page: string, texts: Readonly<Record<string, string>>): string {
  const missing = new Set(Object.keys(texts));
  const made = page.replace(REGION, (_, begin: string, name: string, end: string) => {
    const text = texts[name];
    if (text === undefined) throw new Error(`no text is made for the region ${name}`);
    missing.delete(name);
    return `${begin}\n${text.trim()}\n\n${end}`;
  });
  if (missing.size > 0) throw new Error(`the page has no region ${[...missing].join(", ")}`);
  return made;
}

/** @returns the words of a page that people wrote: without regions, tables and code */
export function wordsByHand(page: string): number {
  const prose = page
    .replace(REGION, "")
    .replace(/^```[\s\S]*?^```/gm, "")
    .replace(/^\|.*$/gm, "");
  return prose.split(/\s+/).filter((word) => /\w/.test(word)).length;
}

/** @returns a table in Markdown. A cell is text of one line, in which `|` is escaped here */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/\s+/g, " ").replaceAll("|", "\\|").trim()).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export const code = (text: string) => `\`${text}\``;
