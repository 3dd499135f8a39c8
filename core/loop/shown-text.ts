/**
 * Separates the text of a reply from what belongs to the model's own format: thoughts at its beginning, and tokens that end it.
 * Endpoints that do not know a model's format leave both in the text.
 */

export type SplitText = {
  /** Without thoughts and end tokens. */
  text: string;
  thoughts: string;
  /** With the thoughts, where they stand in it as the model's template wants them back. */
  asCame?: string;
};

/** How thoughts begin, and how they end. */
const THOUGHTS: ReadonlyArray<readonly [begin: string, end: string]> = [
  ...["think", "thinking", "thought", "thoughts", "reasoning", "seed:think", "mm:think"].map(
    (name) => [`<${name}>`, `</${name}>`] as const,
  ),
  ["[THINK]", "[/THINK]"],
  ["◁think▷", "◁/think▷"],
  ["<|begin_of_thought|>", "<|end_of_thought|>"],
  ["<|START_THINKING|>", "<|END_THINKING|>"],
  ["<unused94>", "<unused95>"],
];
const LONGEST_TAG = Math.max(...THOUGHTS.flat().map((tag) => tag.length));
/** A template may write the opening tag itself, so that the reply has the closing one alone, at the end of a line. */
const CLOSED_ALONE =
  /(?:<\/(?:think|thinking|thought|thoughts|reasoning|seed:think|mm:think)>|\[\/THINK\]|◁\/think▷)[ \t]*(?:\r?\n|$)/;
