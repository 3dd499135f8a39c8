/** Writes the runs of a text with a platform's marks, so that the marks are well nested. */
import type { Run } from "./blocks.ts";

export type Style = "bold" | "italic" | "strike";
const STYLES: readonly Style[] = ["bold", "italic", "strike"];

/** Marks are read only where they touch a word, so a space at the edge of a style stands outside of it. */
export function withTightStyles(runs: readonly Run[]): Run[] {
  const parts: Run[] = runs.flatMap((run) =>
    run.code
      ? [{ ...run }]
      : (run.text.match(/^\s+|\S(?:[\s\S]*\S)?|\s+$/g) ?? []).map((text) => ({ ...run, text })),
  );
  for (const order of [parts, parts.toReversed()])
    for (const style of STYLES) {
      let isInside = false;
      for (const part of order) {
        if (!isInside && part.text.trim() === "") delete part[style];
        isInside = part[style] === true;
      }
    }
  return parts;
}

/** How a platform writes inside a text. */
export type Form = {
  /** What stands before and behind a text of this style. */
  marks: Record<Style, readonly [string, string]>;
  /** @param before the sign before the text @param after the sign behind it; both are empty at the text's ends */
  text(text: string, before: string, after: string): string;
  code(text: string, inLink: boolean): string;
  /** @param inner the link's text in the platform's markup @param text the same as words */
  link(inner: string, url: string, text: string): string;
};

/** Consecutive runs that lead to one place, or a single run. `styles` are those of all of them. */
type Item = { styles: Style[]; runs: Run[]; at: number };

export function written(runs: readonly Run[], form: Form): string {
  const whole = runs.map(({ text }) => text).join("");
  const items = itemsOf(runs);
  return nested(
    items.map(({ styles }) => styles),
    form,
    (index) => {
      const { runs: own, styles, at } = items[index] as Item;
      const [first] = own;
      const url = first?.url;
      if (url === undefined) return piece(first as Run, at, whole, form);
      const inner = own.map((run) => STYLES.filter((style) => run[style] && !styles.includes(style)));
      const starts = offsets(own, at);
      const text = own.map((run) => run.text).join("");
      const label = nested(inner, form, (n) => piece(own[n] as Run, starts[n] ?? at, whole, form));
      return form.link(label, url, text);
    },
  );
}

function piece({ text, code, url }: Run, at: number, whole: string, form: Form): string {
  if (code) return form.code(text, url !== undefined);
  return form.text(text, whole[at - 1] ?? "", whole[at + text.length] ?? "");
}

function offsets(runs: readonly Run[], from: number): number[] {
  let at = from;
  return runs.map(({ text }) => {
    at += text.length;
    return at - text.length;
  });
}

function itemsOf(runs: readonly Run[]): Item[] {
  const items: Item[] = [];
  let at = 0;
  for (const run of runs) {
    const last = items.at(-1);
    const styles = STYLES.filter((style) => run[style]);
    if (last && run.url !== undefined && last.runs[0]?.url === run.url) {
      last.runs.push(run);
      last.styles = last.styles.filter((style) => styles.includes(style));
    } else items.push({ styles, runs: [run], at });
    at += run.text.length;
  }
  return items;
}

/** @param styles of each piece @param write a piece without its marks */
function nested(styles: readonly Style[][], { marks }: Form, write: (index: number) => string): string {
  const open: Style[] = [];
  let out = "";
  const closeTo = (count: number) => {
    for (const style of open.splice(count).reverse()) out += marks[style][1];
  };
  styles.forEach((wanted, index) => {
    const ended = open.findIndex((style) => !wanted.includes(style));
    if (ended >= 0) closeTo(ended);
    // What goes on longest is opened first.
    const lasts = (style: Style) => {
      const end = styles.findIndex((some, at) => at > index && !some.includes(style));
      return end < 0 ? styles.length : end;
    };
    const begun = wanted.filter((style) => !open.includes(style)).sort((a, b) => lasts(b) - lasts(a));
    for (const style of begun) {
      open.push(style);
      out += marks[style][0];
    }
    out += write(index);
  });
  closeTo(0);
  return out;
}
