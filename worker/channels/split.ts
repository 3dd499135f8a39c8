/** Splits a long answer into messages at paragraphs, lines or words. A code fence is closed and opened again. */

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/**
 * @param max length of one message in UTF-16 units, at least 64
 * @returns messages that contain the whole text; only lines that close and open fences are added
 */
export function splitMarkdown(text: string, max: number): string[] {
  const parts: string[] = [];
  let rest = text.trimEnd();
  /** The opening line of the fence in which the last part ended; empty: none. */
  let opening = "";
  while (rest !== "") {
    const head = opening === "" ? "" : `${opening}\n`;
    const whole = head + rest;
    const closed = whole + closing(openFence(whole));
    if (closed.length <= max) {
      parts.push(closed);
      break;
    }
    // Leaves room for the line that closes a fence.
    const at = cutAt(whole, head.length, max - closing(longestOpening(whole.slice(0, max))).length);
    const part = whole.slice(0, at);
    const open = openFence(part);
    parts.push(open === "" ? part.trimEnd() : part.replace(/\n+$/, "") + closing(open));
    rest = whole.slice(at).replace(open === "" ? /^\s+/ : /^\n+/, "");
    const [first = "", ...more] = rest.split("\n");
    // The cut is directly before the line that closes the fence, which is closed already.
    const isClosed = open !== "" && openFence(`${open}\n${first}`) === "";
    opening = isClosed ? "" : open;
    if (isClosed) rest = more.join("\n").trimStart();
  }
  return parts.filter((part) => part.trim() !== "");
}

/** @returns where to cut, after `from` and up to `max`: the best place in the second half, or anywhere */
function cutAt(text: string, from: number, max: number): number {
  const least = Math.max(from + 1, Math.floor(max / 2));
  for (const mark of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(mark, max - mark.length);
    if (at >= least) return at + mark.length;
  }
  // Do not cut a surrogate pair.
  const code = text.charCodeAt(max - 1);
  return code >= 0xd800 && code <= 0xdbff && max - 1 > from ? max - 1 : max;
}

/** @returns the opening line of the fence in which a text ends; empty when it ends outside */
function openFence(text: string): string {
  let open = "";
  for (const line of text.split("\n")) {
    const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
    if (marks === "") continue;
    if (open === "") open = line.length > OPENING_MAX ? marks : line;
    else if (marks[0] === markOf(open)[0] && marks.length >= markOf(open).length && info.trim() === "")
      open = "";
  }
  return open;
}

/** A longer opening line has more than a language's name, so only its mark is repeated. */
const OPENING_MAX = 40;

/** @returns the opening line with the longest mark, to leave room for closing any fence of the text */
function longestOpening(text: string): string {
  const lines = text.split("\n").filter((line) => FENCE.test(line));
  return lines.sort((a, b) => markOf(b).length - markOf(a).length)[0] ?? "";
}

function markOf(line: string): string {
  return (FENCE.exec(line)?.[1] ?? "").slice(0, OPENING_MAX);
}

function closing(open: string): string {
  return open === "" ? "" : `\n${markOf(open)}`;
}
