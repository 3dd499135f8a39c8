/**
 * Notices a call that a model wrote into its text in place of making it. Such a call is not run: an answer may quote one, and what a
 * device reports may hold one. The model is asked once more to use the tool interface.
 */

/** Longest text in which a call is looked for, at its beginning and at its end. */
const PART_CHARS = 4_000;

/** Marks of the models' own call formats. A call-like sign counts with an offered name near it. */
const MARK =
  /<\/?(?:[a-z0-9_-]+:)?(?:tool_?calls?|(?:execute_?)?tools?(?:_?use|_?name)?|use_tool|function_?calls?|functions?|invoke|tool_code|action)\b|✿FUNCTION✿|<[|｜][^<>\n]{0,40}(?:tool|call|invoke|python_tag|action|plugin)[^<>\n]{0,40}>|\[(?:tool_?calls?|tool_?use|function_?calls?)\b|functools\[|<function[=(]|\bto=(?:functions?\.)?\w|<unused\d+>\s*(?:call|tool)|```(?:tool_?code|tool_?call)|(?:^|\n)\s*call:\s*\w/i;

export const WRITTEN_CALL_NOTE =
  "[edgecall] You wrote a tool call into your answer, so it was not made. Nothing was done. Make the call through the tool interface, or answer without it.";

/**
 * @param text of a reply without calls
 * @param names of the offered tools
 * @returns the tool that the text calls at its beginning or its end; undefined for an answer, also one that quotes a call
 */
export function writtenCall(text: string, names: ReadonlySet<string>): string | undefined {
  const whole = text.trim();
  const name = [...names].find((it) => whole.includes(it));
  if (name === undefined) return undefined;
  const parts = whole.length <= PART_CHARS ? [whole] : [whole.slice(0, PART_CHARS), whole.slice(-PART_CHARS)];
  return [...names].find((it) => parts.some((part) => isCalled(part, it)));
}

function isCalled(text: string, name: string): boolean {
  if (!text.includes(name)) return false;
  return (
    isMarked(text, name) ||
    isAnnounced(text, name) ||
    isJsonCall(text, name) ||
    isWrittenOut(text, name) ||
    isAction(text, name)
  );
}

/** A mark of a call format, with the name after it, at the beginning or as the last thing of the text. */
function isMarked(text: string, name: string): boolean {
  const mark = MARK.exec(text) ?? new RegExp(`<${escaped(name)}[\\s/>]`).exec(text);
  if (!mark) return false;
  const after = text.slice(mark.index);
  // The mark of the format holds the name, or it follows within a line or two.
  if (!new RegExp(`${bounded(name)}`).test(after.slice(0, 200 + name.length))) return false;
  // In code within a sentence it is quoted.
  if (/(?:^|[^`])`$/.test(text.slice(0, mark.index))) return false;
  const isFirst = mark.index <= 3 || /^\s*(?:```\w*\s*)?$/.test(text.slice(0, mark.index));
  return isFirst || endsAsCall(after, text.slice(0, mark.index));
}

/** `**Tool call:** edge_call` or `Calling edge_call with`, and its arguments as the last thing of the text. */
function isAnnounced(text: string, name: string): boolean {
  const verb = "(?:tool|function)[ _-]?call|\\b(?:call|invok|execut|run|us)(?:e|ing|ning)?";
  const between = "\\W{0,8}(?:with\\s+)?(?:the\\s+|these\\s+)?(?:\\w+\\s*:?\\s*)?";
  const announced = new RegExp(
    `(?:${verb})\\W{1,8}(?:the\\s+)?(?:(?:tool|function)\\W{1,8})?${bounded(name)}${between}[({]\\s*(?:["'{]|\\w+\\s*[=:])`,
    "i",
  );
  return announced.test(text) && /[)}\]]\s*(?:```)?$/.test(text);
}

/** After a lead such as "Let me look:" nothing follows the call. Two paragraphs before it are an explanation. */
function endsAsCall(after: string, before: string): boolean {
  const isLead = before.trim().split(/\n\s*\n/).length <= 2 && before.length < 600;
  return isLead && /(?:[>\]})｜|]|```|\s)$/.test(after) && !/[.!?]\s*$/.test(after);
}

