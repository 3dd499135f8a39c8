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
/** A text that begins with more blanks has no thought behind them. */
const BLANKS_MAX = 200;
const LONGEST_TAG = Math.max(...THOUGHTS.flat().map((tag) => tag.length));
/** A template may write the opening tag itself, so that the reply has the closing one alone, at the end of a line. */
const CLOSED_ALONE =
  /(?:<\/(?:think|thinking|thought|thoughts|reasoning|seed:think|mm:think)>|\[\/THINK\]|◁\/think▷)[ \t]*(?:\r?\n|$)/;
/** OpenAI's harmony format (https://developers.openai.com/cookbook/articles/openai-harmony). */
const HARMONY = /^\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>/;
/** The same without its tokens, as decoders that skip special tokens leave it. */
const BARE_HARMONY = /^analysis(?=[A-Z"'])/;
const BARE_FINAL = "assistantfinal";
/** Tokens that end a turn, or begin the next one. A text about them has them in code. */
const END_TOKEN =
  /<[|｜](?:[a-z_▁]{0,16}(?:end|eo[tsmd])[a-z_▁]{0,16}|im_start|begin_of_text|begin▁of▁sentence|start_of_turn_token|start_header_id|return|start|user|assistant|system|observation|call)[|｜]>|<\/s>|<\/answer>|<(?:end|start)_of_turn>|<turn\|>|<eos>|\[\/?INST\]|\[e~\[/gi;
const LONGEST_END_TOKEN = 40;
/** Around the text after a thought, where a model was taught so. */
const ANSWER = "<answer>";

/** @param raw the whole text of a reply */
export function splitText(raw: string): SplitText {
  if (HARMONY.test(raw)) return fromHarmony(raw);
  const final = BARE_HARMONY.test(raw) ? raw.indexOf(BARE_FINAL) : -1;
  if (final >= 0) {
    const begin = final + BARE_FINAL.length;
    return { text: upToEnd(raw.slice(begin)), thoughts: raw.slice(0, begin) };
  }
  let at = 0;
  for (;;) {
    const end = endOfThoughts(raw, at);
    if (end === undefined) break;
    at = end;
  }
  if (at === 0) {
    const closed = CLOSED_ALONE.exec(raw);
    if (closed && !hasOddTicks(raw.slice(0, closed.index))) at = closed.index + closed[0].length;
  }
  if (at === 0) return { text: upToEnd(raw), thoughts: "" };
  const begin = raw.slice(at).trimStart().startsWith(ANSWER) ? raw.indexOf(ANSWER, at) + ANSWER.length : at;
  const text = upToEnd(raw.slice(begin));
  return { text: text.trimStart(), thoughts: raw.slice(0, at), asCame: raw.slice(0, at) + text };
}

/** @returns the place behind a thought that begins at `from`; undefined when none does */
function endOfThoughts(raw: string, from: number): number | undefined {
  const begin = behindBlanks(raw, from);
  const tags = THOUGHTS.find(([open]) => raw.startsWith(open, begin));
  if (!tags) return undefined;
  const [open, close] = tags;
  const end = placeOf(close, raw, begin + open.length);
  if (end >= 0) return end + close.length;
  // A sentence about the tag goes on after a blank. A thought that was cut off has no end.
  return /^[ \t]\S/.test(raw.slice(begin + open.length, begin + open.length + 2)) ? undefined : raw.length;
}

function behindBlanks(text: string, from: number): number {
  const blanks = /\s*/y;
  blanks.lastIndex = from;
  blanks.test(text);
  return blanks.lastIndex;
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
  if (final.length > 0)
    return {
      text: final
        .map((text) => upToEnd(text))
        .join("\n")
        .trim(),
      thoughts: raw,
    };
  // A call to a tool is left in the text, where it is noticed.
  const call = /<\|channel\|>\s*commentary[^<]*\bto=/.test(raw);
  return { text: call ? raw : "", thoughts: raw };
}

/** @param isInCode the text before it ends within code */
function upToEnd(text: string, isInCode = false): string {
  const opens = { "</s>": text.indexOf("<s>"), "</answer>": text.indexOf(ANSWER) };
  let [inCode, counted] = [isInCode, 0];
  for (const token of text.matchAll(END_TOKEN)) {
    inCode = inCode !== hasOddTicks(text.slice(counted, token.index));
    counted = token.index;
    if (inCode) continue;
    // `<s>struck out</s>` is Markdown's HTML.
    const open = opens[token[0] as keyof typeof opens] ?? -1;
    if (open >= 0 && open < token.index) continue;
    return text.slice(0, token.index).trimEnd();
  }
  return text;
}

/** Fences have three backticks, so an odd number of them begins or ends code. */
function hasOddTicks(text: string): boolean {
  let count = 0;
  for (let at = text.indexOf("`"); at >= 0; at = text.indexOf("`", at + 1)) count += 1;
  return count % 2 === 1;
}

/**
 * The text of a streamed reply, as far as it can be shown: its beginning is held until it is clear that it is no thought, and its end
 * as long as a token may begin there.
 */
export class ShownText {
  // Only appended to until the end: to look into it would copy all of it for each piece.
  #raw = "";
  #shown = "";
  /** What came and is neither shown nor a thought. */
  #held = "";
  #state: "begins" | "text" | "ends" = "begins";
  /** The closing tag of the thought that has begun. */
  #close: string | undefined;
  #hasThoughts = false;
  /** What was shown ends within code. */
  #isInCode = false;

  get raw(): string {
    return this.#raw;
  }

  /** @returns the text that can be shown now */
  add(piece: string): string {
    this.#raw += piece;
    if (this.#state === "ends") return "";
    this.#held += piece;
    if (this.#state === "begins") this.#begin();
    if (this.#state !== "text") return "";
    const token = /[<[][^<[>\]\n]*$/.exec(this.#held.slice(-LONGEST_END_TOKEN))?.[0] ?? "";
    const ready = this.#held.slice(0, this.#held.length - token.length);
    const next = upToEnd(ready, this.#isInCode);
    if (next.length < ready.length) this.#state = "ends";
    this.#held = token;
    this.#isInCode = this.#isInCode !== hasOddTicks(next);
    this.#shown += next;
    return next;
  }

  #begin(): void {
    for (;;) {
      if (this.#close !== undefined && !this.#closes(this.#close)) return;
      const at = this.#held.search(/\S/);
      if (at < 0) {
        // Blanks before the first word are shown only where the text begins with them.
        if (this.#hasThoughts) this.#held = "";
        else if (this.#held.length > BLANKS_MAX) this.#state = "text";
        return;
      }
      const begin = this.#held.slice(at, at + LONGEST_TAG);
      const tags = THOUGHTS.find(([open]) => begin.startsWith(open));
      if (!tags) {
        this.#beginText(begin, at);
        return;
      }
      this.#close = tags[1];
      this.#held = this.#held.slice(at + tags[0].length);
    }
  }

  /** @returns whether the thought ends in what is held, which then begins behind it */
  #closes(close: string): boolean {
    const at = placeOf(close, this.#held, 0);
    // Its end may be cut; the character before it tells whether it stands in code.
    this.#held = at < 0 ? this.#held.slice(-close.length) : this.#held.slice(at + close.length);
    if (at < 0) return false;
    this.#close = undefined;
    this.#hasThoughts = true;
    return true;
  }

  #beginText(begin: string, at: number): void {
    if (isUnclear(begin, this.#hasThoughts)) return;
    if (this.#hasThoughts) this.#held = this.#held.slice(at + (begin.startsWith(ANSWER) ? ANSWER.length : 0));
    this.#state = HARMONY.test(begin) || begin.startsWith("analysis") ? "ends" : "text";
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
