/** Cuts a template into texts and the tokens within its tags, by Jinja's rules of whitespace. */
import { TemplateProblem } from "./budget.ts";

export type Token = {
  kind: "text" | "name" | "string" | "int" | "float" | "operator" | "{{" | "}}" | "{%" | "%}" | "end";
  text: string;
};

const TAG = /\{\{|\{%|\{#/g;
const COMMENT_END = /([-+]?)#\}/g;
/** Text between these tags is not parsed. */
const RAW = /\{%[-+]?\s*raw\s*([-+]?)%\}/y;
const RAW_END = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const IN_TAG =
  /(?<space>\s+)|(?<float>(?<!\.)\d[\d_]*(?:\.\d[\d_]*(?:e[+-]?\d+)?|e[+-]?\d+))|(?<int>0x[\da-f_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*)|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")|(?<operator>\/\/|\*\*|[=!<>]=|[-+/*%~[\](){}<>=.:|,;])/isuy;
const CLOSED_BY: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const KINDS = ["float", "int", "name", "string", "operator"] as const;

export function tokenize(template: string): Token[] {
  const source = template.replace(/\r\n|\r/g, "\n").replace(/\n$/, "");
  const tokens: Token[] = [];
  let at = 0;
  // A "-" in the tag before it takes the whitespace off the text.
  const text = (end: number, strips: boolean) => {
    const part = source.slice(at, end);
    if (part !== "") tokens.push({ kind: "text", text: strips ? part.trimEnd() : part });
  };
  const skip = (end: number, strips: boolean) => {
    at = end;
    while (strips && at < source.length && /\s/.test(source.charAt(at))) at += 1;
  };
  for (;;) {
    const tag = matchAt(TAG, source, at);
    if (!tag) break;
    const inside = tag.index + 2;
    const strips = source[inside] === "-";
    text(tag.index, strips);
    const opening = tag[0];
    if (opening === "{#") {
      const end = matchAt(COMMENT_END, source, inside);
      if (!end) throw new TemplateProblem("has a comment without #}");
      skip(end.index + end[0].length, end[1] === "-");
      continue;
    }
    RAW.lastIndex = tag.index;
    const raw = opening === "{%" ? RAW.exec(source) : null;
    if (raw) {
      const begin = tag.index + raw[0].length;
      const end = matchAt(RAW_END, source, begin);
      if (!end) throw new TemplateProblem("has {% raw %} without {% endraw %}");
      skip(begin, raw[1] === "-");
      text(end.index, end[1] === "-");
      skip(end.index + end[0].length, end[2] === "-");
      continue;
    }
    tokens.push({ kind: opening === "{{" ? "{{" : "{%", text: opening });
    const isSigned = strips || source[inside] === "+";
    const { end, strips: stripsAfter } = readTag(source, isSigned ? inside + 1 : inside, opening, tokens);
    skip(end, stripsAfter);
  }
  text(source.length, false);
  tokens.push({ kind: "end", text: "the end" });
  return tokens;
}

/** Reads the tokens of a tag until its end, which does not count within brackets. */
function readTag(
  source: string,
  start: number,
  opening: string,
  tokens: Token[],
): { end: number; strips: boolean } {
  const closing = opening === "{{" ? "}}" : "%}";
  const open: string[] = [];
  let at = start;
  for (;;) {
    if (open.length === 0) {
      const isSigned = source[at] === "-" || (source[at] === "+" && closing === "%}");
      const end = isSigned ? at + 1 : at;
      if (source.startsWith(closing, end)) {
        tokens.push({ kind: closing, text: closing });
        return { end: end + 2, strips: source[at] === "-" };
      }
    }
    const match = matchAt(IN_TAG, source, at);
    if (!match) {
      const found = at < source.length ? `the character ${JSON.stringify(source[at])}` : "the end";
      throw new TemplateProblem(`has ${found} in a tag, where ${closing} or an expression would be right`);
    }
    at += match[0].length;
    const kind = KINDS.find((kind) => match.groups?.[kind] !== undefined);
    if (kind === undefined) continue;
    tokens.push({ kind, text: kind === "string" ? unescaped(match[0].slice(1, -1)) : match[0] });
    if (kind !== "operator") continue;
    const closedBy = CLOSED_BY[match[0]];
    if (closedBy !== undefined) open.push(closedBy);
    else if (")]}".includes(match[0]) && open.pop() !== match[0])
      throw new TemplateProblem(`has a ${match[0]} that closes nothing`);
  }
}

function matchAt(pattern: RegExp, source: string, from: number): RegExpExecArray | undefined {
  pattern.lastIndex = from;
  return pattern.exec(source) ?? undefined;
}

const ESCAPED: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

/** Python's escapes in a text; an unknown one stays as it is. */
function unescaped(text: string): string {
  return text.replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/gs, (whole, short, long, letter) =>
    letter === undefined
      ? String.fromCharCode(Number.parseInt(short ?? long, 16))
      : (ESCAPED[letter] ?? whole),
  );
}