/** OpenAI's harmony format (https://developers.openai.com/cookbook/articles/openai-harmony). */
const HARMONY = /^\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>/;
/** The same without its tokens, as decoders that skip special tokens leave it. */
const BARE_HARMONY = /^analysis(?=[A-Z"'])[\s\S]*?assistant(?:commentary[\s\S]*?assistant)?final/;
/** Tokens that end a turn, or begin the next one. A text about them has them in code. */
const END_TOKEN =
  /<[|｜](?:[a-z_▁]{0,16}(?:end|eo[tsmd])[a-z_▁]{0,16}|im_start|begin_of_text|begin▁of▁sentence|start_of_turn_token|start_header_id|return|start|user|assistant|system|observation|call)[|｜]>|<\/s>|<\/answer>|<(?:end|start)_of_turn>|<turn\|>|<eos>|\[\/?INST\]|\[e~\[/gi;
const LONGEST_END_TOKEN = 40;
/** Around the text after a thought, where a model was taught so. */
const ANSWER = "<answer>";

/** @param raw the whole text of a reply */
export function splitText(raw: string): SplitText {
  if (HARMONY.test(raw)) return fromHarmony(raw);
  const bare = BARE_HARMONY.exec(raw)?.[0];
  if (bare !== undefined) return { text: upToEnd(raw.slice(bare.length)), thoughts: bare };
  let at = 0;
  for (;;) {
    const end = endOfThoughts(raw, at);
    if (end === undefined) break;
    at = end;
  }
  if (at === 0) {
    const closed = CLOSED_ALONE.exec(raw);
    if (closed && !isInCode(raw, closed.index)) at = closed.index + closed[0].length;
  }
  if (at === 0) return { text: upToEnd(raw), thoughts: "" };
  const begin = raw.slice(at).trimStart().startsWith(ANSWER) ? raw.indexOf(ANSWER, at) + ANSWER.length : at;
  const text = upToEnd(raw.slice(begin));
  return { text: text.trimStart(), thoughts: raw.slice(0, at), asCame: raw.slice(0, at) + text };
}

/** @returns the place behind a thought that begins at `from`; undefined when none does */
function endOfThoughts(raw: string, from: number): number | undefined {
  const begin = from + (/^\s*/.exec(raw.slice(from))?.[0].length ?? 0);
  const tags = THOUGHTS.find(([open]) => raw.startsWith(open, begin));
  if (!tags) return undefined;
  const [open, close] = tags;
  const end = placeOf(close, raw, begin + open.length);
  if (end >= 0) return end + close.length;
  // A sentence about the tag goes on after a blank. A thought that was cut off has no end.
  return /^[ \t]\S/.test(raw.slice(begin + open.length)) ? undefined : raw.length;
}

/** @returns the place of a closing tag; one in code belongs to a sentence about it */
function placeOf(close: string, raw: string, from: number): number {
  let at = raw.indexOf(close, from);
  while (at > 0 && raw[at - 1] === "`") at = raw.indexOf(close, at + 1);
  return at;
}

/** Takes the messages of the final channel; the other channels are thoughts, or calls (written-calls.ts). */
function fromHarmony(raw: string): SplitText {
  const parts = raw.split(/<\|start\|>\s*assistant\s*|(?=<\|channel\|>)/);
  const final = parts.flatMap(
    (part) =>
      /^<\|channel\|>\s*final\s*(?:<\|constrain\|>\w+\s*)?<\|message\|>([\s\S]*)$/.exec(part)?.[1] ?? [],
  );
  if (final.length > 0) return { text: final.map(upToEnd).join("\n").trim(), thoughts: raw };
  // A call to a tool is left in the text, where it is noticed.
  const call = /<\|channel\|>\s*commentary[^<]*\bto=/.test(raw);
  return { text: call ? raw : "", thoughts: raw };
}

function upToEnd(text: string): string {
  for (const token of text.matchAll(END_TOKEN)) {
    if (isInCode(text, token.index)) continue;
    // `<s>struck out</s>` is Markdown's HTML.
    if (token[0] === "</s>" && text.lastIndexOf("<s>", token.index) >= 0) continue;
    if (token[0] === "</answer>" && text.lastIndexOf(ANSWER, token.index) >= 0) continue;
    return text.slice(0, token.index).trimEnd();
  }
  return text;
}

/** An odd number of backticks before it: fences have three of them. */
function isInCode(text: string, at: number): boolean {
  let count = 0;
  for (let next = text.indexOf("`"); next >= 0 && next < at; next = text.indexOf("`", next + 1)) count += 1;
  return count % 2 === 1;
}

/**
 * The text of a streamed reply, as far as it can be shown: its beginning is held until it is clear that it is no thought, and its end
 * as long as a token may begin there.
 */
export class ShownText {
  #raw = "";
  #shown = "";
  /** Held back so far, of `#raw`. */
  #from = 0;
  #state: "begins" | "text" | "held" = "begins";
  /** The closing tag of the thought that has begun, and where it is looked for: what was read once has none. */
  #thought: { close: string; after: number } | undefined;

  get raw(): string {
    return this.#raw;
  }

  /** @returns the text that can be shown now */
  add(piece: string): string {
    this.#raw += piece;
    if (this.#state === "begins") this.#begin();
    if (this.#state !== "text") return "";
    const held = /[<[][^<[>\]\n]*$/.exec(this.#raw.slice(-LONGEST_END_TOKEN));
    const until = this.#raw.length - (held?.[0].length ?? 0);
    const next = upToEnd(this.#raw.slice(this.#from, until));
    if (next.length < until - this.#from) this.#state = "held";
    this.#from = Math.max(until, this.#from);
    this.#shown += next;
    return next;
  }

  #begin(): void {
    for (;;) {
      if (this.#thought) {
        const { close, after } = this.#thought;
        const at = placeOf(close, this.#raw, after);
        this.#thought.after = Math.max(after, this.#raw.length - close.length);
        if (at < 0) return;
        this.#from = at + close.length;
        this.#thought = undefined;
      }
      const end = this.#raw.slice(this.#from).search(/\S/);
      if (end < 0) return;
      const begin = this.#raw.slice(this.#from + end, this.#from + end + LONGEST_TAG);
      const tags = THOUGHTS.find(([open]) => begin.startsWith(open));
      if (!tags) {
        if (isUnclear(begin, this.#from > 0)) return;
        if (this.#from > 0 && begin.startsWith(ANSWER)) {
          this.#from += end + ANSWER.length;
          this.#state = "text";
          return;
        }
        this.#state = HARMONY.test(begin) || begin.startsWith("analysis") ? "held" : "text";
        // Blanks before the first word are shown only where the text begins with them.
        if (this.#from > 0) this.#from += end;
        return;
      }
      this.#thought = { close: tags[1], after: this.#from + end + tags[0].length };
    }
  }

  /**
   * @returns the whole text, and what of it was not shown yet; `isOther` when something was shown that does not belong to it
   */
  end(): SplitText & { left: string; isOther: boolean } {
    const split = splitText(this.#raw);
    const isOther = !split.text.startsWith(this.#shown);
    return { ...split, isOther, left: isOther ? split.text : split.text.slice(this.#shown.length) };
  }
}

/** More text decides whether this beginning is a tag's. */
function isUnclear(begin: string, isAfterThought: boolean): boolean {
  const ofAnswer = isAfterThought ? [ANSWER] : [];
  const marks = [...THOUGHTS.map(([open]) => open), ...ofAnswer, "<|channel|>", "<|start|>", "analysis"];
  return marks.some((mark) => mark.length > begin.length && mark.startsWith(begin));
}