/** JSON with the name and with arguments: the whole text, a fence at its end, or after a lead. */
function isJsonCall(text: string, name: string): boolean {
  const bare = unfenced(text);
  const quoted = `["']${escaped(name)}["']`;
  const named = new RegExp(
    `["']?(?:name|tool|tool_name|function|function_name|action|command|method|recipient_name|call|api)["']?\\s*:\\s*(?:\\{\\s*["']?name["']?\\s*:\\s*)?${quoted}|^[[{\\s]*${quoted}\\s*:\\s*\\{`,
    "i",
  );
  const taken = /["']?(?:arguments|parameters|params|args|input|action_input|tool_input|kwargs)["']?\s*:/i;
  const isObject = (it: string) =>
    /^[[{]/.test(it) &&
    /[\]}]$/.test(it) &&
    named.test(it) &&
    (taken.test(it) || new RegExp(`^[[{\\s]*${quoted}\\s*:\\s*\\{`).test(it));
  if (isObject(bare)) return true;
  const fence = lastFence(text);
  if (fence) return isObject(fence);
  const at = text.search(/(?:^|\n)\s*[[{]/);
  if (at < 0 || !isLeadBefore(text, at)) return false;
  return isObject(text.slice(at).trim()) || text.split("\n").some((line) => isObject(line.trim()));
}

/** Removes a fence around all of it. */
function unfenced(text: string): string {
  const begins = text.startsWith("```") ? text.slice(3).replace(/^\w*/, "") : text;
  return (begins.endsWith("```") ? begins.slice(0, -3) : begins).trim();
}

/** The code in the one fence of a text, which ends it. */
function lastFence(text: string): string | undefined {
  const whole = text.trimEnd();
  const at = whole.endsWith("```") ? whole.lastIndexOf("```", whole.length - 4) : -1;
  if (at < 0 || !isLeadBefore(whole, at)) return undefined;
  return whole
    .slice(at + 3, -3)
    .replace(/^\w*/, "")
    .trim();
}

function isLeadBefore(text: string, at: number): boolean {
  const before = text.slice(0, at).trim();
  return before.length < 300 && !before.includes("```");
}

/** `edge_call(agent_id="pi")` or `print(default_api.edge_call(…))`, alone or as the last line. */
function isWrittenOut(text: string, name: string): boolean {
  const bare = unfenced(text);
  const before = "[[@/]?(?:(?:(?:const|let|var)\\s+)?\\w+\\s*=\\s*)?(?:print\\()?(?:await\\s+)?(?:\\w+\\.)?";
  const called = `${before}${escaped(name)}\\s*(?:\\(|\\{\\s*["'])[\\s\\S]*[)}\\]]{1,3};?`;
  if (new RegExp(`^${called}$`).test(bare)) return true;
  const fence = lastFence(text);
  if (fence) return new RegExp(`^${called}$`).test(fence);
  const last = text.slice(text.lastIndexOf("\n") + 1).trim();
  return (
    last !== text && isLeadBefore(text, text.length - last.length) && new RegExp(`^${called}$`).test(last)
  );
}

/** `Action: edge_call` with `Action Input: …`, the same in YAML, or with its arguments in brackets. */
function isAction(text: string, name: string): boolean {
  const action = `(?:^|\\n)\\s*\\**(?:Action|Tool|Function)\\**\\s*:\\**\\s*${bounded(name)}`;
  const input = "\\s*\\n\\s*\\**(?:Action[ _]?)?(?:Input|Arguments|Parameters|Params|Args)\\**\\s*:";
  return new RegExp(`${action}(?:${input}|\\s*[([{]\\s*(?:["'{]|\\w+\\s*[=:]))`, "i").test(text);
}

function bounded(name: string): string {
  return `(?<![A-Za-z0-9_])${escaped(name)}(?![A-Za-z0-9_])`;
}

function escaped(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "\\$&");
}

/** Places where a call may begin: a mark, code in a language of calls, or JSON at the beginning of a line. */
const SUSPECT =
  /<(?:\/?[\w.-]{0,24}$|[|｜]|\/?[\w-]{1,20}:|\/?(?:tool|func|invoke|exec|use_|action|call|unused))|```(?!(?:sh|bash|shell|zsh|fish|console|sql|diff|log|csv|ini|toml|html|css|c|cpp|rust|go|java|mermaid)\s)|`{1,2}$|\[TOOL|(?:^|\n)[ \t]*(?:[[{@✿]|await |to=|\*{0,2}(?:Action|Tool|tool|TOOL|Function|function|Calling)(?![a-z]))/;
/** Beginnings of a line with a call, beside the tools' names. */
const LINE_BEGINNINGS = [
  ...["functools[", "print(", "default_api.", "functions.", "call:", "await ", "to="],
  ...["Action", "Tool", "tool", "TOOL", "Function", "function", "Calling"].flatMap((word) => [
    word,
    `**${word}`,
  ]),
];
/** A call names its tool within so many characters. */
const NAMED_WITHIN = 250;

/** The text of a streamed reply, without what may become a call: a text that a person has seen cannot be withdrawn everywhere. */
export class HeldText {
  readonly #names: readonly string[];
  readonly #suspect: RegExp;
  #held = "";
  // Only appended to: to look into it would copy all of it for each piece.
  #given = "";
  #isLineBegin = true;
  /** A tool is named where a call may begin, so all that follows is held. */
  #isHeldToEnd = false;

  /** @param names of the offered tools; without any nothing is held */
  constructor(names: ReadonlySet<string>) {
    this.#names = [...names];
    const tags = this.#names.map((name) => `<${escaped(name)}`);
    this.#suspect = new RegExp([SUSPECT.source, ...tags].join("|"), "i");
  }

  /** What was given out so far. */
  get given(): string {
    return this.#given;
  }

  /** @returns the text that can be shown now */
  add(piece: string): string {
    this.#held += piece;
    if (this.#isHeldToEnd) return "";
    let next = "";
    while (this.#held !== "") {
      const at = this.#place();
      if (at === 0 && this.#held.length > NAMED_WITHIN)
        this.#isHeldToEnd = this.#names.some((name) => this.#held.includes(name));
      if (at === 0 && (this.#isHeldToEnd || this.#held.length <= NAMED_WITHIN)) break;
      // Where it is clear that no call begins, the rest is looked at again.
      const free = at > 0 ? at : at < 0 ? this.#held.length : 1;
      next += this.#give(this.#held.slice(0, free));
      this.#held = this.#held.slice(free);
    }
    return next;
  }

  /** What came so far is no part of the reply. */
  forget(): void {
    this.#held = "";
    this.#given = "";
    this.#isLineBegin = true;
    this.#isHeldToEnd = false;
  }

  /** @returns the rest, when the reply is over and has no call */
  end(): string {
    const rest = this.#give(this.#held);
    this.#held = "";
    return rest;
  }

  #give(text: string): string {
    this.#given += text;
    if (text !== "") this.#isLineBegin = text.endsWith("\n");
    return text;
  }

  /** @returns where a call may begin; -1: nowhere */
  #place(): number {
    if (this.#names.length === 0) return -1;
    // A character stands for the line that was given out.
    const ahead = this.#isLineBegin ? "" : ".";
    const found = this.#suspect.exec(ahead + this.#held)?.index ?? -1;
    const line = lastLine(ahead + this.#held);
    const isName =
      line.text !== "" &&
      [...this.#names, ...LINE_BEGINNINGS].some(
        (begin) => begin.startsWith(line.text) || line.text.startsWith(begin),
      );
    const places = [found, isName ? line.at : -1].filter((at) => at >= 0);
    return places.length === 0 ? -1 : Math.max(0, Math.min(...places) - ahead.length);
  }
}

function lastLine(text: string): { text: string; at: number } {
  const at = text.lastIndexOf("\n") + 1;
  return { text: text.slice(at).trimStart(), at };
}
